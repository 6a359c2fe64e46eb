use std::collections::BTreeSet;

use super::ALL;

#[test]
fn f38_no_two_dialects_are_known_by_equally_telling_signs() {
    let ranks: Vec<u8> = ALL.iter().filter_map(|dialect| dialect.sign).map(|(rank, _)| rank).collect();
    assert_eq!(ranks.iter().collect::<BTreeSet<_>>().len(), ranks.len(), "{ranks:?}");
    assert!(ALL[0].is_fallback() && ALL[0].sign.is_none());
}
