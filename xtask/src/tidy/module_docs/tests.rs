use crate::tidy::tests::said;

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|place| format!("{place}: begin the file with `//!` and say why the module exists"))
        .collect();
    assert_eq!(said(super::check, path, text), expected, "{text:?}");
}

#[test]
fn a_module_begins_with_its_reason() {
    check("a.rs", "\n//! Why.\n", &[]);
    check("a.rs", "//!\n", &["a.rs:1"]);
    check("a.rs", "\nuse b;\n//! Late.\n", &["a.rs:2"]);
    check("a.rs", "// Why.\n", &["a.rs:1"]);
    check("a.rs", "", &["a.rs:1"]);
    check("a/tests.rs", "use b;\n", &[]);
    check("tests/it/main.rs", "use b;\n", &[]);
}
