use kitbag::ErrorKind;
use kitbag_core::model::EXIT_CODES;

use super::{Exit, Failure};

#[test]
fn f79_exit_codes_are_those_of_the_table() {
    let ours = Exit::ALL.map(|exit| exit as u8);
    let table: Vec<u8> = EXIT_CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(ours.as_slice(), table);
    for kind in ErrorKind::ALL {
        assert_eq!(Exit::from(*kind) as u8, kind.exit_code(), "{kind:?}");
    }
}

#[test]
fn f55_every_failure_has_a_code_with_a_page() {
    for exit in Exit::ALL {
        let code = Failure::new(exit, "").code();
        assert!(kitbag_core::codes::code_page(code).is_some(), "{exit:?}: {code}");
    }
    for kind in ErrorKind::ALL {
        assert_eq!(Failure::new(Exit::from(*kind), "").of_kind(*kind).code(), kind.as_str());
    }
}

#[test]
fn f55_every_reason_has_a_page() {
    for class in kitbag::connect::ReasonClass::ALL {
        assert!(kitbag_core::codes::code_page(class.as_str()).is_some(), "{class:?}");
    }
}
