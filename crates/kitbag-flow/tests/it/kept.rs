//! Loading and saving loses nothing.

use crate::scene::{example, flow, printed};
use kitbag_flow::Drawing;

#[test]
fn s0_27_saving_changes_nothing_but_what_was_edited() {
    for name in ["HelloXircuits", "agent_example", "AgentTemplate"] {
        let drawing = example(name);
        let literal = drawing.literals().into_iter().find(|literal| literal.kind == "string").unwrap();
        let edited = drawing.set_literal(&literal.node, "Hi \"you\"\n").unwrap();
        let (before, after) = (drawing.text(), edited.text());
        let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let old = serde_json::to_string(&literal.text).unwrap();
        let new = serde_json::to_string("Hi \"you\"\n").unwrap();
        let begins = before[..=same]
            .rfind('"')
            .map(|at| before[..at].rfind("\"label\": ").unwrap().max(at.saturating_sub(old.len() + 2)));
        assert!(begins.is_some());
        assert_eq!(before.len() - old.len() + new.len(), after.len(), "{name}");
        assert_eq!(edited.set_literal(&literal.node, &literal.text).unwrap().text(), before, "{name}");
    }
}

#[tokio::test]
async fn s0_27_an_edited_literal_is_what_runs() {
    let drawing = example("HelloXircuits");
    let hello = drawing.literals().into_iter().find(|literal| literal.text == "Hello ").unwrap();
    let edited = drawing.set_literal(&hello.node, "Good day, ").unwrap();
    assert_eq!(printed(&edited, &[]).await, "Good day, Xircuits!\n");
}

#[test]
fn s0_27_ids_positions_and_unknown_keys_survive() {
    let text =
        example("HelloXircuits").text().replacen("\"zoom\"", "\"ours\": {\"a\": [1.0, 1e3]}, \"zoom\"", 1);
    let drawing = Drawing::read("x.xircuits", text.clone()).unwrap();
    flow(&drawing);
    assert_eq!(drawing.text(), text);
    let literal = drawing.literals().remove(0);
    let edited = drawing.set_literal(&literal.node, "other").unwrap();
    assert!(edited.text().contains("\"ours\": {\"a\": [1.0, 1e3]}, \"zoom\""));
    assert!(drawing.set_literal("nosuch", "x").is_err());
}
