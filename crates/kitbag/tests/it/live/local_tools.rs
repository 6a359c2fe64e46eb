//! Tools of the program itself among those of servers: one catalog, one way to call, and a rule for when both
//! want one name.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kitbag::{
    AgentRules, ErrorKind, FaultKind, Kitbag, LocalTool, OpenOptions, Severity, ToolCall, UserId, View,
};
use kitbag_core::model::Clash;
use kitbag_core::names::NameForm;
use serde_json::{Value, json};

use super::farm::Opens as _;
use super::{Farm, calm, first, names};

/// A tool that says it is the local one.
fn local(name: &str) -> LocalTool {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    LocalTool::with_schema(name, "Here", schema, |arguments, caller| async move {
        Ok(format!("local {} {}", caller.user, Value::Object(arguments)))
    })
}

async fn open(farm: &Farm, local: Vec<LocalTool>) -> Kitbag {
    farm.open_with(OpenOptions { local, ..farm.options(calm()) }).await
}

fn view(kit: &Kitbag, clash: Clash, form: NameForm) -> Arc<View> {
    let agent = AgentRules { clash, names: Some(form), ..AgentRules::default() };
    kit.view(&UserId::local(), &agent).unwrap()
}

async fn says(kit: &Kitbag, view: &View, name: &str) -> String {
    let done = kit.call_tool(view, ToolCall::new(name, r#"{"a":1,"b":2}"#)).await;
    done.map_or_else(|failure| failure.for_model(), |result| first(&result).to_owned())
}

#[tokio::test]
async fn s3_21_local_tools_live_in_the_same_catalog() {
    let farm = Farm::of("x", &[]);
    let kit = open(&farm, vec![local("greet")]).await;
    let view = kit.own_view();
    assert!(names(&view).contains(&"greet".to_owned()) && names(&view).contains(&"mcp_x_add".to_owned()));
    for name in ["greet", "mcp_local_greet", "local/greet", "Greet"] {
        let result = kit.call(name, r#"{"a":"1"}"#).await.unwrap();
        assert_eq!(first(&result), r#"local local {"a":1}"#, "coerced and called like any other");
        assert_eq!((result.info.server.as_str(), result.info.transport), ("local", None));
    }
    let wrong = kit.call("greet", r#"{"a":[]}"#).await.unwrap_err();
    assert_eq!(wrong.kind, ErrorKind::InvalidArguments);
    assert_eq!(kit.recent_calls().len(), 5);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_21_a_server_called_local_keeps_its_name() {
    let farm = Farm::of("local", &[]);
    let kit = open(&farm, vec![local("greet")]).await;
    assert_eq!(first(&kit.call("mcp_local_add", r#"{"a":1,"b":2}"#).await.unwrap()), "3");
    let greeted = kit.call("greet", "{}").await.unwrap();
    assert_eq!(greeted.info.server.as_str(), "local_2");
    farm.close(kit).await;
}

#[tokio::test]
async fn s4_7_who_wins_a_name_is_the_agents_choice_and_said_once_for_each() {
    let farm = Farm::of("x", &[]);
    let kit = open(&farm, vec![local("add"), local("echo"), local("greet")]).await;
    // policy, what `add` is, what x's full name is, what the local one's full name is, which are listed
    let here = r#"local local {"a":1,"b":2}"#;
    let rows = [
        (Clash::Prefix, here, "3", here, ["add", "mcp_x_add"].as_slice()),
        (Clash::Mcp, "3", "3", here, &["add"]),
        (Clash::Local, here, "3", here, &["add"]),
    ];
    for (clash, short, theirs, ours, listed) in rows {
        let view = view(&kit, clash, NameForm::Bare);
        let said = (
            says(&kit, &view, "add").await,
            says(&kit, &view, "mcp_x_add").await,
            says(&kit, &view, "mcp_local_add").await,
        );
        assert_eq!(said, (short.into(), theirs.into(), ours.into()), "{clash:?}");
        let all = names(&view);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{clash:?}: a name twice");
        let adds: Vec<&String> = all.iter().filter(|name| name.ends_with("add")).collect();
        assert_eq!(adds, listed, "{clash:?}");
        // One warning for each name that both want, none for those only one has.
        let clashes: Vec<_> = view.faults().iter().filter(|fault| fault.kind == FaultKind::Clash).collect();
        assert_eq!(clashes.len(), 2, "{clash:?}: {clashes:?}");
        for (fault, name) in clashes.iter().zip(["add", "echo"]) {
            assert_eq!(fault.severity, Severity::Warning);
            assert!(
                fault.message.contains(name) && fault.server.as_ref().unwrap().as_str() == "x",
                "{fault}"
            );
        }
    }
    let agent = AgentRules { clash: Clash::Error, names: Some(NameForm::Bare), ..AgentRules::default() };
    let error = kit.view(&UserId::local(), &agent).unwrap_err();
    assert_eq!((error.name.as_str(), error.server.as_str(), error.tool.as_str()), ("add", "x", "add"));
    // By full names there is nothing to quarrel about.
    let full = view(&kit, Clash::Error, NameForm::Full);
    assert!(full.faults().is_empty(), "{:?}", full.faults());
    farm.close(kit).await;
}

/// A local tool may be called what a server's tool is called in full: both can still be called.
#[tokio::test]
async fn s3_21_a_local_tool_does_not_hide_behind_a_full_name() {
    let farm = Farm::of("x", &[]);
    let kit = open(&farm, vec![local("mcp_x_add")]).await;
    for clash in [Clash::Prefix, Clash::Mcp, Clash::Local] {
        let view = view(&kit, clash, NameForm::Full);
        let all = names(&view);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{clash:?}: a name twice");
        assert_eq!(says(&kit, &view, "x/add").await, "3", "{clash:?}");
        assert!(says(&kit, &view, "local/mcp_x_add").await.starts_with("local"), "{clash:?}");
        assert_eq!(says(&kit, &view, "mcp_x_add").await, "3", "{clash:?}: a full name always works");
        assert!(!view.faults().is_empty(), "{clash:?}: never silent");
    }
    farm.close(kit).await;
}

/// Names of several forms in one view, drawn to collide: `x_y` bare, and `x` + `y` short.
#[tokio::test]
async fn t22_forms_mixed_in_one_view_do_not_meet_in_one_name() {
    let farm = Farm::new();
    let tool = |name: &str| json!([{"name": name, "description": "d", "inputSchema": {"type": "object"}}]);
    farm.add_echo("a", &tool("x_y"));
    farm.add_echo("x", &tool("y"));
    farm.settings("[servers.a]\nnames = 'bare'\n[servers.x]\nnames = 'short'");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let all = names(&view);
    assert_eq!(all.len(), 3);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    for shown in view.tools().iter().filter(|shown| shown.tool.server.as_str() != "local") {
        let result = kit.call(shown.name.as_str(), "{}").await.unwrap();
        assert_eq!(
            (&result.info.server, result.info.tool.as_str()),
            (&shown.tool.server, shown.tool.name.as_str())
        );
    }
    assert_eq!((farm.count("a", "exec x_y"), farm.count("x", "exec y")), (1, 1));
    farm.close(kit).await;
}

#[tokio::test]
async fn local_tools_that_fail_or_never_end_end() {
    let farm = Farm::new();
    let schema = || json!({"type": "object"});
    let fails = LocalTool::with_schema("fails", "Fails", schema(), |_, _| async {
        Err::<(), _>("the disk is full".to_owned())
    });
    let hangs =
        LocalTool::with_schema("hangs", "Hangs", schema(), |_, _| std::future::pending::<Result<(), _>>());
    let mut limits = calm();
    limits.wait_total = Duration::from_millis(300);
    let kit = farm.open_with(OpenOptions { local: vec![fails, hangs], ..farm.options(limits) }).await;
    let failed = kit.call("fails", "{}").await.unwrap();
    assert_eq!((failed.is_error, first(&failed)), (true, "the disk is full"));
    assert_eq!(kit.call("hangs", "{}").await.unwrap_err().kind, ErrorKind::OutcomeUnknown);
    farm.close(kit).await;
}
