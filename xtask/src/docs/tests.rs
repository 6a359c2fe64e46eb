use super::*;

#[test]
fn a_stale_or_missing_page_is_an_error_that_says_what_to_run() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let text = fs::read_to_string(&file).unwrap();
    compare(&file, &text).unwrap();
    for (file, text) in [(file.clone(), "other"), (file.with_extension("missing"), "any")] {
        let error = compare(&file, text).unwrap_err().to_string();
        assert!(error.contains("cargo xtask docs"), "{error}");
    }
}

#[test]
fn a_section_is_replaced_and_nothing_else() {
    let page = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n";
    let fresh = with_section(page, "x", "new\n").unwrap();
    assert_eq!(fresh, "a\n<!-- generated: x -->\nnew\n<!-- end -->\nb\n");
    for (page, name) in [(page, "y"), ("<!-- generated: x -->\nno end", "x")] {
        assert!(with_section(page, name, "").is_err(), "{page}");
    }
}

#[test]
fn f79_the_tables_of_the_docs_name_every_row() {
    let printed = r#"{"kinds": [{"kind": "timeout", "exit": 8, "delivered": "no", "meaning": "Late."}],
        "exit_codes": [{"exit": 0, "meaning": "done"}, {"exit": 8, "meaning": "timeout"}]}"#;
    let table = errors::kinds(printed).unwrap();
    assert!(table.ends_with("| `timeout` | 8 | no | Late. |\n"), "{table}");
    assert_eq!(errors::exit_codes(printed).unwrap(), "0 done · 8 timeout\n");
    assert!(errors::kinds("{}").is_err() && errors::exit_codes("{}").is_err());
}

#[test]
fn f55_every_code_has_a_page_that_the_index_links() {
    let printed = r#"{"codes": [{"code": "syntax", "meanings": [{"of": "fault", "meaning": "Broken."}],
        "cause": "A comma.", "fix": "Mend it.", "example": "error[syntax]: x"}]}"#;
    let pages = errors::pages(printed).unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["syntax.md", "README.md"]);
    for part in ["Broken.", "A comma.", "Mend it.", "error[syntax]: x"] {
        assert!(pages[0].1.contains(part), "{}", pages[0].1);
    }
    assert!(pages[1].1.contains("[`syntax`](syntax.md) | Broken. |"), "{}", pages[1].1);
    assert!(errors::pages(r#"{"codes": [{"code": "x", "meanings": []}]}"#).is_err());
}
