use super::*;

#[track_caller]
fn refused(path: &str, line: &str, instead: &str) {
    let findings = check(&House::of(path, &format!("a line\n{line}\n")));
    assert_eq!(findings.len(), 1, "{path}: {line}: {findings:?}");
    assert!(findings[0].line == 2 && findings[0].text.contains(instead), "{findings:?}");
}

#[track_caller]
fn passes(path: &str, line: &str) {
    let findings = check(&House::of(path, line));
    assert!(findings.is_empty(), "{path}: {line}: {findings:?}");
}

#[test]
fn f63_private_vocabulary_is_refused() {
    let source = "crates/x/src/a.rs";
    for (wrong, instead) in [
        ("\"args\" must be a list of texts, found a string", "list of strings"),
        ("\"args\" must be a list of strings, found a text", "found a string"),
        ("nobody reads the key", "unknown key"),
        ("/// Show how every server is", "the state of every server"),
        ("what a server wrote beside the protocol", "stderr log"),
        ("every bound and clock", "limits and timeouts"),
        ("A lost session is got over without a new process", "recovers from"),
        ("Mend the path", "\"fix\""),
        ("is mended", "fixed"),
    ] {
        for path in [source, "README.md", "docs/json.md", "crates/x/tests/it/snapshots/a.snap"] {
            refused(path, wrong, instead);
        }
        passes("CHANGELOG.md", wrong);
    }
    passes(source, "/// Show the state of every server; amend nothing");
}

#[test]
fn f63_riddles_are_refused_where_people_see_them() {
    let (source, help) = ("crates/kitbag/src/a.rs", "crates/kitbag-cli/src/commands/a.rs");
    refused(source, "    \"its content is no list\"", "is not a list");
    refused(help, "    /// Whether it is no list", "is not a list");
    refused("docs/present.md", "A form that is no text", "not a string");
    refused(source, "pub struct Manner;", "CallOptions");
    passes(source, "    // What is no list has no items.");
    passes(help, "    //! What is no list has no items.");
    passes("crates/kitbag/tests/it/a.rs", "\"it is no list\"");
    passes("crates/testkit/src/a.rs", "\"it is no list\"");
}
