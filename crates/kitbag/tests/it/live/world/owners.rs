//! f6, f8 and f84: what is one user's stays that user's; what is shared comes back as it was shared.

use kitbag::cli::READ_RESULT;
use kitbag::files::SecretStore;
use kitbag::{AgentRules, Kitbag, LocalTool, OpenOptions, Secret, ToolCall, UserId};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, calm, until};
use super::{LONG, listed, open_for, pid, put_own, server, setup_of, switch_off, user, variable};

async fn two(farm: &Farm) -> [Kitbag; 2] {
    let options = || farm.options(calm());
    [open_for(farm, "ada", options()).await, open_for(farm, "bob", options()).await]
}

/// Kills a server as a crash would, and waits until another one runs.
async fn crash(farm: &Farm, kit: &Kitbag) {
    let before = farm.count("x", "start");
    kit.ask("x", "die", json!({"how": "kill"})).await.unwrap_err();
    assert!(until(LONG, || farm.count("x", "start") == before + 1).await);
}

#[tokio::test]
async fn f6_a_shared_server_comes_back_as_it_was_given() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"env": {"VALUE": "shared"}}));
    farm.settings("[users.ada]\n[users.bob]\n");
    let [ada, bob] = two(&farm).await;
    let first_pid = pid(&ada, "x").await;
    assert_eq!(first_pid, pid(&bob, "x").await);
    // Ada's files say otherwise by now, and she opened it first; nobody has looked at them yet.
    let other = farm.entry("x", &[], &json!({"env": {"VALUE": "of ada"}}));
    put_own(&farm, "ada", "x", other);
    crash(&farm, &bob).await;
    assert_eq!(variable(&bob, "x", "VALUE").await, "shared");
    // Now she has: hers is another, and his is as it was.
    let shared = pid(&bob, "x").await;
    ada.reload().await.unwrap();
    assert_eq!(variable(&ada, "x", "VALUE").await, "of ada");
    assert_eq!((variable(&bob, "x", "VALUE").await, pid(&bob, "x").await), ("shared".to_owned(), shared));
    // The file of everybody changes: what is running obeys once it is applied.
    farm.add_with("x", &[], &json!({"env": {"VALUE": "new"}}));
    crash(&farm, &bob).await;
    assert_eq!(variable(&bob, "x", "VALUE").await, "shared");
    bob.reload().await.unwrap();
    assert_eq!(variable(&bob, "x", "VALUE").await, "new");
    ada.close().await;
    farm.close(bob).await;
}

#[tokio::test]
async fn f6_who_switches_a_shared_server_off_does_so_for_themselves() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let [ada, bob] = two(&farm).await;
    let before = pid(&bob, "x").await;
    switch_off(&farm, "ada", "x");
    // Before and after she knows of it, and after a crash.
    crash(&farm, &bob).await;
    let after = pid(&bob, "x").await;
    assert_ne!(before, after);
    ada.reload().await.unwrap();
    assert!(ada.link(&server("x")).is_none());
    assert_eq!(pid(&bob, "x").await, after);
    crash(&farm, &bob).await;
    assert_ne!(pid(&bob, "x").await, after);
    ada.close().await;
    farm.close(bob).await;
}

/// The two have processes of their own, each with its value.
async fn are_apart(farm: &Farm, values: [&str; 2], why: &str) {
    let both = two(farm).await;
    assert_ne!(pid(&both[0], "x").await, pid(&both[1], "x").await, "{why}");
    for (kit, value) in both.iter().zip(values) {
        assert_eq!(variable(kit, "x", "VALUE").await, value, "{why}");
        crash(farm, kit).await;
        assert_eq!(variable(kit, "x", "VALUE").await, value, "{why}: after a crash");
        // Whoever else asks by this handle has nothing of it.
        let other = kit.view(&user("eve"), &AgentRules::default()).unwrap();
        assert_eq!(listed(&other), Vec::<String>::new(), "{why}");
    }
    let [ada, bob] = both;
    ada.close().await;
    farm.close(bob).await;
}

#[tokio::test]
async fn f6_what_is_a_users_own_is_never_shared() {
    // The same words in both folders are two servers all the same.
    let farm = Farm::new();
    for name in ["ada", "bob"] {
        put_own(&farm, name, "x", farm.entry("x", &[], &json!({"env": {"VALUE": "same"}})));
    }
    are_apart(&farm, ["same", "same"], "own files").await;

    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"env": {"VALUE": "same"}}));
    farm.settings("[users.ada]\n[users.bob]\n[servers.x]\nper_user = true\n");
    are_apart(&farm, ["same", "same"], "per_user").await;
}

#[tokio::test]
async fn f6_answers_to_inputs_are_the_users() {
    for values in [["hers", "his"], ["same", "same"]] {
        let farm = Farm::new();
        let inputs = json!([{"id": "key", "type": "promptString", "description": "The key"}]);
        farm.add_with("x", &[], &json!({"env": {"VALUE": "${input:key}"}, "inputs": inputs}));
        farm.settings("[users.ada]\n[users.bob]\n[users.cyd]\n");
        for (name, value) in ["ada", "bob"].into_iter().zip(values) {
            let setup = setup_of(&farm, name);
            let spec = setup.used().next().unwrap();
            SecretStore::keep(&setup.folders, &user(name), spec, "key", &Secret::new(value)).unwrap();
        }
        are_apart(&farm, values, "answers").await;
        // Who gave none has none.
        let starts = farm.count("x", "start");
        let cyd = open_for(&farm, "cyd", farm.options(calm())).await;
        assert_eq!(farm.count("x", "start"), starts, "{:?}", cyd.status());
        farm.close(cyd).await;
    }
}

