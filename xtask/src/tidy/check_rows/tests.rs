use super::{PAGE, check, is_proof};
use crate::files::File;
use crate::tidy::{Finding, House};

const HEAD: &str = "# Checks\n\n| Number | Sentence | Tests | Open |\n|---|---|---|---|\n";

/// A page of these rows beside one file of tests.
fn said(rows: &str, tests: &str) -> Vec<String> {
    let page = File { path: PAGE.into(), text: format!("{HEAD}{rows}") };
    let code = File { path: "a/tests.rs".into(), text: tests.into() };
    check(&House::new(vec![page, code])).iter().map(Finding::to_string).collect()
}

#[test]
fn a_page_that_agrees_is_silent() {
    let rows = "| S2.13 | One \\| two. | `s2_13_a`, `s2_13_b` `other` | |\n| T32 | Three. | — | needs the endpoint |\n";
    let tests = "#[test]\nfn s2_13_a() {}\nfn s2_13_b() {}\nasync fn other() {}\n// fn s9_9_x() {}\n";
    assert!(said(rows, tests).is_empty(), "{:?}", said(rows, tests));
}

#[test]
fn a_named_test_must_exist() {
    let found = said("| S2.13 | One. | `s2_13_a` | |\n", "// fn s2_13_a()\nfn s2_13() {}");
    assert_eq!(found, ["docs/checks.md:5: row S2.13 names test `s2_13_a`, which does not exist"]);
}

#[test]
fn a_numbered_test_must_be_named() {
    let found = said("", "\nfn s2_13_a() {}\nfn t32_b() {}\nfn s2_other() {}");
    let in_no_row = "is in no row of docs/checks.md";
    assert_eq!(
        found,
        [
            format!("a/tests.rs:2: test `s2_13_a` {in_no_row}"),
            format!("a/tests.rs:3: test `t32_b` {in_no_row}")
        ]
    );
}

#[test]
fn a_row_without_tests_says_why() {
    let found = said("| S2.13 | One. | | — |\n", "");
    assert_eq!(found, ["docs/checks.md:5: row S2.13 has no test and does not say why under `open`"]);
}

#[test]
fn a_row_that_is_not_understood_is_named() {
    assert_eq!(said("| S2.13 | One. | `a` |\n", "fn a() {}"), ["docs/checks.md:5: 3 cells instead of 4"]);
    assert_eq!(
        said("| S2.13 | One. | a | |\n", "fn a() {}"),
        ["docs/checks.md:5: tests are names in backticks, not `a`"]
    );
    assert_eq!(
        said("\n| Check | Tests |\n|---|---|\n", ""),
        ["docs/checks.md:6: the columns are number, sentence, tests, open"]
    );
}

#[test]
fn numbered_names() {
    for (name, expected) in [
        ("s2_13_add_refuses", true),
        ("t32_x", true),
        ("s2_13", false),
        ("s2_x_y", false),
        ("s12_3_x", false),
        ("t_x", false),
        ("sé_1_x", false),
        ("tests_x", false),
        ("server_names", false),
    ] {
        assert_eq!(is_proof(name), expected, "{name}");
    }
}
