//! Heads as attackers write them, whole and in every split.

use super::{Ambiguous, Heads};

const GOOD: &str = "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n";

fn post(lines: &str, body: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\nHost: x\r\n{lines}\r\n{body}")
}

/// Whether all is taken, also byte by byte.
#[track_caller]
fn check(text: &str, is_good: bool) {
    let mut heads = Heads::new(8192);
    assert_eq!(heads.take(text.as_bytes()).is_ok(), is_good, "{text:?}");
    let mut heads = Heads::new(8192);
    let is_taken = text.as_bytes().iter().all(|byte| heads.take(&[*byte]).is_ok());
    assert_eq!(is_taken, is_good, "byte by byte: {text:?}");
}

#[test]
fn t17_heads_that_can_be_read_in_two_ways_are_refused() {
    check(GOOD, true);
    check(&post("Content-Length: 5\r\n", "hello"), true);
    check(&post("content-length:\t5 \r\n", "hello"), true);
    check(&post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), true);
    check(&format!("\r\n{GOOD}"), true);
    let bad = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length:\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length : 5\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "X: a\r\n b\r\n",
        "X: a\r\n\tContent-Length: 5\r\n",
        "Host: y\r\n",
        "no colon\r\n",
        "X: a\nContent-Length: 5\r\n",
        "X: a\rContent-Length: 5\r\n",
    ];
    for lines in bad {
        check(&post(lines, "hello"), false);
    }
    check("GET /mcp HTTP/1.1\nHost: x\n\n", false);
}

#[test]
fn the_next_head_is_found_behind_a_body() {
    let bad = post("Content-Length: 1\r\nContent-Length: 1\r\n", "a");
    let first = format!("{}{GOOD}", post("Content-Length: 5\r\n", "hello"));
    let mut heads = Heads::new(8192);
    assert_eq!(heads.take(format!("{first}{bad}").as_bytes()), Err(Ambiguous { before: first.len() }));
    // A body may look like anything.
    check(&post(&format!("Content-Length: {}\r\n", bad.len()), &bad), true);
    // Nothing behind a body whose length is not known beforehand is a request of ours.
    check(&format!("{}{bad}", post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n")), true);
}

#[test]
fn a_head_without_end_is_kept_within_its_bound() {
    let mut heads = Heads::new(1000);
    for _ in 0..10_000 {
        assert_eq!(heads.take(b"GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), Ok(()));
    }
    assert!(matches!(heads.state, super::State::Last));
}
