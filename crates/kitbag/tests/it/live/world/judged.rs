//! What a call is allowed is decided by what is true when it is sent, not when somebody looked, asked or began.

use std::sync::Arc;

use kitbag::{
    BoxFuture, ErrorKind, Hook, HookAction, Kitbag, LinkState, OpenOptions, OutgoingCall, ToolCall, UserId,
};
use serde_json::json;
use tokio::sync::Semaphore;

use super::super::farm::{Opens as _, Use as _};
use super::super::{Farm, calm, first};
use super::listed;

const HI: &str = r#"{"message":"hi"}"#;

/// Keeps every call until it is let go of.
struct Gate {
    came: Semaphore,
    open: Semaphore,
}

impl Hook for Gate {
    fn before<'a>(&'a self, _: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
        Box::pin(async {
            self.came.add_permits(1);
            self.open.acquire().await.unwrap().forget();
            HookAction::Go
        })
    }
}

/// A call that waits while something is written and applied; how it ended.
async fn meanwhile(farm: &Farm, change: impl FnOnce()) -> (Kitbag, Result<String, ErrorKind>) {
    let gate = Arc::new(Gate { came: Semaphore::new(0), open: Semaphore::new(0) });
    let kit = farm.open_with(OpenOptions { hooks: vec![gate.clone()], ..farm.options(calm()) }).await;
    let changing = async {
        gate.came.acquire().await.unwrap().forget();
        change();
        kit.reload().await.unwrap();
        gate.open.add_permits(1);
    };
    let (done, ()) = tokio::join!(kit.call("x/echo", HI), changing);
    let done = done.map(|result| first(&result).to_owned()).map_err(|failure| failure.kind);
    (kit, done)
}

#[tokio::test]
async fn f14_a_call_that_waited_is_judged_by_what_is_true_when_it_is_sent() {
    let cases = [
        ("[servers.x]\nexclude = [\"echo\"]\n", Err(ErrorKind::NotFound)),
        ("[servers.x]\nenabled = false\n", Err(ErrorKind::NotFound)),
        // A slip: nothing of it is shown until it is fixed.
        ("[servers.x]\nexclud = [\"echo\"]\n", Err(ErrorKind::NotFound)),
        ("[servers.x]\napprove = [\"echo\"]\n", Err(ErrorKind::Unavailable)),
        ("[servers.x.tools.echo.args.message]\npin = \"other\"\n", Err(ErrorKind::Unavailable)),
        // What does not concern it does not hinder it.
        ("[servers.x]\nexclude = [\"add\"]\n", Ok("hi".to_owned())),
    ];
    for (settings, wanted) in cases {
        let farm = Farm::of("x", &[]);
        let (kit, done) = meanwhile(&farm, || farm.settings(settings)).await;
        assert_eq!(done, wanted, "{settings}");
        assert_eq!(farm.count("x", "call echo"), usize::from(wanted.is_ok()), "{settings}");
        farm.close(kit).await;
    }
}

/// Another server has taken its place: the call goes there once it has said that it has the tool.
#[tokio::test]
async fn f14_a_call_that_waited_goes_to_the_server_that_is_there_by_then() {
    let farm = Farm::of("x", &[]);
    let other = || farm.add_with("x", &["--start-delay", "300"], &json!({"env": {"A": "b"}}));
    let (kit, done) = meanwhile(&farm, other).await;
    assert_eq!(done, Ok("hi".to_owned()));
    farm.close(kit).await;

    let farm = Farm::of("x", &[]);
    let hop = json!([{"name": "hop", "inputSchema": {"type": "object"}}]);
    let (kit, done) = meanwhile(&farm, || farm.add_echo("x", &hop)).await;
    assert_eq!(done, Err(ErrorKind::NotFound), "another server has no such tool");
    farm.close(kit).await;
}

/// Rules that somebody asked for and keeps show no more than the files do by then.
#[tokio::test]
async fn f3_rules_that_are_kept_never_show_more_than_the_files() {
    let farm = Farm::of("x", &[]);
    farm.settings("[agents.a]\nallow = [\"x/echo\", \"x/add\"]\n");
    let kit = farm.open(calm()).await;
    let (user, agent) = (UserId::local(), kit.agent("a").unwrap());
    let view = kit.view(&user, &agent).unwrap();
    let call = async || kit.call_tool(&view, ToolCall::new("x/echo", HI)).await;
    call().await.unwrap();
    let cases = [
        ("[agents.a]\nallow = [\"x/add\"]\n", &["add"][..]),
        ("[agents.a]\nalow = [\"x/add\"]\n", &[]),
        ("[agents.a]\nservers = [\"y\"]\n", &[]),
        ("[agents.b]\nallow = [\"x/*\"]\n", &[]),
        ("[agents.a]\nallow = [\"x/add\", \"x/pid\"]\n", &["add"]),
    ];
    for (settings, wanted) in cases {
        farm.settings(settings);
        kit.reload().await.unwrap();
        assert_eq!(call().await.unwrap_err().kind, ErrorKind::NotFound, "{settings}");
        let tools = listed(&kit.view(&user, &agent).unwrap());
        let tools: Vec<&str> =
            tools.iter().filter(|name| name.starts_with("mcp_x_")).map(|name| &name[6..]).collect();
        assert_eq!(tools, wanted, "{settings}");
    }
    assert_eq!(farm.count("x", "call echo"), 1);
    farm.settings("[agents.a]\nallow = [\"x/echo\", \"x/add\"]\n");
    kit.reload().await.unwrap();
    call().await.unwrap();
    farm.close(kit).await;
}

/// A name that was given out while another server had yet to list is not sure.
#[tokio::test]
async fn f74_a_name_for_the_time_being_waits_for_the_slow_server() {
    for form in ["bare", "short"] {
        let name = if form == "bare" { "echo" } else { "a_b_echo" };
        let (slow, quick) = if form == "bare" { ("slow", "quick") } else { ("a", "a_b") };
        let farm = Farm::new();
        farm.settings(&format!("[present]\nnames = \"{form}\"\n"));
        farm.add(quick, &[]);
        let file = farm
            .house
            .put("slow.json", json!([{"name": "b_echo", "inputSchema": {"type": "object"}}]).to_string());
        let tools = ["--start-delay", "800", "--tools", file.to_str().unwrap()];
        farm.add(slow, if form == "bare" { &tools[..2] } else { &tools });
        let kit = farm.start(calm());
        kit.reaches(quick, LinkState::Ready).await;
        let view = kit.own_view();
        assert!(listed(&view).contains(&name.to_owned()), "{:?}", listed(&view));
        let error = kit.call_tool(&view, ToolCall::new(name, HI)).await.unwrap_err();
        let wanted = if form == "bare" { ErrorKind::Ambiguous } else { ErrorKind::NotFound };
        assert_eq!(error.kind, wanted, "{form}: {error}");
        assert_eq!(farm.count(quick, "call echo"), 0, "{form}");
        farm.close(kit).await;
    }
}
