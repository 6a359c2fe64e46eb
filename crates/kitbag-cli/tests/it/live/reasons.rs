//! Why a server cannot be used, as a value: its class, what a call ends with because of it, and what the command line
//! exits with. And when a server that failed is tried again.

use std::error::Error as _;
use std::net::TcpListener;
use std::time::{Duration, SystemTime};

use kitbag::connect::{LinkState, Reason, ReasonClass};
use kitbag::{ErrorKind, Kitbag};
use serde_json::{Value, json};

use super::farm::Use as _;
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
    let house = &hosted.farm.house;
    let named = ["call", "show", "why"].map(|command| [vec![command, "x/add"], vec![command, "add"]]);
    for args in named.into_iter().flatten().chain([vec!["tools"]]) {
        let ran = house.run(&args).exits(12);
        assert!(ran.all().contains("auth required: answered 401"), "{args:?}: {ran:?}");
    }
    assert!(house.run(&["call", "x/add"]).err.contains("put a token"));
    // With another server away for another reason nobody can say what would help.
    hosted.farm.add_with("gone", &[], &json!({"command": "no-such-program"}));
    assert_eq!(house.run(&["call", "add", "--json"]).exits(4).json()["kind"], "unavailable");
    assert_eq!(house.run(&["call", "x/add", "--json"]).exits(12).json()["kind"], "auth_required");
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
    hosted.farm.house.run(&["call", "add", "a=1", "b=1"]).fails(12, "tools cannot be listed: answered 401");
}

/// Credentials do not help against a plain 403.
#[tokio::test]
async fn f28_a_403_is_forbidden_and_not_called_auth_required() {
    let hosted = Hosted::of("x", &["--fault", "h17:forbidden"]);
    let ran = hosted.farm.house.run(&["call", "x/add", "--json"]).exits(13);
    let said = ran.json();
    assert_eq!(said["kind"], "server_error", "{said}");
    assert!(!ran.all().contains("auth required"), "{ran:?}");
    assert!(said["message"].as_str().unwrap().contains("forbidden: answered 403"), "{said}");
    let rows = hosted.farm.house.run(&["status", "--json"]).exits(0).json();
    assert_eq!(
        (&rows[0]["auth_required"], &rows[0]["reason"]["class"]),
        (&json!(false), &json!("forbidden"))
    );
    assert!(rows[0]["next_try"].is_string(), "{rows}");
    // In the middle of everything: the call alone, and not delivered twice.
    let hosted = Hosted::of("x", &["--era", "modern", "--fault", "h17:forbidden,call"]);
    let kit = hosted.farm.open(calm()).await;
    let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError, "{error}");
    hosted.close(kit).await;
}

#[test]
fn f79_unreachable_is_unavailable_in_every_command() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let pipe = Farm::new();
    pipe.add_with("x", &[], &json!({"command": "no-such-program"}));
    let hosted = Hosted::new();
    hosted.enter("x", &format!("http://{free}/mcp"), &json!({}));
    for farm in [&pipe, &hosted.farm] {
        for name in ["x/add", "mcp_x_add", "add"] {
            let called = farm.house.run(&["call", name, "--json", "--wait", "3s"]).exits(4).json();
            assert_eq!(called["kind"], "unavailable", "{name}: {called}");
            for command in ["show", "why"] {
                let ran = farm.house.run(&[command, name, "--wait", "3s"]).exits(4);
                assert!(ran.all().contains("x is "), "{command} {name}: {ran:?}");
            }
        }
        farm.house.run(&["tools", "--wait", "3s"]).exits(4);
    }
    // A name that is wrong whoever is away stays that.
    pipe.add("good", &[]);
    let called = pipe.house.run(&["call", "good/no-such-tool", "--json"]).exits(5).json();
    assert_eq!(called["kind"], "not_found", "{called}");
}

#[test]
fn f79_every_kind_a_server_can_bring_about_has_its_exit_code() {
    for (fault, kind, code) in [
        ("h09:html,call", "bad_answer", 13),
        ("h17:call", "auth_required", 12),
        ("h17:forbidden,call", "server_error", 13),
        ("h19:1,429,call", "rate_limited", 14),
        ("h19:1,503,call", "outcome_unknown", 9),
    ] {
        let hosted = Hosted::of("x", &["--era", "modern", "--fault", fault]);
        let ran = hosted.farm.house.run(&["call", "x/echo", "message=a", "--json"]).exits(code);
        assert_eq!(ran.json()["kind"], kind, "{fault}");
    }
    let farm = Farm::of("x", &[]);
    farm.house.put("kit/config/kitbag.toml", "[limits]\nline = \"20KiB\"\n");
    let ran = farm.house.run(&["call", "x/big", "bytes=100000", "--json"]).exits(13);
    assert_eq!(ran.json()["kind"], "too_large", "{ran:?}");
    let ran = farm.house.run(&["call", "x/rpc_error", "code=-32050", "--json"]).exits(13);
    assert_eq!(ran.json()["kind"], "server_error");
}

#[test]
fn f79_errors_are_listed_as_they_are_in_the_table() {
    let farm = Farm::new();
    let listed = farm.house.run(&["errors", "--json"]).exits(0).json();
    let words: Vec<&str> =
        listed["kinds"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(words, ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    let classes: Vec<&Value> =
        listed["reasons"].as_array().unwrap().iter().map(|row| &row["class"]).collect();
    assert_eq!(classes, ReasonClass::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>());
    let text = farm.house.run(&["errors"]).exits(0).out;
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
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
    assert!(status.next_try.is_some_and(|next| SystemTime::now() < next + LONG), "{status:?}");
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
async fn f28_a_bad_value_is_not_tried_again_before_it_is_mended() {
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