fn who() -> LocalTool {
    let schema = json!({"type": "object"});
    LocalTool::with_schema(
        "who",
        "Says who calls",
        schema,
        |_, caller| async move { Ok(caller.user.to_string()) },
    )
}

#[tokio::test]
async fn f8_a_handle_of_a_user_is_that_user_everywhere() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n");
    let kit = open_for(&farm, "ada", OpenOptions { local: vec![who()], ..farm.options(calm()) }).await;
    assert_eq!((kit.user(), kit.own_view().user()), (&user("ada"), &user("ada")));
    assert_eq!(first(&kit.call("who", "{}").await.unwrap()), "ada");
    kit.call("mcp_x_echo", r#"{"message":"hi"}"#).await.unwrap();
    let calls = kit.recent_calls();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|record| record.user == user("ada")), "{calls:?}");
    assert_eq!(kit.recent_calls_of(&UserId::local()).len(), 0);
    // A denial of hers is obeyed where nobody names her.
    farm.settings("[users.ada]\ngroups = ['dev']\n");
    kit.reload().await.unwrap();
    kit.call("mcp_x_echo", r#"{"message":"hi"}"#).await.unwrap_err();
    assert_eq!(farm.count("x", "call echo"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn f8_a_stored_result_is_read_by_its_user_alone() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let mut limits = calm();
    limits.result = 2_000;
    let open = async |name| open_for(&farm, name, farm.options(limits.clone())).await;
    let (ada, bob) = (open("ada").await, open("bob").await);
    let large = ada.call("mcp_x_big", r#"{"bytes":9000}"#).await.unwrap();
    let handle = large.info.handle.unwrap();
    let page = json!({"handle": handle, "page": 2}).to_string();
    let read = |kit: &Kitbag, name: &str| {
        let (kit, view) = (kit.clone(), kit.view(&user(name), &AgentRules::default()).unwrap());
        let page = page.clone();
        async move {
            let done = kit.call_tool(&view, ToolCall::new(READ_RESULT, page.as_str())).await;
            done.is_ok_and(|result| !result.is_error && first(&result).contains("xxxx"))
        }
    };
    assert!(read(&ada, "ada").await);
    assert!(!read(&bob, "bob").await, "by his own handle");
    assert!(!read(&ada, "bob").await, "by hers");
    let local = farm.open(limits.clone()).await;
    assert!(!read(&local, "local").await, "by the local user");
    assert!(read(&ada, "ada").await);
    for kit in [ada, bob] {
        kit.close().await;
    }
    farm.close(local).await;
}

/// The log of a shared server is everybody's.
#[tokio::test]
async fn f84_arguments_are_in_records_and_in_no_log() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let [ada, bob] = two(&farm).await;
    ada.call("mcp_x_echo", r#"{"message":"a diagnosis"}"#).await.unwrap();
    assert!(ada.recent_calls()[0].arguments.contains("a diagnosis"));
    ada.close().await;
    farm.close(bob).await;
    let log = farm.log("x");
    assert!(log.contains("call echo ok "), "{log}");
    assert!(!log.contains("diagnosis"), "{log}");
}

/// Names of the folders below these of the state and the cache, as a file system that folds case has them.
fn folded(farm: &Farm, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(farm.house.path(folder)).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_str().unwrap().to_lowercase()).collect();
    names.sort();
    names.dedup();
    names
}

#[tokio::test]
async fn f8_users_whose_names_differ_by_case_share_no_folder() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.Ada]\n[users.ADA]\n[servers.x]\nper_user = true\n");
    let mut limits = calm();
    limits.result = 2_000;
    for name in ["ada", "Ada", "ADA"] {
        let kit = open_for(&farm, name, farm.options(limits.clone())).await;
        let large = kit.call("mcp_x_big", r#"{"bytes":9000}"#).await.unwrap();
        assert!(large.info.handle.is_some());
        farm.close(kit).await;
    }
    for folder in ["kit/state/results", "kit/state/logs", "kit/cache/tools"] {
        let folders = folded(&farm, folder);
        assert_eq!(folders.len(), 3, "{folder}: {folders:?}");
        assert!(folders.contains(&"user_ada".to_owned()), "{folder}: {folders:?}");
    }
}

/// A file that cannot be read may have switched off the server it is named after.
#[tokio::test]
async fn f3_a_users_file_that_cannot_be_read_opens_nothing() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    put_own(&farm, "ada", "x", json!({"enabled": false}));
    let file = "kit/config/servers/user_ada/x.json";
    let whole = std::fs::read_to_string(farm.house.path(file)).unwrap();
    farm.house.put(file, &whole[..whole.len() / 2]);
    let ada = open_for(&farm, "ada", farm.options(calm())).await;
    let shown = listed(&ada.own_view());
    assert!(!shown.iter().any(|name| name.starts_with("mcp_x_")), "{shown:?}");
    assert!(shown.iter().any(|name| name.starts_with("mcp_y_")), "{shown:?}");
    // Another user's are another's.
    let local = farm.open(calm()).await;
    assert!(listed(&local.own_view()).iter().any(|name| name.starts_with("mcp_x_")));
    local.close().await;
    farm.close(ada).await;
}
