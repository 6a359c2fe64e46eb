//! Lines as they are written, and lines nobody reads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;

use serde_json::Value;

use kitbag_core::text::{looks_secret, redact_log, visible};

use super::{Fields, LINES, Said, Writer, as_json, as_text, is_word};

fn fields() -> Fields {
    let mut fields = Fields { message: "call".to_owned(), ..Fields::default() };
    for (name, value) in [("call", "a-1"), ("tool", "two words"), ("user", "ada"), ("agent", "")] {
        fields.others.push((name, value.into()));
    }
    fields.others.push(("took_ms", 3.into()));
    fields
}

#[test]
fn a_line_is_text_or_json() {
    let text = as_text("info", &fields());
    let (time, rest) = text.split_once(' ').unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    assert_eq!(rest, "info call call=a-1 tool=\"two words\" user=ada agent=\"\" took_ms=3\n");
    let json: Value = serde_json::from_str(&as_json("info", "kitbag::call", fields())).unwrap();
    assert_eq!(json["level"], "info");
    assert_eq!(json["target"], "kitbag::call");
    assert_eq!(json["tool"], "two words");
    assert_eq!(json["took_ms"], 3);
}

#[test]
fn a_reader_that_stopped_holds_up_nobody() {
    static LOST: AtomicU64 = AtomicU64::new(0);
    let (lines, taken) = sync_channel(LINES);
    let writer = Writer { lines, lost: &LOST };
    for n in 0..LINES + 7 {
        writer.take(format!("{n}\n"));
    }
    assert_eq!(LOST.load(Ordering::Relaxed), 7, "counted");
    assert!(matches!(taken.recv(), Ok(Said::Line(line)) if line == "0\n"));
}

#[test]
fn a_plain_word_is_told_as_it_is_only_where_nothing_would_be_masked() {
    let words =
        ["call", "local", "a/b.c", "ghp_0123456789ab", "Bearer", "aB3aB3aB3aB3aB3aB3aB3aB3", "token", "-"];
    for word in words {
        assert!(is_word(word), "{word}");
        assert_eq!(looks_secret(word), visible(&redact_log(word)) != word, "{word}");
    }
    for other in ["token=x", "a b", "user:pass", "\u{202e}a", "x\n"] {
        assert!(!is_word(other), "{other:?}");
    }
}
