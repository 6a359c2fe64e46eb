use std::hash::Hash;

use kitbag_core::model::AgentRules;

use super::Key;

/// What prints is chosen for people: two things that print alike may still be different.
#[test]
fn f38_links_and_views_are_kept_by_derived_keys() {
    fn is_key<T: Hash + Eq>() {}
    is_key::<Key>();
    is_key::<AgentRules>();
}
