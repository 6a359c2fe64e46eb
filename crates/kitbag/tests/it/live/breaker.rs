//! A server that stops answering: after some calls the others do not wait for it any more, until it answers again.

use std::time::Duration;

use kitbag::{CallOptions, ErrorKind, Kitbag, Limits, ServerName, ToolCall};
use testkit::in_time;

use super::farm::Opens as _;
use super::{Farm, calm};

const LONG: Duration = Duration::from_secs(30);
const HANG: &str = r#"{"ms":60000}"#;
const HI: &str = r#"{"message":"hi"}"#;

fn limits() -> Limits {
    let mut limits = calm();
    limits.breaker_failures = 3;
    limits.breaker_open = Duration::from_secs(600);
    limits
}

/// Calls that the server does not answer within its configured time.
async fn hang(kit: &Kitbag, times: usize) {
    for _ in 0..times {
        let error = kit.call("x/sleep", HANG).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    }
}

#[tokio::test]
async fn s3_20_calls_to_a_server_that_stopped_answering_fail_at_once_until_it_is_asked_for_anew() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.settings("[servers.x]\ntimeout = '100ms'\n");
    let kit = farm.open(limits()).await;
    hang(&kit, 2).await;
    kit.call("x/echo", HI).await.unwrap();
    // An answer between makes it begin anew.
    hang(&kit, 3).await;
    let before = farm.count("x", "call");
    let error = kit.call("x/echo", HI).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("did not answer the last 3 calls"), "{error}");
    assert_eq!(farm.count("x", "call"), before, "nothing was sent");
    let status = |kit: &Kitbag, name: &str| {
        let rows = kit.status();
        let row = rows.into_iter().find(|row| row.name == name).unwrap();
        row.status.calls_refused_until
    };
    assert!(status(&kit, "x").is_some() && status(&kit, "y").is_none());
    kit.call("y/echo", HI).await.unwrap();
    kit.restart(&ServerName::parse("x").unwrap()).await.unwrap();
    kit.call("x/echo", HI).await.unwrap();
    assert!(status(&kit, "x").is_none());
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_20_after_a_while_one_call_is_let_through() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\ntimeout = '200ms'\n");
    let mut limits = limits();
    limits.breaker_open = Duration::from_millis(300);
    let kit = farm.open(limits).await;
    hang(&kit, 3).await;
    kit.call("x/echo", HI).await.unwrap_err();
    let before = farm.count("x", "call");
    // Whoever comes first is let through, and hangs; the others do not.
    let kinds = in_time(async {
        loop {
            let calls: Vec<_> = (0..20).map(|_| ToolCall::new("x/sleep", HANG)).collect();
            let ends = kit.call_all(&kit.own_view(), calls).await;
            let kinds: Vec<ErrorKind> = ends.into_iter().map(|end| end.unwrap_err().kind).collect();
            if kinds.contains(&ErrorKind::OutcomeUnknown) {
                return kinds;
            }
        }
    })
    .await;
    assert_eq!(kinds.iter().filter(|kind| **kind == ErrorKind::Unavailable).count(), 19);
    assert_eq!(farm.count("x", "call"), before + 1);
    let closed = async {
        while kit.call("x/echo", HI).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    in_time(closed).await;
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_20_t34_nobody_suffers_from_anothers_calls() {
    let farm = Farm::of("x", &[]);
    farm.add("own", &[]);
    farm.settings("[users.ada]\n[users.bob]\n[servers.own]\nper_user = true\ntimeout = '100ms'\n");
    let open =
        |who: &str| Kitbag::start(farm.setup().for_user(super::super::user(who)), farm.options(limits()));
    let (ada, bob) = (open("ada"), open("bob"));
    ada.wait(LONG).await;
    bob.wait(LONG).await;
    for _ in 0..3 {
        ada.call("own/sleep", HANG).await.unwrap_err();
    }
    assert_eq!(ada.call("own/echo", HI).await.unwrap_err().kind, ErrorKind::Unavailable);
    bob.call("own/echo", HI).await.unwrap();
    // On a server that both share, whoever waits for less than it is given does not speak for others.
    let brief = CallOptions { timeout: Some(Duration::from_millis(20)), ..CallOptions::default() };
    for _ in 0..5 {
        let call = ToolCall::new("x/sleep", HANG).with(brief.clone());
        ada.call_tool(&ada.own_view(), call).await.unwrap_err();
    }
    bob.call("x/echo", HI).await.unwrap();
    ada.close().await;
    farm.close(bob).await;
}
