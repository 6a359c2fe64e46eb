use std::collections::BTreeSet;

use super::*;

#[test]
fn f79_every_kind_has_a_word_a_sentence_and_an_exit_code_that_is_documented() {
    let codes: BTreeSet<u8> = EXIT_CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes.len(), EXIT_CODES.len(), "no code is there twice");
    assert!(EXIT_CODES.is_sorted());
    let words: BTreeSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(words.len(), ErrorKind::ALL.len(), "no word is there twice");
    for kind in ErrorKind::ALL {
        assert!(codes.contains(&kind.exit_code()), "{kind:?}");
        assert_ne!(kind.exit_code(), 0, "{kind:?} is no success");
        let sentence = kind.sentence();
        assert!(sentence.ends_with('.') && sentence.starts_with(char::is_uppercase), "{kind:?}");
    }
}

#[test]
fn f79_exit_codes_are_those_of_the_contract() {
    let code = |kind: ErrorKind| kind.exit_code();
    let of = |wanted: u8| -> Vec<&str> {
        let all = ErrorKind::ALL.iter().filter(|kind| code(**kind) == wanted);
        all.map(|kind| kind.as_str()).collect()
    };
    assert_eq!(of(4), ["unavailable"]);
    assert_eq!(of(5), ["not_found", "ambiguous"]);
    assert_eq!(of(6), ["denied", "approval_denied", "held"]);
    assert_eq!(of(12), ["auth_required"]);
    assert_eq!(of(13), ["too_large", "bad_answer", "server_error"]);
    assert_eq!(of(14), ["rate_limited"]);
    assert_eq!(
        (of(1), of(7), of(8), of(9)),
        (vec!["tool_error"], vec!["invalid_arguments"], vec!["timeout"], vec!["outcome_unknown"])
    );
    assert_eq!((of(70), of(130)), (vec!["internal"], vec!["cancelled"]));
}
