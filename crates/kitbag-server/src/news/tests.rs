//! What waits to be told, and how it is written.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Listeners, News};

fn updated(uri: &str) -> News {
    News::Updated(uri.into())
}

fn all(mailbox: &super::Mailbox) -> Vec<News> {
    std::iter::from_fn(|| mailbox.take()).collect()
}

#[test]
fn what_a_client_has_not_read_waits_once_each() {
    let audience = Listeners::default();
    let (first, second) = (audience.open(8), audience.open(8));
    for _ in 0..1_000 {
        audience.tell(&updated("a"));
        audience.tell(&updated("b"));
    }
    assert_eq!(all(&first), [updated("a"), updated("b")]);
    audience.tell(&updated("a"));
    assert_eq!(all(&first), [updated("a")]);
    assert_eq!(all(&second), [updated("a"), updated("b")], "each stream is told itself");
}

#[test]
fn more_news_than_may_wait_become_one() {
    let audience = Listeners::default();
    let mailbox = audience.open(3);
    for number in 0..10_000 {
        audience.tell(&updated(&number.to_string()));
        assert!(super::lock(&mailbox.waiting).len() <= 3);
    }
    assert!(all(&mailbox).contains(&News::Resources), "the client has to look again");
}

#[test]
fn streams_that_ended_are_forgotten() {
    let audience = Listeners::default();
    for _ in 0..100 {
        drop(audience.open(1));
    }
    let _open = audience.open(1);
    assert_eq!(super::lock(&audience.0).len(), 1);
}

#[test]
fn news_as_both_eras_hear_them() {
    let check = |news: News, plain: &str, tagged: &str| {
        let id = RawValue::from_string(r#""seven""#.to_owned()).unwrap();
        assert_eq!(news.plain(), format!(r#"{{"jsonrpc":"2.0","method":{plain}}}"#));
        assert_eq!(news.tagged(&id), format!(r#"{{"jsonrpc":"2.0","method":{tagged}}}"#));
    };
    check(
        News::Tools,
        r#""notifications/tools/list_changed","params":{}"#,
        r#""notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"seven"}}"#,
    );
    check(
        News::Updated(Arc::from("file:///\"x\"")),
        r#""notifications/resources/updated","params":{"uri":"file:///\"x\""}"#,
        r#""notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"seven"},"uri":"file:///\"x\""}"#,
    );
}
