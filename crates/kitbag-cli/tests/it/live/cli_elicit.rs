//! f65: what a server asks for in the middle of `kitbag call`, answered at the terminal, in both eras of the protocol.

use serde_json::{Value, json};

use super::Farm;
use crate::house::Ran;
use crate::pty::{self, Step};

/// What `x/ask` gives back: the answer it was given.
#[track_caller]
fn answer(ran: &Ran, era: &str) -> Value {
    assert!(!ran.err.contains("gave up waiting") && !ran.err.contains("never asked"), "{ran:?}");
    let line = ran.out.lines().rev().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{ran:?}"));
    let answer: Value = serde_json::from_str(line).unwrap();
    // The newer protocol has the answers to several questions in one object.
    if era == "modern" { answer["question"].clone() } else { answer }
}

#[track_caller]
fn asked(era: &str, args: &[&str], steps: &[Step<'_>], expected: &Value) -> Ran {
    let farm = Farm::of("x", &["--era", era]);
    let ran = pty::run(&farm.house, 100, &[&["call", "x/ask"], args].concat(), steps);
    assert_eq!((&answer(&ran, era), ran.code), (expected, Some(0)), "{era}: {ran:?}");
    farm.is_empty();
    ran
}

#[test]
fn f65_a_form_is_filled_in_at_the_terminal_in_both_eras() {
    for era in ["legacy", "modern"] {
        let expected = json!({"action": "accept", "content": {"name": "Ada"}});
        let ran = asked(era, &[], &[Step::Shown("name (text, required): ", "Ada")], &expected);
        assert!(ran.out.contains("x asks: Your name?"), "{ran:?}");
    }
}

#[test]
fn f65_an_empty_line_for_what_is_required_declines_and_an_interrupt_cancels() {
    for era in ["legacy", "modern"] {
        asked(era, &[], &[Step::Shown("name (text, required): ", "")], &json!({"action": "decline"}));
        let key = Step::Key("name (text, required): ", '\u{3}');
        asked(era, &[], &[key], &json!({"action": "cancel"}));
    }
}
