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
