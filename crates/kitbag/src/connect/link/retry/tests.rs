use super::super::super::reason::ReasonClass;
use super::*;

/// By class: whether trying again can help.
#[test]
fn f28_what_only_another_configuration_can_mend_is_never_tried_again() {
    let limits = Limits::default();
    for class in ReasonClass::ALL {
        let reason = Reason::new(*class, "why");
        let is_tried = !matches!(class, ReasonClass::Config | ReasonClass::InvalidUrl);
        assert_eq!(retry_after(&reason, 1, &limits).is_some(), is_tried, "{class:?}");
    }
}

#[test]
fn f28_tries_of_a_failed_server_grow_apart_to_their_bound() {
    let limits = Limits::default();
    let reason = Reason::new(ReasonClass::AuthRequired, "answered 401");
    let mut least = limits.retry_failed;
    for round in 1..40 {
        let delay = retry_after(&reason, round, &limits).unwrap();
        // Late by up to a quarter, never early.
        let most = least.mul_f64(1.25).min(limits.retry_failed_most);
        assert!(least <= delay && delay <= most, "{round}: {delay:?}");
        least = (least * 2).min(limits.retry_failed_most);
    }
    assert_eq!(least, limits.retry_failed_most);
}
