//! Where values stand in the text of a file.

use super::place::{Step, find};

#[test]
fn a_value_is_found_by_its_keys_and_places() {
    let text = r#" {"a": [1, {"b": "x\"]}"}, -2.5e3 ], "a\u0062" : true, "a": [ [], {} , null]}"#;
    let at = |steps: &[Step<'_>]| find(text, steps).map(|range| &text[range]);
    assert_eq!(at(&[Step::Key("a"), Step::Place(2)]), Some("null"), "the last of two equal keys counts");
    assert_eq!(at(&[Step::Key("ab")]), Some("true"));
    assert_eq!(at(&[Step::Key("a"), Step::Place(1)]), Some("{}"));
    assert_eq!(at(&[Step::Key("a"), Step::Place(3)]), None);
    assert_eq!(at(&[Step::Key("b")]), None);
    let text = r#"[1, {"b": "x\"]}"}, -2.5e3 ]"#;
    let at = |steps: &[Step<'_>]| find(text, steps).map(|range| &text[range]);
    assert_eq!(at(&[Step::Place(1), Step::Key("b")]), Some(r#""x\"]}""#));
    assert_eq!(at(&[Step::Place(2)]), Some("-2.5e3"));
}
