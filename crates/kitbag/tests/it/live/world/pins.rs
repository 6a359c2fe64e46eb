//! A tool that changed its meaning is held until a person approves it; nothing else is touched.

use std::sync::Arc;

use kitbag::approvals::PinStatus;
use kitbag::store::{MemoryStore, Store};
use kitbag::{ErrorKind, Kitbag, OpenOptions};

use super::super::farm::{Opens as _, first};
use super::super::{Farm, calm};
use super::{listed, open_for, server};

async fn open(farm: &Farm, store: &Arc<dyn Store>) -> Kitbag {
    farm.open_with(OpenOptions { store: Some(store.clone()), ..farm.options(calm()) }).await
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

async fn status(kit: &Kitbag, tool: &str) -> PinStatus {
    let all = kit.pinned_tools().await.unwrap();
    all.iter().find(|pinned| pinned.tool.as_str() == tool).unwrap().status
}

/// Has a tool of the server describe itself otherwise, and waits until that is listed.
async fn change(kit: &Kitbag, tool: &str) {
    let mut watch = kit.watch();
    watch.mark_unchanged();
    kit.call("x/change_tool", &format!(r#"{{"name":"{tool}"}}"#)).await.unwrap();
    watch.changed().await.unwrap();
}

#[tokio::test]
async fn t21_a_tool_that_changed_since_its_first_use_is_held_and_no_other() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--fault", "c15", "--era", era]);
        let store = store();
        let kit = open(&farm, &store).await;
        kit.call("x/one", r#"{"argument_1":"a"}"#).await.unwrap();
        assert_eq!((status(&kit, "one").await, status(&kit, "two").await), (PinStatus::Seen, PinStatus::New));
        // One that nobody used may change.
        change(&kit, "two").await;
        assert!(listed(&kit.own_view()).contains(&"mcp_x_two".to_owned()));
        let older = kit.own_view();
        change(&kit, "one").await;
        let view = kit.own_view();
        assert!(
            !listed(&view).contains(&"mcp_x_one".to_owned())
                && listed(&view).contains(&"mcp_x_two".to_owned())
        );
        let ran = farm.count("x", "exec one");
        for name in ["x/one", "mcp_x_one", "one"] {
            let error = kit.call(name, r#"{"argument_2":"b"}"#).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Held, "{name}: {error}");
        }
        // Nor through a view somebody kept.
        let error = kit.call_tool(&older, kitbag::ToolCall::new("mcp_x_one", "{}")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Held, "{error}");
        assert_eq!(farm.count("x", "exec one"), ran);
        assert_eq!(status(&kit, "one").await, PinStatus::Changed);
        let told: Vec<String> = view.faults().iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|fault| fault.contains("one") && fault.contains("changed")), "{told:?}");
        let approved =
            kit.approve_definitions(&[(server("x"), kitbag_core::ToolName::parse("one").unwrap())]).await;
        assert_eq!((approved, status(&kit, "one").await), (Ok(1), PinStatus::Approved));
        assert!(first(&kit.call("x/one", r#"{"argument_2":"b"}"#).await.unwrap()).contains('b'));
        farm.close(kit).await;
    }
}

/// Overnight: the program that pinned is gone, and the server comes back with other words.
#[tokio::test]
async fn t21_pins_outlive_the_program_and_name_the_first_definition() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    let store = store();
    let kit = open(&farm, &store).await;
    kit.call("x/one", r#"{"argument_1":"a"}"#).await.unwrap();
    farm.close(kit).await;
    let kit = open(&farm, &store).await;
    assert_eq!(status(&kit, "one").await, PinStatus::Seen);
    change(&kit, "one").await;
    // Calling it in between does not pin the new words.
    kit.call("x/one", r#"{"argument_2":"b"}"#).await.unwrap_err();
    let all = kit.pinned_tools().await.unwrap();
    let one = all.iter().find(|pinned| pinned.tool.as_str() == "one").unwrap();
    let (then, now) =
        (&one.pin.as_ref().unwrap().definition, one.now.as_ref().unwrap().canonical_definition());
    assert!(then.contains("Version 1") && now.contains("Version 2"), "{then} {now}");
    farm.close(kit).await;
}

#[tokio::test]
async fn t21_in_strict_mode_nothing_is_called_before_it_is_approved() {
    let farm = Farm::of("x", &[]);
    farm.settings("[pins]\nmode = 'strict'\n");
    let store = store();
    let kit = open(&farm, &store).await;
    assert!(listed(&kit.own_view()).iter().all(|name| !name.starts_with("mcp_")));
    let error = kit.call("x/echo", r#"{"message":"hi"}"#).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Held, "{error}");
    kit.approve_definitions(&[(server("x"), kitbag_core::ToolName::parse("echo").unwrap())]).await.unwrap();
    assert_eq!(first(&kit.call("x/echo", r#"{"message":"hi"}"#).await.unwrap()), "hi");
    farm.settings("[pins]\nmode = 'off'\n");
    kit.reload().await.unwrap();
    kit.call("x/add", r#"{"a":1,"b":2}"#).await.unwrap();
    farm.close(kit).await;
}

/// First use is not approval: what a server claims counts once a person has approved it.
#[tokio::test]
async fn t23_what_a_server_claims_counts_once_a_person_approved_it() {
    let farm = Farm::of("x", &["--fault", "c07"]);
    farm.settings("[groups.local]\nallow = ['risk:read', 'x/look']\n");
    let store = store();
    let kit = open(&farm, &store).await;
    let reads: Vec<_> =
        kit.snapshot().tools().filter(|tool| tool.hints.read_only == Some(true)).cloned().collect();
    let names = || listed(&kit.own_view()).into_iter().filter(|name| name.starts_with("mcp_")).count();
    let before = names();
    assert!(reads.iter().any(|tool| tool.name.as_str() != "look"), "{reads:?}");
    let keys: Vec<_> = reads.iter().map(|tool| (tool.server.clone(), tool.name.clone())).collect();
    kit.approve_definitions(&keys).await.unwrap();
    assert!(before < names(), "{before}");
    farm.close(kit).await;
}

#[tokio::test]
async fn t34_pins_of_a_users_own_server_are_nobody_elses() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    farm.settings("[users.ada]\n[users.bob]\n[servers.x]\nper_user = true\n");
    let store = store();
    let options = || OpenOptions { store: Some(store.clone()), ..farm.options(calm()) };
    let (ada, bob) = (open_for(&farm, "ada", options()).await, open_for(&farm, "bob", options()).await);
    ada.call("x/one", r#"{"argument_1":"a"}"#).await.unwrap();
    assert_eq!((status(&ada, "one").await, status(&bob, "one").await), (PinStatus::Seen, PinStatus::New));
    change(&ada, "one").await;
    assert_eq!(ada.call("x/one", r#"{"argument_2":"b"}"#).await.unwrap_err().kind, ErrorKind::Held);
    // His own is as it was; what she approves or forgets is hers.
    bob.call("x/one", r#"{"argument_1":"a"}"#).await.unwrap();
    let hers = (server("x"), kitbag_core::ToolName::parse("one").unwrap());
    assert_eq!(ada.approve_definitions(&[hers]).await, Ok(1));
    assert_eq!(
        (status(&ada, "one").await, status(&bob, "one").await),
        (PinStatus::Approved, PinStatus::Seen)
    );
    assert_eq!(ada.forget_definitions(&ada.pinned_tools().await.unwrap()).await, Ok(2));
    assert_eq!(status(&bob, "one").await, PinStatus::Seen);
    ada.close().await;
    farm.close(bob).await;
}

/// A person approves and forgets in another process; whoever follows the tools of this one hears of it.
#[tokio::test]
async fn t21_what_another_process_approves_or_forgets_is_free_here_too() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    let store = store();
    let mut limits = calm();
    limits.pin_poll = std::time::Duration::from_millis(10);
    let options = || OpenOptions { store: Some(store.clone()), ..farm.options(limits.clone()) };
    let (kit, other) = (farm.open_with(options()).await, farm.open_with(options()).await);
    let one = [(server("x"), kitbag_core::ToolName::parse("one").unwrap())];
    kit.call("x/one", r#"{"argument_1":"a"}"#).await.unwrap();
    for round in ["approved", "forgotten"] {
        change(&kit, "one").await;
        let mut watch = kit.watch();
        let is_listed = || listed(&kit.own_view()).contains(&"mcp_x_one".to_owned());
        assert!(!is_listed(), "{round}");
        watch.mark_unchanged();
        if round == "approved" {
            other.approve_definitions(&one).await.unwrap();
        } else {
            let pinned = other.pinned_tools().await.unwrap();
            other.forget_definitions(&pinned).await.unwrap();
        }
        let heard = async {
            while !is_listed() {
                watch.changed().await.unwrap();
            }
        };
        testkit::in_time(heard).await;
    }
    other.close().await;
    farm.close(kit).await;
}
