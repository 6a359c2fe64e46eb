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
    let whole = "a\n<!-- t -->\nold\n<!-- /t -->\nb\n";
    let made = with_section(whole, "t", "new\n").unwrap();
    assert_eq!(made, "a\n<!-- t -->\nnew\n<!-- /t -->\nb\n");
    assert_eq!(with_section(&made, "t", "new\n").unwrap(), made);
    assert!(with_section(whole, "other", "new\n").is_err());
}
