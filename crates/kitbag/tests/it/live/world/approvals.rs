//! f2: a call that needs approval by a person is asked for or refused, and a restriction that nothing enforces yet denies
//! whomever it covers.

use std::sync::{Arc, Mutex};

use kitbag::{
    AgentRules, ApprovalRequest, Approver, Authorize, BoxFuture, Decision, ErrorKind, OpenOptions, Tool,
    ToolCall, UserId,
};
use serde_json::json;

use super::super::farm::{Opens as _, first};
use super::super::{Farm, calm};
use super::{listed, user};

const HI: &str = r#"{"message":"hi"}"#;

/// A person who says the same to everything, and remembers what was asked.
struct Person {
    says: bool,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Person {
    fn who_says(says: bool) -> Arc<Self> {
        Arc::new(Self { says, asked: Mutex::default() })
    }

    fn was_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Approver for Person {
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, bool> {
        self.asked.lock().unwrap().push(approval);
        Box::pin(async move { self.says })
    }
}

#[tokio::test]
async fn f2_with_nobody_to_ask_a_call_that_needs_a_yes_is_denied() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let kit = farm.open(calm()).await;
    // Listed, so that a person can be asked where there is one.
    assert!(listed(&kit.own_view()).contains(&"mcp_x_echo".to_owned()));
    for name in ["mcp_x_echo", "x/echo", "echo"] {
        let error = kit.call(name, HI).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::ApprovalDenied, "{name}: {error}");
    }
    assert_eq!(first(&kit.call("mcp_x_add", r#"{"a":1,"b":2}"#).await.unwrap()), "3");
    farm.close(kit).await;
    assert_eq!(farm.count("x", "call echo"), 0);
    farm.is_empty();
}

#[tokio::test]
async fn f2_the_person_who_is_asked_decides() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    for says in [true, false] {
        let person = Person::who_says(says);
        let before = farm.count("x", "call echo");
        let kit =
            farm.open_with(OpenOptions { approver: Some(person.clone()), ..farm.options(calm()) }).await;
        let done = kit.call("mcp_x_echo", HI).await;
        match says {
            true => assert_eq!(first(&done.unwrap()), "hi"),
            false => assert_eq!(done.unwrap_err().kind, ErrorKind::ApprovalDenied),
        }
        assert_eq!(farm.count("x", "call echo") - before, usize::from(says));
        kit.call("mcp_x_add", r#"{"a":1,"b":2}"#).await.unwrap();
        let asked = person.asked.lock().unwrap().clone();
        assert_eq!(asked.len(), 1, "only what needs it is asked for");
        let ApprovalRequest { user, server, tool, arguments } = &asked[0];
        assert_eq!((user, server.as_str(), tool.as_str()), (&UserId::local(), "x", "echo"));
        assert_eq!(json!(arguments), json!({"message": "hi"}));
        farm.close(kit).await;
    }
}

/// Nothing without a yes for ada, everything for others.
struct AskAda;

impl Authorize for AskAda {
    fn authorize(&self, user: &UserId, _: &Tool) -> Decision {
        if user.as_str() == "ada" { Decision::Ask } else { Decision::Allow }
    }
}

#[tokio::test]
async fn f2_a_permit_that_says_ask_is_obeyed_for_its_user_alone() {
    let farm = Farm::of("x", &[]);
    let open = async |approver: Option<Arc<dyn Approver>>| {
        let permit = Some(Arc::new(AskAda) as _);
        farm.open_with(OpenOptions { approver, permit, ..farm.options(calm()) }).await
    };
    let kit = open(None).await;
    let view = |kit: &kitbag::Kitbag, name| kit.view(&user(name), &AgentRules::default()).unwrap();
    let error = kit.call_tool(&view(&kit, "ada"), ToolCall::new("mcp_x_echo", HI)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ApprovalDenied, "{error}");
    assert_eq!(farm.count("x", "call"), 0);
    kit.call_tool(&view(&kit, "bob"), ToolCall::new("mcp_x_echo", HI)).await.unwrap();
    farm.close(kit).await;
    let person = Person::who_says(true);
    let kit = open(Some(person.clone())).await;
    for name in ["ada", "bob"] {
        kit.call_tool(&view(&kit, name), ToolCall::new("mcp_x_echo", HI)).await.unwrap();
    }
    assert_eq!(person.was_asked(), 1);
    assert_eq!(person.asked.lock().unwrap()[0].user, user("ada"));
    farm.close(kit).await;
}

#[tokio::test]
async fn f2_groups_that_nothing_enforces_yet_deny_their_members_alone() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\ngroups = ['dev']\n[users.bob]\n");
    let kit = farm.open(calm()).await;
    let tools = |name| kit.view(&user(name), &AgentRules::default()).unwrap().tools().len();
    assert_eq!((tools("ada"), 0 < tools("bob")), (0, true));
    farm.close(kit).await;
}
