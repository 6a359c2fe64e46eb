//! Why a server cannot be used, as a value: its class, what a call ends with because of it, and what the command line
//! exits with. And when a server that failed is tried again.

use std::error::Error as _;
use std::net::TcpListener;
use std::time::Duration;

use kitbag::connect::ReasonClass;
use kitbag::{ErrorKind, Kitbag, LinkState, Reason};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::hosted::hasty;
use super::{Farm, Hosted, calm, until};

const LONG: Duration = Duration::from_secs(30);
const ADD: &str = r#"{"a":1,"b":1}"#;

/// Slow tries fifty times as fast.
fn patient() -> kitbag::Limits {
    let fast = kitbag::Limits::default().faster(50);
    let mut limits = calm();
    (limits.retry_failed, limits.retry_failed_most) = (fast.retry_failed, fast.retry_failed_most);
    limits
}

/// The reason of a server's first failure.
async fn reason(kit: &Kitbag) -> Reason {
    let away = |state| matches!(state, LinkState::Failed | LinkState::Reconnecting);
    assert!(until(LONG, || away(kit.on("x").status().state)).await, "{:?}", kit.on("x").status());
    let reason = kit.on("x").status().error.unwrap();
    kit.close().await;
    (*reason).clone()
}

#[tokio::test]
async fn f28_every_failure_of_a_program_has_its_class() {
    let long = "no-such-folder-anywhere";
    for (args, keys, class, words) in [
        (&[][..], json!({"command": "no-such-program"}), ReasonClass::MissingProgram, "no-such-program"),
        (&[], json!({"cwd": long}), ReasonClass::MissingFolder, long),
        (&["--fault", "s08"], json!({}), ReasonClass::Exited, "exit code 3"),
        (&["--fault", "s16:past"], json!({}), ReasonClass::ProtocolVersion, "2023-01-01"),
    ] {
        let farm = Farm::new();
        farm.add_with("x", args, &keys);
        let reason = reason(&farm.start(calm())).await;
        assert_eq!(reason.class, class, "{reason}");
        assert!(reason.root.contains(words) && reason.to_string().contains(words), "{reason}");
        assert_eq!(reason.address, None, "{reason}");
        farm.is_empty();
    }
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"command": "no-such-program"}));
    assert!(reason(&farm.start(calm())).await.hint.unwrap().contains("install"));
}

#[tokio::test]
async fn f28_every_failure_at_an_address_has_its_class() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    for (url, class) in [
        (format!("http://{free}/mcp"), ReasonClass::ConnectionRefused),
        ("http://no-such-host.invalid/mcp".to_owned(), ReasonClass::Dns),
        ("http://169.254.169.254/mcp".to_owned(), ReasonClass::Unreachable),
        (format!("http://{}/mcp", hole.local_addr().unwrap()), ReasonClass::Timeout),
        ("${NO_SUCH:-ftp://h.example/x}".to_owned(), ReasonClass::InvalidUrl),
    ] {
        let hosted = Hosted::new();
        hosted.enter("x", &url, &json!({}));
        let reason = reason(&hosted.farm.start(hasty())).await;
        assert_eq!(reason.class, class, "{reason}");
        assert!(reason.address.is_some(), "{reason}");
        let has_source = matches!(class, ReasonClass::ConnectionRefused | ReasonClass::Dns);
        assert_eq!(reason.source().is_some(), has_source, "{reason:?}");
    }
    for (fault, class) in [
        ("h17", ReasonClass::AuthRequired),
        ("h17:scope", ReasonClass::AuthRequired),
        ("h17:forbidden", ReasonClass::Forbidden),
        ("h09:html", ReasonClass::NotMcp),
        ("h19:9,429", ReasonClass::RateLimited),
    ] {
        let hosted = Hosted::of("x", &["--fault", fault]);
        let reason = reason(&hosted.farm.start(hasty())).await;
        assert_eq!(reason.class, class, "{fault}: {reason}");
        let has_hint = matches!(class, ReasonClass::AuthRequired | ReasonClass::Forbidden);
        assert_eq!(reason.hint.is_some(), has_hint, "{fault}: {reason:?}");
    }
}

/// Nobody knows its tools yet; what is missing is known all the same.
#[tokio::test]
async fn f28_a_first_401_is_auth_required_by_every_name() {
    let hosted = Hosted::of("x", &["--fault", "h17"]);
    let kit = hosted.farm.open(calm()).await;
    for name in ["x/add", "mcp_x_add", "add"] {
        let error = kit.call(name, ADD).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::AuthRequired, "{name}: {error}");
        assert_eq!(error.server.as_ref().unwrap().as_str(), "x", "{name}");
        assert_eq!(error.reason.as_ref().unwrap().class, ReasonClass::AuthRequired, "{name}");
        assert!(error.source().unwrap().to_string().starts_with("auth required: "), "{name}");
    }
    hosted.close(kit).await;
}

