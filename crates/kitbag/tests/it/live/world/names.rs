//! f25 and f74: a name means the same wherever the same files are, and never another server's tool because its own
//! is slow.

use std::time::Duration;

use kitbag::cli::{HeldName, NamesFiles};
use kitbag::{DiscoverOptions, ErrorKind, Kitbag, LinkState, Setup};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, calm, until};
use super::{LONG, listed, open_for, put_own, switch_off};

const BARE: &str = "[present]\nnames = 'bare'\n";
const HI: &str = r#"{"message":"hi"}"#;

/// A farm with two servers that have the same tools, each started after so many milliseconds.
fn two(delays: [&str; 2]) -> Farm {
    let farm = Farm::new();
    for (name, delay) in ["a", "b"].into_iter().zip(delays) {
        farm.add(name, &["--start-delay", delay]);
    }
    farm.settings(BARE);
    farm
}

/// Lets names go that are kept for tools.
fn free(farm: &Farm, is_freed: impl Fn(&HeldName) -> bool) {
    assert!(!NamesFiles::of(&farm.setup()).unwrap().free(is_freed).unwrap().is_empty());
}

/// Every name and whose tool it is.
fn owned(kit: &Kitbag) -> Vec<String> {
    let view = kit.own_view();
    let mut all: Vec<String> = view
        .tools()
        .iter()
        .map(|shown| format!("{} {}/{}", shown.name, shown.tool.server, shown.tool.name))
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn f25_bare_names_do_not_depend_on_who_is_first() {
    let mut seen = Vec::new();
    for delays in [["0", "0"], ["700", "0"], ["0", "700"]] {
        let farm = two(delays);
        let kit = farm.open(calm()).await;
        seen.push(owned(&kit));
        farm.close(kit).await;
        // What was given stays, whoever is first the next time.
        let other = two(["0", "0"]);
        let names = farm.house.text("kit/config/names.json");
        other.house.put("kit/config/names.json", &names);
        let kit = other.open(calm()).await;
        assert_eq!(&owned(&kit), seen.last().unwrap());
        other.close(kit).await;
        assert_eq!(
            other.house.text("kit/config/names.json"),
            names,
            "a file that people keep does not flicker"
        );
    }
    assert_eq!(seen[0], seen[1], "a is slow");
    assert_eq!(seen[0], seen[2], "b is slow");
}

#[tokio::test]
async fn f25_what_was_seen_under_other_files_changes_no_name() {
    let farm = Farm::of("elsewhere", &[]);
    farm.settings(BARE);
    let kit = farm.open(calm()).await;
    farm.close(kit).await;
    assert!(farm.house.text("kit/config/names.json").contains("elsewhere"));
    // Named files begin without names, and leave none behind.
    let before = farm.house.text("kit/config/names.json");
    farm.house.put("named/kitbag.toml", BARE);
    let entry = farm.entry("here", &[], &json!({"name": "here"}));
    farm.house.put("named/here.json", entry.to_string());
    let configs = vec![farm.house.path("named")];
    for _ in 0..2 {
        let request =
            DiscoverOptions { env: farm.env(), configs: configs.clone(), ..DiscoverOptions::default() };
        let kit = Kitbag::start(Setup::discover(&request).unwrap(), farm.options(calm()));
        kit.wait(Duration::from_secs(60)).await;
        assert!(listed(&kit.own_view()).contains(&"echo".to_owned()), "{:?}", listed(&kit.own_view()));
        farm.close(kit).await;
    }
    assert_eq!(farm.house.text("kit/config/names.json"), before);
}

const SHARED: &str = "kit/config/names.json";
const OWN: &str = "kit/config/servers/user_bob/notes.json";

/// Bob with a server of his own beside everybody's, and its names in his folder.
async fn of_bob() -> (Farm, Kitbag) {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.bob]\n");
    put_own(&farm, "bob", "notes", farm.entry("notes", &[], &json!({})));
    let bob = open_for(&farm, "bob", farm.options(calm())).await;
    bob.close().await;
    let own = "kit/config/servers/user_bob/names.json";
    assert!(farm.house.text(own).contains("mcp_notes_echo"));
    let bob = open_for(&farm, "bob", farm.options(calm())).await;
    // What is given in this run, too.
    bob.ask("notes", "grow", json!({})).await.unwrap();
    assert!(until(LONG, || listed(&bob.own_view()).iter().any(|name| name.contains("notes_grown"))).await);
    assert!(until(LONG, || farm.house.text(own).contains("notes_grown")).await);
    (farm, bob)
}

