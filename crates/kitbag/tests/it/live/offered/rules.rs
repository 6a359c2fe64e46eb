//! Who may list, read and get what: the rules of tools hold for all of it, and what is denied does not exist.

use std::sync::Arc;

use kitbag::approvals::PinStatus;
use kitbag::store::MemoryStore;
use kitbag::{AgentRules, CallOptions, ErrorKind, Kitbag, OpenOptions, UserId, View};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _};
use super::super::world::{open_for, user};
use super::super::{Farm, calm};
use super::{get, prompts, read, two, uris};

fn farm_with(settings: &str) -> Farm {
    let farm = two();
    farm.settings(settings);
    farm
}

async fn view_of(kit: &Kitbag, name: &str) -> std::sync::Arc<View> {
    kit.view(&UserId::parse(name).unwrap(), &AgentRules::default()).unwrap()
}

/// Every URI and prompt that anybody could ask for, and whether it is listed exactly if it can be had.
async fn is_listed_as_had(kit: &Kitbag, view: &View, why: &str) {
    let (listed, named) = (uris(kit, view).await, prompts(kit, view).await);
    for server in ["x", "y"] {
        for own in
            ["fake://shared", &format!("fake://{server}/own"), "fake://picture", "fake://linked/secret"]
        {
            let uri = format!("kitbag+{server}:{own}");
            let is_read = read(kit, view, &uri).await;
            assert_eq!(is_read.is_ok(), listed.contains(&uri), "{why} {uri}: {is_read:?}");
            assert!(is_read.is_ok() || is_read == Err(ErrorKind::NotFound), "{why} {uri}: {is_read:?}");
        }
        for own in ["greet", "plain"] {
            let name = format!("mcp_{server}_{own}");
            let is_got = get(kit, view, &name, r#"{"name":"Ada"}"#).await;
            assert_eq!(is_got.is_ok(), named.contains(&name), "{why} {name}: {is_got:?}");
            assert!(is_got.is_ok() || is_got == Err(ErrorKind::NotFound), "{why} {name}: {is_got:?}");
        }
    }
}

#[tokio::test]
async fn what_is_denied_is_neither_listed_nor_had() {
    let rules = [
        ("none", "", 8, 6),
        ("server", "deny = ['x/*']", 4, 3),
        ("resources", "deny = ['*/resource:*']", 0, 6),
        ("one uri", "deny = ['x/resource:fake://linked/**']", 7, 6),
        ("prompts", "deny = ['y/prompt:*']", 8, 3),
        ("allow", "allow = ['x/resource:fake://shared', '*/prompt:greet']", 1, 2),
        ("tools alone", "allow = ['x/echo']", 0, 0),
        ("unreadable", "deny = ['x/[a']", 0, 0),
        ("risk", "deny = ['risk:write', 'risk:destructive']", 8, 6),
    ];
    for (why, rule, resources, named) in rules {
        let farm = farm_with(&format!("[groups.g]\n{rule}\n[users.ada]\ngroups = ['g']\n"));
        let kit = farm.open(calm()).await;
        let view = view_of(&kit, "ada").await;
        let listed = uris(&kit, &view).await;
        let listed = listed.iter().filter(|uri| !uri.ends_with("hang"));
        assert_eq!((listed.count(), prompts(&kit, &view).await.len()), (resources, named), "{why}");
        is_listed_as_had(&kit, &view, why).await;
        is_listed_as_had(&kit, &kit.own_view(), why).await;
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn a_denied_server_is_not_even_asked() {
    let farm = farm_with("[groups.g]\ndeny = ['x/*']\n[users.ada]\ngroups = ['g']\n");
    let kit = farm.open(calm()).await;
    let view = view_of(&kit, "ada").await;
    uris(&kit, &view).await;
    assert_eq!(read(&kit, &view, "fake://only/x").await.unwrap_err(), ErrorKind::NotFound);
    assert_eq!(read(&kit, &view, "fake://shared").await.unwrap(), "shared of y", "there is no other");
    assert_eq!(farm.count("x", "offered") + farm.count("x", "read"), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn what_a_server_excludes_is_gone() {
    let farm =
        farm_with("[servers.x]\nexclude = ['resource:*', 'prompt:plain']\n[servers.y]\ninclude = ['echo']\n");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    assert!(uris(&kit, &view).await.is_empty());
    assert_eq!(prompts(&kit, &view).await, ["mcp_x_greet", "mcp_x_of_x"]);
    is_listed_as_had(&kit, &view, "exclude").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn a_read_that_needs_approval_is_refused_where_nobody_is_asked() {
    let farm = farm_with("[groups.local]\napprove = ['x/resource:*', 'x/prompt:greet']\n");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let refused = Err(ErrorKind::ApprovalDenied);
    assert_eq!(read(&kit, &view, "kitbag+x:fake://shared").await, refused);
    assert_eq!(get(&kit, &view, "mcp_x_greet", r#"{"name":"Ada"}"#).await, refused);
    assert_eq!(get(&kit, &view, "mcp_x_plain", "{}").await.unwrap(), "plain of x");
    assert_eq!(farm.count("x", "read") + farm.count("x", "prompt greet"), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn arguments_of_prompts_are_judged_like_those_of_tools() {
    let farm = farm_with("[groups.local]\ndeny = ['*/prompt:greet name == Eve']\n");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    assert_eq!(get(&kit, &view, "mcp_x_greet", r#"{"name":"Ada"}"#).await.unwrap(), "Hello Ada");
    assert_eq!(get(&kit, &view, "mcp_x_greet", r#"{"name":"Eve"}"#).await.unwrap_err(), ErrorKind::Denied);
    farm.close(kit).await;
}

#[tokio::test]
async fn t34_what_is_a_users_own_is_read_by_that_user_alone() {
    let farm = Farm::new();
    let offers = ["--offers", "good", "--name", "x"];
    for (name, value) in [("ada", "hers"), ("bob", "his")] {
        let mut entry = farm.entry("x", &offers, &json!({"env": {"VALUE": value}}));
        entry["name"] = "x".into();
        farm.house.put(&format!("kit/config/servers/user_{name}/x.json"), entry.to_string());
    }
    let (ada, bob) = (
        open_for(&farm, "ada", farm.options(calm())).await,
        open_for(&farm, "bob", farm.options(calm())).await,
    );
    for (kit, value) in [(&ada, "hers"), (&bob, "his")] {
        assert_eq!(read(kit, &kit.own_view(), "kitbag+x:fake://variable").await.unwrap(), value);
        let other = kit.view(&user("eve"), &AgentRules::default()).unwrap();
        assert!(uris(kit, &other).await.is_empty() && prompts(kit, &other).await.is_empty());
        assert_eq!(read(kit, &other, "kitbag+x:fake://variable").await.unwrap_err(), ErrorKind::NotFound);
    }
    ada.close().await;
    farm.close(bob).await;
}

#[tokio::test]
async fn t34_nobody_is_led_by_the_links_of_another() {
    let farm = two();
    farm.settings("[users.ada]\n[users.bob]\n");
    let kit = farm.open(calm()).await;
    let (ada, bob) = (view_of(&kit, "ada").await, view_of(&kit, "bob").await);
    let call = kitbag::ToolCall::new("mcp_y_resource_link", "{}");
    kit.call_tool(&ada, call).await.unwrap();
    let link = "fake://linked";
    let read = async |view| kit.read_resource(view, link, CallOptions::default()).await.unwrap_err();
    read(&bob).await;
    assert_eq!(farm.count("x", "read"), 1, "in order, as nothing is known of it");
    read(&ada).await;
    let (x, y) = (farm.events("x", "read"), farm.events("y", "read"));
    assert_eq!((x.len(), y.len()), (2, 2), "{x:?} {y:?}");
    kit.lives("x").await;
    farm.close(kit).await;
}

/// A prompt that has to be approved can be, like a tool; one that changes afterwards is held again.
#[tokio::test]
async fn t21_prompts_are_approved_as_tools_are() {
    let farm = Farm::of("changing", &["--offers", "good", "--name", "changing"]);
    farm.settings("[pins]\nmode = 'strict'\n");
    let store = Arc::new(MemoryStore::default());
    let kit = farm.open_with(OpenOptions { store: Some(store), ..farm.options(calm()) }).await;
    let view = kit.own_view();
    let (listed, faults) = kit.prompts(&view).await;
    assert!(listed.is_empty() && faults.iter().any(|fault| fault.to_string().contains("prompt:greet")));
    let greet = "mcp_changing_greet";
    assert_eq!(get(&kit, &view, greet, r#"{"name":"Ada"}"#).await, Err(ErrorKind::Held));
    let status = async || {
        let all = kit.pinned_tools().await.unwrap();
        all.iter().find(|pinned| pinned.tool.as_str() == "prompt:greet").unwrap().status
    };
    assert_eq!(status().await, PinStatus::New);
    let all = kit.pinned_tools().await.unwrap();
    let keys: Vec<_> = all.into_iter().map(|pinned| (pinned.server, pinned.tool)).collect();
    assert_eq!(kit.approve_definitions(&keys).await, Ok(keys.len()));
    assert_eq!(status().await, PinStatus::Approved);
    assert!(prompts(&kit, &view).await.contains(&greet.to_owned()));
    assert!(get(&kit, &view, greet, r#"{"name":"Ada"}"#).await.is_ok());
    let mut changes = kit.watch_offered();
    kit.call("changing/grow", "{}").await.unwrap();
    while status().await != PinStatus::Changed {
        testkit::in_time(changes.changed()).await.unwrap();
    }
    assert_eq!(get(&kit, &kit.own_view(), greet, r#"{"name":"Ada"}"#).await, Err(ErrorKind::Held));
    assert!(get(&kit, &kit.own_view(), "mcp_changing_plain", "{}").await.is_ok(), "no other");
    farm.close(kit).await;
}
