use std::collections::BTreeSet;

use super::{all_codes, code_page};
use crate::{ErrorKind, FaultKind};

#[test]
fn f55_every_kind_has_a_page_with_a_cause_and_a_fix() {
    let faults = FaultKind::ALL.iter().map(|kind| kind.as_str());
    for code in faults.chain(ErrorKind::ALL.iter().map(|kind| kind.as_str())) {
        let page = code_page(code).unwrap_or_else(|| panic!("{code} has no page"));
        for text in [page.cause, page.fix, page.example] {
            assert!(!text.trim().is_empty(), "{page:?}");
        }
    }
}

#[test]
fn f55_no_code_has_two_pages_and_each_can_be_a_file_name() {
    let codes: BTreeSet<&str> = all_codes().map(|page| page.code).collect();
    assert_eq!(codes.len(), all_codes().count());
    for code in codes {
        assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code}");
    }
}
