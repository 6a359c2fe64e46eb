use super::*;
use crate::files::File;

const KEYS: &str = r#"{"properties": {
    "a": {"properties": {"b": {"type": "string", "description": "b"}}},
    "n": {"additionalProperties": {"properties": {"c": {"description": "c (not supported yet)"}}}},
    "limits": {"properties": {"x": {}, "y": {}}}}}"#;

#[track_caller]
fn check_page(page: &str, wanted: &[&str]) {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let house =
        House::new(vec![file(SCHEMA, KEYS), file(PAGE, page), file("crates/x/src/a.rs", "fn shows() {}\n")]);
    let found: Vec<String> = check(&house).into_iter().map(|finding| finding.text).collect();
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.contains(wanted), "{found}: no {wanted}");
    }
}

#[test]
fn f2_every_key_of_the_schema_has_a_row_with_a_test() {
    let good = "| `a.b` | b | `shows` |\n| `n.*.c` | c (not supported yet) | `shows` |\n| `limits` | all | `shows` |\n";
    check_page(good, &[]);
    check_page(&good.replace("| `a.b` | b | `shows` |\n", ""), &["`a.b` has no row"]);
    check_page(&good.replace("| b | `shows` |", "| b | |"), &["`a.b` has no test"]);
    check_page(&good.replace("`shows` |\n| `n", "`hides` |\n| `n"), &["`hides` does not exist"]);
    check_page(&good.replace(" (not supported yet)", ""), &["page and schema differ"]);
    check_page(&format!("{good}| `z` | z | `shows` |\n"), &["`z` is no key"]);
}
