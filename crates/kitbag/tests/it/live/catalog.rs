//! One catalog: what is listed is callable by the name it is listed under, listed once, remembered, and
//! follows its servers without a restart.

use std::time::Duration;

use futures_util::StreamExt as _;
use kitbag::connect::StartServers;
use kitbag::{ErrorKind, Kitbag, LinkState, OpenOptions, ServerName};
use kitbag_core::catalog::{ToolChange, ToolChangeKind};
use kitbag_core::names::lookup::NameMatch;
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, first, names, until};

const LONG: Duration = Duration::from_secs(30);

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

/// `kind server/tool` of each change.
fn told(changes: &[ToolChange]) -> Vec<String> {
    changes.iter().map(|one| format!("{} {}/{}", one.kind.as_str(), one.server, one.tool)).collect()
}

/// Calls a tool that changes the list, and waits for the changes that come of it.
async fn turn(kit: &Kitbag, tool: &str, arguments: &str) -> Vec<String> {
    let mut changes = kit.changes();
    kit.call(tool, arguments).await.unwrap();
    told(&tokio::time::timeout(LONG, changes.next()).await.unwrap().unwrap())
}

#[tokio::test]
async fn s1_6_tools_come_change_and_go_without_a_restart() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--fault", "c15", "--era", era]);
        farm.add("other", &[]);
        let kit = farm.open(calm()).await;
        let before = names(&kit.own_view());
        assert!(before.contains(&"mcp_x_two".to_owned()), "{before:?}");

        assert_eq!(turn(&kit, "mcp_x_add_tool", "{}").await, ["registered x/added_1"], "{era}");
        assert_eq!(names(&kit.own_view()).len(), before.len() + 1);
        let late = kit.call("mcp_x_added_1", r#"{"argument_1":"late"}"#).await.unwrap();
        assert!(first(&late).contains("late"), "{late:?}");
        assert_eq!(farm.count("x", "exec added_1"), 1);

        assert_eq!(turn(&kit, "mcp_x_change_tool", r#"{"name":"one"}"#).await, ["changed x/one"], "{era}");
        let view = kit.own_view();
        let one = view.tools().iter().find(|shown| shown.name.as_str() == "mcp_x_one").unwrap();
        assert_eq!(one.tool.description, "Version 2 of one");
        // By the new schema, not by one that was compiled for the old definition.
        kit.call("mcp_x_one", r#"{"argument_2":"new"}"#).await.unwrap();
        let wrong = kit.call("mcp_x_one", r#"{"argument_2":[1]}"#).await.unwrap_err();
        assert_eq!(wrong.kind, ErrorKind::InvalidArguments, "{wrong}");

        assert_eq!(turn(&kit, "mcp_x_remove_tool", r#"{"name":"two"}"#).await, ["removed x/two"], "{era}");
        assert!(!names(&kit.own_view()).contains(&"mcp_x_two".to_owned()));
        let gone = kit.call("mcp_x_two", "{}").await.unwrap_err();
        assert_eq!(gone.kind, ErrorKind::NotFound, "{gone}");
        assert_eq!((farm.count("x", "start"), farm.count("other", "list")), (1, 1));
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn s3_10_removing_a_server_removes_exactly_its_tools() {
    let farm = Farm::of("a", &[]);
    farm.add("b", &["--tools", "3"]);
    let kit = farm.open(calm()).await;
    let (before, view) = (kit.snapshot(), kit.own_view());
    // Both ways: from a server to its tools, from a tool to its server.
    let part = before.part(&server("b")).unwrap();
    assert!(part.tools.iter().any(|tool| tool.name.as_str() == "extra_0002"));
    let NameMatch::One(at) = view.find("mcp_b_extra_0002") else { panic!("not found") };
    assert_eq!(view.at(at).unwrap().tool.server, server("b"));

    let mut changes = kit.changes();
    farm.remove("b");
    kit.reload().await.unwrap();
    let found = tokio::time::timeout(LONG, changes.next()).await.unwrap().unwrap();
    assert!(
        found.iter().all(|one| one.kind == ToolChangeKind::Removed && one.server == server("b")),
        "{found:?}"
    );
    let removed: Vec<&str> = found.iter().map(|one| one.tool.as_str()).collect();
    let had: Vec<&str> = part.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(removed, had);
    let after = kit.snapshot();
    assert_eq!((after.part(&server("b")), after.part(&server("a"))), (None, before.part(&server("a"))));
    assert!(names(&kit.own_view()).iter().all(|name| !name.starts_with("mcp_b_")));
    let error = kit.call("mcp_b_add", r#"{"a":1,"b":2}"#).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound, "{error}");
    kit.lives("a").await;

    // Back again it has the names it had.
    farm.add("b", &["--tools", "3"]);
    kit.reload().await.unwrap();
    kit.on("b").settled().await;
    assert!(until(LONG, || names(&kit.own_view()) == names(&view)).await);
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_8_views_and_calls_do_not_list_again() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &["--era", "legacy"]);
    let kit = farm.open(calm()).await;
    kit.reaches("x", LinkState::Ready).await;
    kit.reaches("y", LinkState::Ready).await;
    let first_view = kit.own_view();
    for _ in 0..20 {
        kit.call("mcp_x_add", r#"{"a":1,"b":2}"#).await.unwrap();
        kit.call("mcp_y_add", r#"{"a":1,"b":2}"#).await.unwrap();
    }
    assert!(std::sync::Arc::ptr_eq(&first_view, &kit.own_view()), "equal states give the same view");
    // A second handle in this process shares the servers and what they listed.
    let other = farm.open(calm()).await;
    assert_eq!(names(&other.own_view()), names(&first_view));
    for name in ["x", "y"] {
        assert_eq!((farm.count(name, "list"), farm.count(name, "start")), (1, 1), "{name}");
    }
    other.close().await;
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_24_a_second_opening_lists_at_once_what_is_remembered() {
    let farm = Farm::of("x", &["--start-delay", "1500"]);
    let kit = farm.open(calm()).await;
    let before = names(&kit.own_view());
    farm.close(kit).await;

    let kit = farm.start(calm());
    let view = kit.own_view();
    assert_eq!(names(&view), before);
    assert_eq!((kit.on("x").status().state, farm.count("x", "list")), (LinkState::Starting, 1));
    let shown = view.tools().iter().find(|shown| shown.name.as_str() == "mcp_x_add").unwrap();
    assert!(!view.is_available(shown), "listed, and marked as not there yet");
    let sum = kit.call("mcp_x_add", r#"{"a":20,"b":3}"#).await.unwrap();
    assert_eq!(first(&sum), "23");
    assert_eq!(names(&kit.own_view()), before, "its own list says the same");
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_24_what_is_remembered_of_another_configuration_is_not_shown() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    farm.close(kit).await;
    farm.add("x", &["--start-delay", "1500", "--tools", "2"]);
    let kit = farm.start(calm());
    assert_eq!(names(&kit.own_view()), ["kitbag_read_result"], "another program, other tools");
    kit.wait(LONG).await;
    assert!(until(LONG, || names(&kit.own_view()).contains(&"mcp_x_extra_0001".to_owned())).await);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_24_a_lazy_server_is_listed_from_memory_and_started_by_its_first_call() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true}));
    let eager = OpenOptions { start: StartServers::AtOnce, ..farm.options(calm()) };
    let kit = farm.open_with(eager).await;
    let before = names(&kit.own_view());
    assert!(before.contains(&"mcp_x_add".to_owned()));
    farm.close(kit).await;
    assert_eq!(farm.count("x", "start"), 1);

    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    assert_eq!(names(&view), before);
    assert!(view.tools().iter().all(|shown| view.is_available(shown)), "it starts on need");
    let wrong = kit.call("mcp_x_add", r#"{"a":"no number"}"#).await.unwrap_err();
    assert_eq!(wrong.kind, ErrorKind::InvalidArguments);
    assert_eq!((farm.count("x", "start"), kit.on("x").status().state), (1, LinkState::Idle), "no need yet");
    assert_eq!(first(&kit.call("mcp_x_add", r#"{"a":2,"b":3}"#).await.unwrap()), "5");
    assert_eq!(farm.count("x", "start"), 2);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_4_every_configured_server_is_there_before_the_first_call_and_a_broken_one_blocks_none() {
    let farm = Farm::of("good", &[]);
    farm.add_with("broken", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.add("mute", &["--fault", "s05"]);
    let mut limits = calm();
    limits.wait_agent = Duration::from_secs(3);
    let opened = Kitbag::open_with(farm.setup(), farm.options(limits)).await;
    let (kit, faults) = opened.unwrap();
    let mut away: Vec<String> =
        faults.iter().filter_map(|fault| Some(fault.server.as_ref()?.to_string())).collect();
    away.sort();
    assert_eq!(away, ["broken", "mute"], "{faults:?}");
    assert_eq!(first(&kit.call("mcp_good_add", r#"{"a":1,"b":1}"#).await.unwrap()), "2");
    // Whoever asks for one that is not there learns which servers are missing.
    let error = kit.call("mcp_broken_add", "{}").await.unwrap_err().for_model();
    assert!(
        error.starts_with("unavailable (broken: missing program")
            && error.contains("no-such-program-anywhere"),
        "{error}"
    );
    farm.close(kit).await;
}

/// Invariant 1, with servers whose names collide among those of real ones.
#[tokio::test]
async fn s2_11_every_listed_tool_is_callable_by_its_listed_name_and_arrives_under_its_own() {
    let farm = Farm::of("acme_", &["--fault", "c05:a"]);
    farm.add("acme", &["--fault", "c05:b"]);
    farm.add("x15", &["--fault", "c15"]);
    for corpus in ["filesystem", "git", "memory", "time"] {
        farm.add(corpus, &["--tools", &testkit::corpus::file(corpus)]);
    }
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let theirs = || view.tools().iter().filter(|shown| shown.tool.server.as_str() != "local");
    assert_eq!(theirs().count() + 1, kit.snapshot().tools().count(), "{:?}", view.left_out());
    for shown in theirs() {
        let own = (shown.tool.server.as_str(), shown.tool.name.as_str());
        if matches!(own.1, "break_list" | "remove_tool") {
            continue;
        }
        let before = farm.count(own.0, &format!("exec {}", own.1));
        let arguments = shown.examples().first().cloned().unwrap_or_else(|| json!({})).to_string();
        let done = kit.call(shown.name.as_str(), &arguments).await;
        let result = done.unwrap_or_else(|failure| panic!("{}: {}", shown.name, failure.for_model()));
        assert_eq!((result.info.server.as_str(), result.info.tool.as_str()), own);
        assert_eq!(farm.count(own.0, &format!("exec {}", own.1)), before + 1, "{own:?}");
    }
    farm.close(kit).await;
}

/// What the servers defined is listed whole, and examples made from their schemas arrive as they were written.
#[tokio::test]
async fn s2_11_recorded_tools_of_real_servers_are_listed_and_called_byte_for_byte() {
    let farm = Farm::new();
    let servers = ["github", "notion", "playwright"];
    for name in servers {
        farm.add(name, &["--tools", &testkit::corpus::file(name)]);
    }
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let mut called = 0;
    for name in servers {
        let recorded: Value =
            serde_json::from_str(&std::fs::read_to_string(testkit::corpus::file(name)).unwrap()).unwrap();
        let theirs: Vec<_> = view.tools().iter().filter(|shown| shown.tool.server.as_str() == name).collect();
        assert_eq!(theirs.len(), recorded.as_array().unwrap().len(), "{name}");
        let mut sent = Vec::new();
        for shown in theirs {
            let raw = recorded.as_array().unwrap().iter().find(|raw| raw["name"] == shown.tool.name.as_str());
            assert_eq!(Some(&*shown.tool.raw), raw, "{}", shown.name);
            let example = shown.examples().first().cloned();
            let arguments = example.unwrap_or_else(|| panic!("no example for {}", shown.name)).to_string();
            let done = kit.call(shown.name.as_str(), &arguments).await;
            done.unwrap_or_else(|failure| panic!("{}: {}", shown.name, failure.for_model()));
            sent.push(arguments);
        }
        called += sent.len();
        assert_eq!(farm.arrived(name), sent, "{name}");
    }
    println!("{called} tools of {} servers", servers.len());
    assert!(50 < called, "{called}");
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_3_a_server_that_is_opened_is_listed_and_callable_in_one_step() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    // Whatever the server lists is seen, and what is seen can be called.
    let listed = kit.on("x").tools();
    let seen = view.tools().iter().filter(|shown| shown.tool.server.as_str() == "x");
    let mut theirs: Vec<&str> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut ours: Vec<&str> = seen.map(|shown| shown.tool.name.as_str()).collect();
    theirs.sort_unstable();
    ours.sort_unstable();
    assert_eq!(ours, theirs);
    let sum = kit.call("mcp_x_add", r#"{"a": 2, "b": 3}"#).await.unwrap();
    assert_eq!(sum.content[0].as_text(), Some("5"));
    farm.close(kit).await;

    // Only one of them, for those who want no more.
    farm.settings("[servers.x]\ninclude = [\"add\"]\n");
    let kit = farm.open(calm()).await;
    assert!(1 < kit.on("x").tools().tools.len(), "the server lists as many as before");
    let seen = kit.own_view();
    let seen = seen.tools().iter().filter(|shown| shown.tool.server.as_str() == "x");
    assert_eq!(seen.map(|shown| shown.tool.name.as_str()).collect::<Vec<_>>(), ["add"]);
    farm.close(kit).await;
}
