use super::*;

/// What `check` says about one file, one line per finding.
pub(super) fn said(check: fn(&House) -> Vec<Finding>, path: &str, text: &str) -> Vec<String> {
    check(&House::of(path, text)).iter().map(Finding::to_string).collect()
}

#[test]
fn the_house_is_tidy() {
    let findings = look(shell::root()).unwrap();
    let fails: Vec<_> = findings.iter().filter(|finding| finding.weight == Weight::Fail).collect();
    let lines: Vec<_> = fails.iter().map(|finding| format!("\n  {finding}")).collect();
    assert!(lines.is_empty(), "{} to fix of `cargo xtask tidy`:{}", lines.len(), lines.concat());
}