/// Connected, and its tools are behind a lock.
#[tokio::test]
async fn f28_a_401_for_the_list_alone_is_auth_required_by_every_name() {
    let hosted = Hosted::of("x", &["--fault", "h17:list"]);
    let kit = hosted.farm.open(calm()).await;
    kit.reaches("x", LinkState::Degraded).await;
    assert!(kit.on("x").status().auth_required());
    for name in ["x/add", "mcp_x_add", "add"] {
        let known = || kit.snapshot().away(kit.on("x").name()).is_some();
        assert!(until(LONG, known).await, "{name}");
        let error = kit.call(name, ADD).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::AuthRequired, "{name}: {error}");
    }
    hosted.close(kit).await;
}

/// Credentials do not help against a plain 403.
#[tokio::test]
async fn f28_a_403_is_forbidden_and_not_called_auth_required() {
    let hosted = Hosted::of("x", &["--fault", "h17:forbidden"]);
    let reason = reason(&hosted.farm.start(calm())).await;
    assert_eq!(reason.class, ReasonClass::Forbidden, "{reason}");
    // In the middle of everything: the call alone, and not delivered twice.
    let hosted = Hosted::of("x", &["--era", "modern", "--fault", "h17:forbidden,call"]);
    let kit = hosted.farm.open(calm()).await;
    let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError, "{error}");
    hosted.close(kit).await;
}

#[tokio::test]
async fn f83_messages_about_the_protocol_say_what_is_missing() {
    let farm = Farm::of("x", &["--era", "legacy", "--fault", "s16:none"]);
    let why = reason(&farm.start(calm())).await;
    assert!(why.root.contains("has no protocolVersion; Kitbag speaks 2024-11-05"), "{why}");
    farm.is_empty();
}

/// A farm whose server's program is not there yet.
fn without_program() -> Farm {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"command": farm.house.at("bin/late")}));
    farm
}

fn install(farm: &Farm) {
    std::fs::create_dir_all(farm.house.path("bin")).unwrap();
    std::os::unix::fs::symlink(testkit::bin("fake-mcp"), farm.house.path("bin/late")).unwrap();
}

#[tokio::test]
async fn f28_a_failed_server_is_tried_again_by_itself() {
    let farm = without_program();
    let kit = farm.open(patient()).await;
    let status = kit.on("x").status();
    assert_eq!(status.state, LinkState::Failed, "{status:?}");
    assert!(status.next_try.is_some(), "{status:?}");
    install(&farm);
    kit.reaches("x", LinkState::Ready).await;
    kit.lives("x").await;
    assert_eq!(kit.on("x").status().next_try, None);
    farm.close(kit).await;

    let hosted = Hosted::of("x", &["--bearer", "secret"]);
    let kit = hosted.farm.open(patient()).await;
    assert!(kit.on("x").status().auth_required());
    hosted.crash("x");
    hosted.again_with("x", &[]);
    kit.reaches("x", LinkState::Ready).await;
    let status = kit.on("x").status();
    assert!(!status.auth_required() && status.error.is_none(), "{status:?}");
    hosted.close(kit).await;
}

#[tokio::test]
async fn f28_a_bad_value_is_not_tried_again_before_it_is_corrected() {
    let hosted = Hosted::new();
    hosted.add("x", &[], &json!({"headers": {"Mcp-Session-Id": "mine"}}));
    let kit = hosted.farm.open(patient()).await;
    let status = kit.on("x").status();
    assert_eq!((status.state, status.next_try), (LinkState::Failed, None), "{status:?}");
    assert_eq!(status.error.unwrap().class, ReasonClass::Config);
    hosted.close(kit).await;
}

/// Whoever asks anew waits for a new try, and is never handed the failure of an older one.
#[tokio::test]
async fn f28_an_old_failure_is_never_handed_on() {
    for _ in 0..5 {
        let farm = without_program();
        farm.settings("[users.ada]\n[users.bob]\n");
        let first = farm.open(calm()).await;
        assert_eq!(first.on("x").status().state, LinkState::Failed);
        install(&farm);
        let (second, faults) = Kitbag::open_with(farm.setup(), farm.options(calm())).await.unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        second.lives("x").await;
        second.close().await;
        farm.close(first).await;
    }
    let farm = without_program();
    let kit = farm.open(calm()).await;
    install(&farm);
    kit.reload().await.unwrap();
    kit.wait(LONG).await;
    assert_eq!(kit.on("x").status().state, LinkState::Ready);
    farm.close(kit).await;
}