/// Everybody's names know nothing of bob's.
#[track_caller]
fn is_kept_apart(farm: &Farm, why: &str) {
    let shared = farm.house.text(SHARED);
    assert!(shared.contains("mcp_x_echo"), "{why}: {shared}");
    assert!(!shared.contains("notes"), "{why}: {shared}");
}

#[tokio::test]
async fn f25_a_users_own_names_are_not_written_for_everybody() {
    let (farm, bob) = of_bob().await;
    std::fs::remove_file(farm.house.path(OWN)).unwrap();
    bob.reload().await.unwrap();
    farm.close(bob).await;
    is_kept_apart(&farm, "removed");
    // Not there from the beginning, but once it was.
    let bob = open_for(&farm, "bob", farm.options(calm())).await;
    farm.close(bob).await;
    is_kept_apart(&farm, "gone");

    let (farm, bob) = of_bob().await;
    switch_off(&farm, "bob", "notes");
    bob.reload().await.unwrap();
    farm.close(bob).await;
    is_kept_apart(&farm, "switched off");

    // Another server stands under its name: which rows were whose cannot be told.
    let (farm, bob) = of_bob().await;
    std::fs::remove_file(farm.house.path(OWN)).unwrap();
    farm.add("notes", &[]);
    bob.reload().await.unwrap();
    bob.wait(LONG).await;
    farm.close(bob).await;
    is_kept_apart(&farm, "replaced");

    // His folder is gone with everything in it.
    let (farm, bob) = of_bob().await;
    std::fs::remove_dir_all(farm.house.path("kit/config/servers")).unwrap();
    farm.close(bob).await;
    is_kept_apart(&farm, "no folder");
}

/// A program may be killed at any time.
#[tokio::test]
async fn f25_names_are_written_down_once_they_stay() {
    let farm = Farm::of("x", &[]);
    // One that ends at once, but not before the other has listed, decides nothing in the end.
    farm.enter("hopeless", json!({"command": "sh", "args": ["-c", "sleep 0.7; exit 3"]}));
    let kit = farm.open(calm()).await;
    let written = |name: &str| {
        let text = std::fs::read_to_string(farm.house.path(SHARED)).unwrap_or_default();
        text.contains(name)
    };
    assert!(until(LONG, || written("mcp_x_echo")).await, "while it runs");
    kit.ask("x", "grow", json!({})).await.unwrap();
    assert!(until(LONG, || written("mcp_x_grown_")).await, "what came later, too");
    farm.add("y", &[]);
    kit.reload().await.unwrap();
    assert!(until(LONG, || written("mcp_y_echo")).await, "and by a reload");
    farm.close(kit).await;
}

/// What somebody freed stays free, as long as nobody needs it.
#[tokio::test]
async fn f25_freed_names_of_servers_that_are_gone_are_not_written_again() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    let kit = farm.open(calm()).await;
    let has_y = || farm.house.text(SHARED).contains("mcp_y_echo");
    assert!(until(LONG, || farm.house.path(SHARED).exists() && has_y()).await);
    farm.remove("y");
    kit.reload().await.unwrap();
    free(&farm, |held| held.server == "y");
    assert!(!has_y());
    kit.ask("x", "grow", json!({})).await.unwrap();
    assert!(until(LONG, || farm.house.text(SHARED).contains("mcp_x_grown_")).await);
    farm.close(kit).await;
    assert!(!has_y(), "{}", farm.house.text(SHARED));
}

