use super::*;

#[test]
fn f63_private_vocabulary_is_refused() {
    let house = House::of("crates/x/src/a.rs", "/// Show how every server is\n/// Show the state\n");
    let findings = check(&house);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].line == 1 && findings[0].text.contains("the state of every server"), "{findings:?}");
    assert!(check(&House::of("CHANGELOG.md", "how every server is")).is_empty());
}
