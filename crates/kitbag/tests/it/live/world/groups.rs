//! What the groups of `kitbag.toml` let their members see and call: listed, found and callable are the same, and what is
//! denied does not exist.

use std::sync::Arc;

use kitbag::{AgentRules, ErrorKind, Kitbag, Provider, ToolCall};

use super::super::farm::{Opens as _, first};
use super::super::{Farm, calm};
use super::{listed, user};

const HI: &str = r#"{"message":"hi"}"#;

fn names(kit: &Kitbag, who: &str) -> Vec<String> {
    listed(&kit.view(&user(who), &AgentRules::default()).unwrap())
}

async fn kind(kit: &Kitbag, who: &str, tool: &str, arguments: &str) -> Option<ErrorKind> {
    let view = kit.view(&user(who), &AgentRules::default()).unwrap();
    kit.call_tool(&view, ToolCall::new(tool, arguments)).await.err().map(|error| error.kind)
}

#[tokio::test]
async fn s2_18_groups_bind_what_is_listed_and_what_is_called() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[groups.readers]\nallow = ['x/echo', 'x/add']\n[groups.careful]\ndeny = ['*/add']\napprove = ['x/sleep']\n\
         [users.ada]\ngroups = ['readers']\n[users.bob]\ngroups = ['readers', 'careful']\n[users.eve]\n",
    );
    let kit = farm.open(calm()).await;
    assert_eq!(names(&kit, "ada"), ["mcp_x_add", "mcp_x_echo"]);
    assert_eq!(names(&kit, "bob"), ["mcp_x_echo"]);
    assert!(2 < names(&kit, "eve").len());
    assert_eq!(kind(&kit, "ada", "mcp_x_add", r#"{"a":1,"b":2}"#).await, None);
    // As if it were not there, and not suggested either.
    let view = kit.view(&user("bob"), &AgentRules::default()).unwrap();
    let error = kit.call_tool(&view, ToolCall::new("mcp_x_ad", "{}")).await.unwrap_err();
    assert!(error.kind == ErrorKind::NotFound && !error.to_string().contains("mcp_x_add"), "{error}");
    for name in ["mcp_x_add", "x/add", "add", "x_add"] {
        assert_eq!(kind(&kit, "bob", name, r#"{"a":1,"b":2}"#).await, Some(ErrorKind::NotFound), "{name}");
    }
    assert_eq!(farm.count("x", "call add"), 1);
    farm.close(kit).await;
}

/// Views and presentations are kept for those who ask again: each user's are their own, with equal wishes too.
#[tokio::test]
async fn s2_18_two_users_never_read_what_was_made_for_the_other() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[groups.a]\nallow = ['x/add']\n[groups.b]\nallow = ['x/echo']\n\
         [users.ada]\ngroups = ['a']\n[users.bob]\ngroups = ['b']\n[users.eve]\ngroups = ['a']\n",
    );
    let kit = farm.open(calm()).await;
    let rules = AgentRules::default();
    let options = kit.present_options(&rules, Provider::Anthropic);
    for round in 0..3 {
        for (who, own, others) in [("ada", "add", "echo"), ("bob", "echo", "add"), ("eve", "add", "echo")] {
            let view = kit.view(&user(who), &rules).unwrap();
            let again = kit.view(&user(who), &rules).unwrap();
            assert!(Arc::ptr_eq(&view, &again), "kept for {who}");
            assert_eq!(view.user(), &user(who));
            let shown = kit.present(&view, &options);
            assert!(Arc::ptr_eq(&shown, &kit.present(&again, &options)), "kept for {who}");
            let text = shown.tools.to_string();
            assert!(
                text.contains(&format!("mcp_x_{own}\"")) && !text.contains(&format!("mcp_x_{others}\"")),
                "{round}: {who}: {text}"
            );
        }
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_18_the_local_user_may_do_what_their_group_does_not_deny() {
    let farm = Farm::of("x", &[]);
    farm.settings("[groups.local]\ndeny = ['x/add']\napprove = ['x/echo']\n[users.eve]\n");
    let kit = farm.open(calm()).await;
    assert!(!names(&kit, "local").contains(&"mcp_x_add".to_owned()));
    assert!(names(&kit, "local").contains(&"mcp_x_echo".to_owned()));
    assert_eq!(kind(&kit, "local", "x/echo", HI).await, Some(ErrorKind::ApprovalDenied));
    assert_eq!(kind(&kit, "eve", "x/echo", HI).await, None);
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_18_a_group_that_is_not_there_or_cannot_be_read_denies_its_members_alone() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[groups.dev]\ndeny = ['risk:destructiv']\n[groups.ops]\ndeni = ['x/add']\n[groups.all]\n\
         [users.ada]\ngroups = ['dve']\n[users.bob]\ngroups = ['dev']\n[users.cat]\ngroups = ['ops']\n\
         [users.eve]\ngroups = ['all']\n",
    );
    let kit = farm.open(calm()).await;
    for who in ["ada", "bob", "cat"] {
        assert_eq!(names(&kit, who), [""; 0], "{who}");
        assert_eq!(kind(&kit, who, "x/echo", HI).await, Some(ErrorKind::NotFound), "{who}");
    }
    assert_eq!(kind(&kit, "eve", "x/echo", HI).await, None);
    let faults: Vec<String> = kit.faults().iter().map(ToString::to_string).collect();
    let told = |words: &str| faults.iter().any(|fault| fault.contains(words));
    assert!(told("no group is called \"dve\"") && told("did you mean risk:destructive?"), "{faults:?}");
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_19_rules_on_arguments_decide_when_a_call_is_made() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[groups.local]\ndeny = ['x/echo message == secret*']\n[servers.x]\napprove = ['echo message != h*']\n",
    );
    let kit = farm.open(calm()).await;
    assert_eq!(first(&kit.call("x/echo", HI).await.unwrap()), "hi");
    assert_eq!(kit.call("x/echo", r#"{"message":"secrets"}"#).await.unwrap_err().kind, ErrorKind::Denied);
    assert_eq!(
        kit.call("x/echo", r#"{"message":"other"}"#).await.unwrap_err().kind,
        ErrorKind::ApprovalDenied
    );
    assert_eq!(farm.count("x", "call echo"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn t23_only_the_operators_word_makes_a_tool_harmless() {
    let farm = Farm::of("x", &[]);
    let rules = "[groups.local]\nallow = ['risk:read']\n";
    farm.settings(rules);
    let kit = farm.open(calm()).await;
    assert_eq!(names(&kit, "local"), [""; 0]);
    farm.settings(&format!(
        "{rules}[servers.x]\nread_only = ['echo']\n[servers.x.tools.add]\nrisk = ['read']\n"
    ));
    kit.reload().await.unwrap();
    assert_eq!(names(&kit, "local"), ["mcp_x_add", "mcp_x_echo"]);
    farm.settings("[groups.local]\ndeny = ['risk:open']\n[servers.x]\nrisk = ['write']\n");
    kit.reload().await.unwrap();
    assert!(names(&kit, "local").len() > 2);
    farm.settings("[groups.local]\ndeny = ['risk:write']\n[servers.x]\nrisk = ['write']\n");
    kit.reload().await.unwrap();
    assert_eq!(names(&kit, "local"), [""; 0]);
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_15_agents_have_rules_of_their_own() {
    let farm = Farm::of("x", &[]);
    farm.settings("[agents.a]\nallow = ['x/*']\ndeny = ['x/add']\napprove = ['x/echo']\n");
    let kit = farm.open(calm()).await;
    let view = kit.view(&user("local"), &kit.agent("a").unwrap()).unwrap();
    assert!(
        !listed(&view).contains(&"mcp_x_add".to_owned()) && listed(&view).contains(&"mcp_x_echo".to_owned())
    );
    let done = kit.call_tool(&view, ToolCall::new("mcp_x_echo", HI)).await;
    assert_eq!(done.unwrap_err().kind, ErrorKind::ApprovalDenied);
    assert_eq!(first(&kit.call("x/echo", HI).await.unwrap()), "hi");
    farm.close(kit).await;
}
