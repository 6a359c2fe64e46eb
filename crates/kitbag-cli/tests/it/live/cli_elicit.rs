//! f65: what a server asks for in the middle of `kitbag call`, answered at the terminal, in both eras of the protocol.

use serde_json::{Value, json};

use super::Farm;
use crate::house::{Ran, Runs as _};
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

#[test]
fn f65_fields_are_asked_one_by_one_until_they_fit() {
    for era in ["legacy", "modern"] {
        let steps =
            [Step::Shown("Nights (whole number, required): ", "many"), Step::Shown("not a number", "")];
        // What does not fit is asked again; an empty line for what is required ends it.
        asked(era, &["what=fields"], &steps, &json!({"action": "decline"}));
        let steps = [
            Step::Shown("Nights (whole number, required): ", "0"),
            Step::Shown("Nights (whole number, required): ", "3"),
            Step::Shown("room (1-2, default Single): ", "2"),
            Step::Shown("late (y/n, optional): ", "y"),
            Step::Shown("note (text, optional): ", ""),
        ];
        let content = json!({"nights": 3, "room": "d", "late": true});
        let ran = asked(era, &["what=fields"], &steps, &json!({"action": "accept", "content": content}));
        for word in ["x asks: Your trip?", "How long you stay", "  1) Single", "  2) Double"] {
            assert!(ran.out.contains(word), "no {word:?} in {}", ran.out);
        }
    }
}

/// An address is shown, and never opened by us.
#[test]
fn f65_an_address_is_shown_and_only_a_yes_says_that_it_was_done() {
    for era in ["legacy", "modern"] {
        for (typed, action) in [("y", "accept"), ("", "decline"), ("no", "decline")] {
            let ran = asked(era, &["what=url"], &[Step::Shown("[y/N]", typed)], &json!({"action": action}));
            assert!(ran.out.contains("http://127.0.0.1:9/fake-mcp"), "{ran:?}");
        }
    }
}

#[test]
fn f65_without_a_terminal_a_question_is_declined_at_once_and_said_so() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let ran = farm.house.run(&["call", "x/ask"]).exits(0);
        assert_eq!(answer(&ran, era), json!({"action": "decline"}), "{era}");
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.starts_with("x asks for input, which is declined"), "{}", ran.err);
        // Whoever wants results only, or JSON, is not asked either.
        for flag in ["--json", "--quiet"] {
            let ran = pty::run(&farm.house, 100, &["call", "x/ask", flag], &[]).exits(0);
            assert!(ran.out.contains("decline") && !ran.out.contains("x asks: "), "{flag}: {ran:?}");
        }
        farm.is_empty();
    }
}

/// A server that goes on asking fills no terminal.
#[test]
fn f65_that_nobody_can_be_asked_is_said_once_a_call() {
    let farm = Farm::of("x", &["--fault", "s27:form", "--era", "legacy"]);
    farm.settings("[limits]\nwait_total = '1s'\n");
    let ran = farm.house.run(&["call", "x/echo", "message=hi"]).exits(9);
    assert!(10 < farm.count("x", "asked"), "{ran:?}");
    assert_eq!(ran.err.matches("asks for input").count(), 1, "{}", ran.err);
}

#[test]
fn f65_an_open_question_ends_with_its_call_and_by_a_second_interrupt() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    farm.settings("[limits]\nwait_total = '2s'\n");
    let ran = pty::run(&farm.house, 100, &["call", "x/ask"], &[]);
    assert!(ran.out.contains("name (text, required): "), "{ran:?}");
    assert_eq!(ran.code, Some(9), "{ran:?}");
    farm.is_empty();
    // The first interrupt cancels a question; whoever has to say it twice wants to leave.
    let farm = Farm::of("x", &["--fault", "s27:form", "--era", "legacy"]);
    let interrupt = || Step::Key("name (text, required): ", '\u{3}');
    let ran = pty::run(&farm.house, 100, &["call", "x/echo", "message=hi"], &[interrupt(), interrupt()]);
    assert_eq!((farm.count("x", "asked"), ran.code), (2, Some(130)), "{ran:?}");
    farm.is_empty();
}

#[test]
fn f65_sampling_is_refused_with_a_reason_and_not_offered() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let ran = farm.house.run(&["call", "x/ask", "what=sampling", "--trace"]).exits(0);
    assert!(ran.out.contains("sampling is not offered: no model is configured"), "{}", ran.out);
    let hello = ran.err.lines().find(|line| line.contains("\"initialize\"")).unwrap();
    assert!(hello.contains("\"elicitation\"") && !hello.contains("\"sampling\""), "{hello}");
    farm.is_empty();
    let farm = Farm::of("x", &["--era", "modern"]);
    let ran = farm.house.run(&["call", "x/ask", "what=sampling"]).exits(0);
    assert!(ran.out.contains("does not offer sampling"), "{}", ran.out);
}
