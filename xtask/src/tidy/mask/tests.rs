use super::*;

#[track_caller]
fn check(text: &str, words: &[&str]) {
    let masked = mask(text);
    assert_eq!(masked.split_whitespace().collect::<Vec<_>>(), words, "{text:?}");
    assert_eq!(masked.lines().count(), text.lines().count(), "{text:?}");
}

#[test]
fn comments_and_literals_are_blanked() {
    check("a // b\nc", &["a", "c"]);
    check("a /* b /* c */\n d */ e", &["a", "e"]);
    check(r#"a "b \" // c" d"#, &["a", "d"]);
    check("a \"b\nc\" d", &["a", "d"]);
    check("a r#\"b \" c\"# d", &["a", "d"]);
    check("a br\"b\\\" d", &["a", "d"]);
    check("a r#raw d", &["a", "r#raw", "d"]);
    check("a '\"' b '\\'' c '\u{e9}' d", &["a", "b", "c", "d"]);
    check("f<'a>(x: &'a str)", &["f<'a>(x:", "&'a", "str)"]);
    check("let per = \"x\";", &["let", "per", "=", ";"]);
    check("a// b\nc/* d */e", &["a", "c", "e"]);
    check("f(b'\"', b'\\'') g", &["f(b", ",", "b", ")", "g"]);
    check("a \"no end", &["a"]);
}

#[track_caller]
fn check_without_tests(code: &str, words: &[&str]) {
    assert_eq!(without_tests(code).split_whitespace().collect::<Vec<_>>(), words, "{code:?}");
}

#[test]
fn test_items_are_blanked() {
    check_without_tests("a #[cfg(test)] mod tests; b", &["a", "b"]);
    check_without_tests("a #[cfg(test)]\nmod tests { fn f() { g(); } } b", &["a", "b"]);
    check_without_tests("#[cfg(test)] #[x(y)] fn f(z: [u8; 3]) -> u8 { 1 } b", &["b"]);
    check_without_tests("#[cfg(test)] mod a; b #[cfg(test)] mod c; d", &["b", "d"]);
}
