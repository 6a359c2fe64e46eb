use crate::tidy::tests::said;

#[track_caller]
fn check(path: &str, lines: usize, expected: &[&str]) {
    assert_eq!(said(super::check, path, &"x\n".repeat(lines)), expected, "{path} {lines}");
}

#[test]
fn long_files_are_noted_then_refused() {
    check("a.rs", 449, &[]);
    check("a.rs", 450, &["note: a.rs:450: 450 lines: is it still one idea?"]);
    check("a.rs", 500, &["note: a.rs:500: 500 lines: is it still one idea?"]);
    check("a.rs", 501, &["a.rs:501: 501 lines, at most 500: split it"]);
    check("a/tests.rs", 900, &[]);
    check("tests/it/a.rs", 900, &[]);
    check("a.json", 900, &[]);
}
