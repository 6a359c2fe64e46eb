//! Who we are, told to the server at the address and to nobody else.

use kitbag::{CallOptions, ErrorKind, LinkState, Secret, ToolCall};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Hosted, calm, names};

const TOKEN: &str = "canary-token-4f1b";

#[tokio::test]
async fn s3_2_every_request_of_both_transports_carries_the_credentials() {
    let forms = [
        (json!({"auth": {"type": "bearer", "token": TOKEN}}), "authorization=Bearer_canary-token-4f1b"),
        (
            json!({"headers": {"Authorization": format!("Bearer {TOKEN}")}}),
            "authorization=Bearer_canary-token-4f1b",
        ),
        (json!({"headers": {"X-Api-Key": TOKEN}}), "x-api-key=canary-token-4f1b"),
    ];
    for args in [&["--era", "legacy"][..], &["--era", "modern"], &["--era", "legacy", "--sse"]] {
        for (keys, header) in &forms {
            let hosted = Hosted::new();
            let key = header.split('=').next().unwrap();
            let wanted = if key == "authorization" {
                ["--bearer", TOKEN]
            } else {
                ["--header", "X-Api-Key=canary-token-4f1b"]
            };
            hosted.add("x", &[args, &wanted].concat(), keys);
            let kit = hosted.farm.open(calm()).await;
            kit.lives("x").await;
            let definitions = format!("{:?}", kit.on("x").tools());
            let status = format!("{:?}", kit.on("x").status());
            hosted.close(kit).await;
            let requests = hosted.requests("x");
            assert!(4 <= requests.len());
            let without: Vec<_> = requests.iter().filter(|line| !line.contains(header)).collect();
            assert!(without.is_empty(), "{args:?} {header}: {without:#?}");
            for text in [definitions, status, hosted.farm.log("x")] {
                assert!(!text.contains("canary"), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn f35_headers_of_one_call_go_with_that_call_alone() {
    for args in [&["--era", "legacy"][..], &["--era", "modern"], &["--era", "legacy", "--sse"]] {
        let hosted = Hosted::new();
        hosted.add("x", args, &json!({"headers": {"X-Api-Key": "configured"}}));
        let kit = hosted.farm.open(calm()).await;
        let with = |name: &str| {
            let headers = vec![(name.to_owned(), Secret::new("of-this-call"))];
            let options = CallOptions { headers, ..CallOptions::default() };
            ToolCall::new("x/echo", r#"{"message":"hi"}"#).with(options)
        };
        let call = async |name| kit.call_tool(&kit.own_view(), with(name)).await;
        call("X-Api-Key").await.unwrap();
        kit.call("x/echo", r#"{"message":"hi"}"#).await.unwrap();
        for refused in ["Mcp-Session-Id", "Content-Type", "not a name"] {
            assert_eq!(call(refused).await.unwrap_err().kind, ErrorKind::InvalidArguments, "{refused}");
        }
        hosted.close(kit).await;
        let requests = hosted.requests("x");
        let of_call = requests.iter().filter(|line| line.contains("x-api-key=of-this-call")).count();
        let configured = requests.iter().filter(|line| line.contains("x-api-key=configured")).count();
        assert_eq!((of_call, of_call + configured), (1, requests.len()), "{args:?}: {requests:#?}");
    }
}

#[tokio::test]
async fn s3_2_what_belongs_to_the_protocol_cannot_be_configured() {
    let hosted = Hosted::new();
    hosted.add("x", &[], &json!({"headers": {"Mcp-Session-Id": "mine"}}));
    let kit = hosted.farm.open(calm()).await;
    let status = kit.on("x").status();
    assert_eq!(status.state, LinkState::Failed, "{status:?}");
    assert!(status.error.unwrap().to_string().contains("belongs to the protocol"));
    assert!(hosted.requests("x").is_empty());
    hosted.close(kit).await;
}

#[tokio::test]
async fn a_server_that_asks_who_we_are_is_auth_required_with_its_own_words() {
    let hosted = Hosted::new();
    hosted.add("x", &["--bearer", TOKEN], &json!({"headers": {"Authorization": "Bearer wrong-canary-77"}}));
    let kit = hosted.farm.open(calm()).await;
    kit.reaches("x", LinkState::Failed).await;
    let status = kit.on("x").status();
    let error = status.error.as_ref().unwrap().to_string();
    assert!(status.auth_required() && error.starts_with("auth required: answered 401"), "{error}");
    assert!(error.to_lowercase().contains("unauthorized: ") && !error.contains("***"), "{error}");
    assert!(!error.contains("canary"), "{error}");
    let error = kit.ask("x", "add", json!({"a": 1, "b": 1})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::AuthRequired, "{error}");
    hosted.close(kit).await;
    // In the middle of everything: only the call that is refused.
    let hosted = Hosted::of("x", &["--era", "modern", "--fault", "h17:call"]);
    let kit = hosted.farm.open(calm()).await;
    let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::AuthRequired, "{error}");
    assert!(error.message.contains("expired"), "{error}");
    kit.lives("x").await;
    hosted.close(kit).await;
}

#[tokio::test]
async fn s3_16_other_credentials_never_share_a_link() {
    let hosted = Hosted::new();
    let url = hosted.host("x", &["--era", "legacy"]);
    let kits = ["one", "two"].map(|who| {
        hosted.enter("x", &url, &json!({"headers": {"Authorization": format!("Bearer token-of-{who}")}}));
        hosted.farm.start(calm())
    });
    for kit in &kits {
        kit.reaches("x", LinkState::Ready).await;
        kit.ask("x", "add", json!({"a": 1, "b": 1})).await.unwrap();
    }
    let sessions = hosted.farm.count("x", "session");
    assert_eq!(sessions, 2, "each has a session of its own");
    // No session is ever used with the other's token.
    for line in hosted.farm.events("x", "session") {
        let id = line.strip_prefix("session ").unwrap().to_owned();
        let requests = hosted.requests("x");
        let of = |who: &str| {
            let fits = |line: &&String| line.contains(&id) && line.contains(&format!("token-of-{who}"));
            requests.iter().filter(fits).count()
        };
        assert!((of("one") == 0) != (of("two") == 0), "{id}: {requests:#?}");
    }
    for kit in kits {
        kit.close().await;
    }
}

/// A new token is used at once, and no tool changes its name by it.
#[tokio::test]
async fn s3_16_a_new_token_reconnects_and_keeps_the_names() {
    let hosted = Hosted::new();
    let url = hosted.host("x", &["--era", "legacy"]);
    let with = |token: &str| {
        hosted.enter("x", &url, &json!({"headers": {"Authorization": format!("Bearer {token}")}}));
    };
    with("the-first-one");
    let kit = hosted.farm.open(calm()).await;
    let before = names(&kit.own_view());
    assert!(before.contains(&"mcp_x_add".to_owned()), "{before:?}");
    with("the-second-one");
    kit.reload().await.unwrap();
    kit.reaches("x", LinkState::Ready).await;
    kit.ask("x", "add", json!({"a": 1, "b": 1})).await.unwrap();
    assert_eq!(names(&kit.own_view()), before);
    let last = hosted.requests("x").pop().unwrap();
    assert!(last.contains("the-second-one"), "{last}");
    assert_eq!(hosted.farm.count("x", "session"), 2);
    hosted.close(kit).await;
}

#[tokio::test]
async fn t37_credentials_follow_no_redirect_and_no_endpoint_elsewhere() {
    let faults = [
        ("h07:other", "http"),
        ("h07:other,301", "http"),
        ("h07:other,303", "http"),
        ("h07:other,308", "http"),
        ("h07:other,call", "http"),
        ("h11:absolute", "sse"),
        ("h11:relative", "sse"),
        ("h11:userinfo", "sse"),
    ];
    for (fault, kind) in faults {
        let hosted = Hosted::new();
        let canary = hosted.host("canary", &["--canary"]);
        let mut args = vec!["--fault", fault, "--elsewhere", &canary];
        if kind == "sse" {
            args.extend(["--sse", "--era", "legacy"]);
        }
        let keys = json!({"type": kind, "headers": {"Authorization": format!("Bearer {TOKEN}")}});
        hosted.add("x", &args, &keys);
        let kit = hosted.farm.start(calm());
        if fault.ends_with(",call") {
            kit.reaches("x", LinkState::Ready).await;
            let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
            assert!(error.message.contains("leads away from its origin"), "{fault}: {error}");
        } else {
            kit.reaches("x", LinkState::Reconnecting).await;
            let error = kit.on("x").status().error.unwrap().to_string();
            assert!(error.contains("leads away from its origin"), "{fault}: {error}");
        }
        hosted.close(kit).await;
        let caught = hosted.requests("canary");
        assert!(caught.is_empty(), "{fault}: {caught:#?}");
    }
    // Within its own origin a server may send requests on.
    let hosted = Hosted::of("x", &["--fault", "h07:same"]);
    let kit = hosted.farm.open(calm()).await;
    kit.lives("x").await;
    hosted.close(kit).await;
    let hosted = Hosted::of("x", &["--fault", "h07:loop"]);
    let kit = hosted.farm.start(calm());
    kit.reaches("x", LinkState::Reconnecting).await;
    assert!(kit.on("x").status().error.unwrap().to_string().contains("without an end"));
    hosted.close(kit).await;
}
