use crate::tidy::tests::said;

#[track_caller]
fn check(path: &str, lines: usize, expected: &[&str]) {
    assert_eq!(said(super::check, path, &"x\n".repeat(lines)), expected, "{path} {lines}");
}

#[test]
fn long_files_are_noted_then_refused() {
    check("a.rs", 499, &[]);
    check("a.rs", 500, &["note: a.rs:500: 500 lines: is it still one idea?"]);
    check("a.rs", 800, &["note: a.rs:800: 800 lines: is it still one idea?"]);
    check("a.rs", 801, &["a.rs:801: 801 lines, at most 800: split it"]);
    check("a/tests.rs", 900, &[]);
    check("tests/it/a.rs", 900, &[]);
    check("a.json", 900, &[]);
}
