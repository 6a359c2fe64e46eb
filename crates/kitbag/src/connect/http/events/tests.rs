use std::time::Duration;

use super::{Event, Events, TooLong};

fn read(events: &mut Events, mut bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(event) = events.take(&mut bytes).unwrap() {
        let Event { kind, data } = event;
        found.push(format!("{}:{}", kind.unwrap_or_default(), String::from_utf8(data).unwrap()));
    }
    found
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(read(&mut Events::new(1000), text.as_bytes()), expected, "at once: {text:?}");
    let mut events = Events::new(1000);
    let bit_by_bit: Vec<String> = text.bytes().flat_map(|byte| read(&mut events, &[byte])).collect();
    assert_eq!(bit_by_bit, expected, "byte by byte: {text:?}");
}

#[test]
fn events_in_every_spelling() {
    check("data: a\n\n", &[":a"]);
    check("data:a\r\n\r\ndata: b\r\n\r\n", &[":a", ":b"]);
    check("data: a\r\rdata: b\r\r", &[":a", ":b"]);
    check("\u{feff}data: a\n\n", &[":a"]);
    check(": a comment\n\nevent: endpoint\ndata: /post?x=1\n\n", &["endpoint:/post?x=1"]);
    check("data: {\ndata: }\n\n", &[":{\n}"]);
    check("data\n\n", &[":"]);
    check("event: ping\n\ndata: half", &[]);
    check("nonsense: 1\ndata:  two blanks\n\n", &[": two blanks"]);
}

#[test]
fn where_to_go_on_outlives_the_break() {
    let mut events = Events::new(1000);
    assert_eq!(read(&mut events, b"id: 7\nretry: 250\ndata: a\n\nid: 8\ndata: ha"), [":a"]);
    // The second was not whole, so it has to come again.
    events.restart();
    assert_eq!((events.last_id(), events.retry()), (Some("7"), Some(Duration::from_millis(250))));
    assert_eq!(read(&mut events, b"data: whole\n\nid: a\x00b\nretry: soon\n\n"), [":whole"]);
    assert_eq!((events.last_id(), events.retry()), (Some("7"), Some(Duration::from_millis(250))));
    // One without data moves it on, too.
    let long = format!("id: {}\n\n", "9".repeat(1025));
    assert!(read(&mut events, long.as_bytes()).is_empty());
    assert_eq!(events.last_id(), Some("7"), "too long for a header of ours");
    assert!(read(&mut events, b"id: 9\n\n").is_empty());
    assert_eq!(events.last_id(), Some("9"));
}

#[test]
fn an_event_has_a_bound() {
    let mut events = Events::new(100);
    let endless = [b"data: ".as_slice(), &[b'x'; 400]].concat();
    assert!(matches!(events.take(&mut endless.as_slice()), Err(TooLong(406))));
    let mut events = Events::new(100);
    let lines = b"data: xxxxxxxxxxxxxxxxxxxx\n".repeat(20);
    assert!(matches!(events.take(&mut lines.as_slice()), Err(TooLong(_))));
    assert_eq!(read(&mut Events::new(100), &b"data: ok\n\n".repeat(50)).len(), 50);
}
