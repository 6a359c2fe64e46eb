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
        "cause": "A comma.", "fix": "Fix it.", "example": "error[syntax]: x"}]}"#;
    let pages = errors::pages(printed).unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["syntax.md", "README.md"]);
    for part in ["Broken.", "A comma.", "Fix it.", "error[syntax]: x"] {
        assert!(pages[0].1.contains(part), "{}", pages[0].1);
    }
    assert!(pages[1].1.contains("[`syntax`](syntax.md) | Broken. |"), "{}", pages[1].1);
    assert!(errors::pages(r#"{"codes": [{"code": "x", "meanings": []}]}"#).is_err());
}

#[test]
fn f64_a_key_without_a_line_fails_the_docs() {
    let schema = |what: &str| {
        format!(
            r#"{{"properties": {{"servers": {{"description": "single servers", "additionalProperties": {{"properties":
            {{"mode": {{"enum": ["a", "b"], "description": "{what}"}}}}}}}}}}}}"#
        )
    };
    let table = config::settings(&schema("how | why")).unwrap();
    assert!(table.starts_with("### `[servers.<name>]`\n\nSingle servers.\n\n"), "{table}");
    assert!(table.contains("| `mode` | `a`, `b` | how \\| why |\n"), "{table}");
    let error = config::settings(&schema("")).unwrap_err().to_string();
    assert_eq!(error, "servers.<name>.mode has no line that says what it does");
    let keys = |what: &str| {
        format!(
            r#"{{"entry": [{{"key": "url", "also": ["uri"], "value": "string", "what": "{what}"}}], "kept": ["oauth"]}}"#
        )
    };
    let table = config::entries(&keys("the address")).unwrap();
    assert!(
        table.contains("| `url` | string | the address | `uri` |\n")
            && table.contains("without effect: `oauth`."),
        "{table}"
    );
    assert!(config::entries(&keys("")).is_err());
    let rows = |what: &str| format!(r#"[{{"name": "line", "bytes": 16777216, "what": "{what}"}}]"#);
    assert!(config::limits(&rows("one line")).unwrap().ends_with("| `line` | 16 MiB | one line |\n"));
    assert!(config::limits(&rows("")).is_err());
}