/// Another process changes its files: names wait for it, and nobody waits for names.
#[tokio::test]
async fn f26_names_are_written_under_the_lock() {
    let farm = Farm::of("x", &[]);
    let lock = std::fs::File::create(farm.house.put("kit/state/write.lock", "")).unwrap();
    lock.lock().unwrap();
    let kit = farm.open(calm()).await;
    let is_there = || farm.house.path(SHARED).exists();
    for _ in 0..50 {
        assert_eq!(first(&kit.call("mcp_x_add", r#"{"a":1,"b":2}"#).await.unwrap()), "3");
        assert!(!is_there());
    }
    lock.unlock().unwrap();
    assert!(until(LONG, is_there).await);
    farm.close(kit).await;
}

#[tokio::test]
async fn f25_names_are_shown_and_freed() {
    let farm = Farm::of("old", &[]);
    farm.settings(BARE);
    let open = async || {
        let kit = farm.open(calm()).await;
        let names = owned(&kit);
        farm.close(kit).await;
        names
    };
    assert!(open().await.contains(&"echo old/echo".to_owned()));
    farm.remove("old");
    farm.add("new", &[]);
    // It is kept for whoever had it.
    assert!(!open().await.contains(&"echo new/echo".to_owned()));
    // The new one is named after it was freed, but what it was given meanwhile is its own.
    free(&farm, |held| held.server == "old");
    free(&farm, |held| (&*held.server, &*held.tool) == ("new", "echo"));
    assert!(open().await.contains(&"echo new/echo".to_owned()));
}

/// One has had its names before the other came; then it is slow and nothing of it is remembered.
async fn cold(args: &[&str]) -> Farm {
    let farm = Farm::of("a", &[]);
    farm.settings(BARE);
    let kit = farm.open(calm()).await;
    assert!(owned(&kit).contains(&"echo a/echo".to_owned()), "{:?}", owned(&kit));
    farm.close(kit).await;
    farm.add("a", args);
    farm.add("b", &[]);
    std::fs::remove_dir_all(farm.house.path("kit/cache")).unwrap();
    farm
}

#[tokio::test]
async fn f74_a_bare_name_waits_for_its_server() {
    let farm = cold(&["--start-delay", "1500"]).await;
    let kit = farm.start(calm());
    // The other one is there long before.
    kit.reaches("b", LinkState::Ready).await;
    assert_eq!(first(&kit.call("echo", HI).await.unwrap()), "hi");
    assert_eq!((farm.count("a", "call echo"), farm.count("b", "call echo")), (1, 0));
    farm.close(kit).await;
}

#[tokio::test]
async fn f74_a_bare_name_reaches_nobody_else_when_its_server_never_comes() {
    let farm = cold(&["--fault", "s05"]).await;
    let mut limits = calm();
    limits.wait_agent = Duration::from_millis(500);
    let kit = farm.start(limits);
    kit.reaches("b", LinkState::Ready).await;
    let error = kit.call("echo", HI).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous, "{error}");
    assert!(error.for_model().contains("mcp_b_echo"), "how it is reached: {}", error.for_model());
    assert_eq!(farm.count("b", "call echo"), 0);
    // By a name that is the other's own there is no doubt.
    kit.call("b/echo", HI).await.unwrap();
    assert_eq!(farm.count("b", "call echo"), 1);
    farm.close(kit).await;
}

/// One server's short form is another one's own name of a tool.
#[tokio::test]
async fn f74_a_short_form_is_not_taken_for_another_servers_tool() {
    let definition = json!([{"name": "good_echo", "inputSchema": {"type": "object"}}]);
    for args in [&[][..], &["--start-delay", "1000"], &["--fault", "s05"]] {
        let farm = Farm::of("good", args);
        farm.add_echo("x", &definition);
        let mut limits = calm();
        if args.contains(&"s05") {
            limits.wait_agent = Duration::from_millis(500);
        }
        let kit = farm.start(limits);
        kit.reaches("x", LinkState::Ready).await;
        let error = kit.call("good_echo", HI).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Ambiguous, "{args:?}: {error}");
        assert_eq!(farm.count("x", "call good_echo"), 0, "{args:?}");
        kit.call("mcp_x_good_echo", HI).await.unwrap();
        assert_eq!(farm.count("x", "call good_echo"), 1);
        farm.close(kit).await;
    }
}
