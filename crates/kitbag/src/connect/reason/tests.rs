use std::collections::BTreeSet;
use std::io;

use kitbag_core::Secret;

use super::*;

#[test]
fn one_line_with_class_root_and_address() {
    let reason = Reason::new(ReasonClass::ConnectionRefused, "nobody listens").at("http://h/mcp");
    assert_eq!(reason.to_string(), "connection: nobody listens at http://h/mcp");
    // The first address is the one it happened at.
    let reason = reason.at("http://other/").of_failed("tools cannot be listed");
    assert_eq!(reason.to_string(), "tools cannot be listed: nobody listens at http://h/mcp");
    assert_eq!(Reason::stopped("restarted").to_string(), "stopped: restarted");
}

#[test]
fn every_class_has_a_word_of_its_own() {
    let words: BTreeSet<_> = ReasonClass::ALL.iter().map(|class| class.as_str()).collect();
    assert_eq!(words.len(), ReasonClass::ALL.len());
    let is_plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    assert!(words.into_iter().all(is_plain));
    assert!(ReasonClass::ALL.iter().all(|class| !class.words().is_empty()));
}

#[test]
fn f28_a_reason_has_sources_and_no_secrets_in_any_of_them() {
    let inner = io::Error::other("dial hunter22hunter22 failed");
    let outer = io::Error::other(inner);
    let reason = Reason::new(ReasonClass::Unreachable, "hunter22hunter22 is away")
        .at("http://h/hunter22hunter22")
        .hint("ask hunter22hunter22")
        .caused_by(&outer)
        .cleaned(&Redactor::new([&Secret::new("hunter22hunter22")]));
    let source = reason.source().unwrap();
    assert!(source.to_string().contains("dial"), "{source}");
    assert_eq!(reason.class, ReasonClass::Unreachable);
    assert!(!format!("{reason:?} {reason} {source}").contains("hunter22"), "{reason:?}");
}
