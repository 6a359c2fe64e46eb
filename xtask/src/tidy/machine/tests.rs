use super::HOMES;
use crate::tidy::tests::said;

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(said(super::check, path, text), expected, "{path} {text:?}");
}

#[test]
fn machine_paths_are_named() {
    for home in HOMES {
        let finding = |place: &str| format!("{place}: `{home}` is a path of one machine");
        check("README.md", &format!("a\nsee {home}x"), &[&finding("README.md:2")]);
        check("a.rs", &format!("// file://{home}x"), &[&finding("a.rs:1")]);
        check("a.rs", &format!("https://example.com{home}x and ./a{home}x and ${{HOME}}{home}"), &[]);
        check("testdata/config/a.json", home, &[]);
        check("crates/a/testdata/b.json", home, &[]);
    }
}
