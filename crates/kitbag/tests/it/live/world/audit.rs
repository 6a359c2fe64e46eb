//! Every call leaves one row in the audit log, whichever way it ends: who, what, which rule, how.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag::approvals::AskElsewhere;
use kitbag::store::{
    ApprovalAnswer, ApprovalStore as _, AuditEntry, AuditQuery, AuditScope, AuditStore as _, AuditVerdict,
    MemoryStore,
};
use kitbag::{AgentRules, ErrorKind, Kitbag, OpenOptions, ToolCall};

use super::super::farm::Opens as _;
use super::super::{Farm, calm};
use super::{LONG, user};

const HI: &str = r#"{"message":"hi"}"#;

async fn open(farm: &Farm, store: &Arc<MemoryStore>) -> Kitbag {
    let approver = Some(Arc::new(AskElsewhere) as _);
    farm.open_with(OpenOptions { store: Some(store.clone()), approver, ..farm.options(calm()) }).await
}

/// All rows, the oldest first.
async fn rows(store: &MemoryStore, scope: AuditScope) -> Vec<AuditEntry> {
    let mut rows = store.page(&AuditQuery::newest(scope, 1_000)).await.unwrap();
    rows.reverse();
    rows
}

#[tokio::test]
async fn s2_18_t44_every_decision_is_a_row_with_its_rule() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[groups.local]\ndeny = ['x/add', 'x/echo message == no*']\n[servers.x]\napprove = ['echo message == ask*']\n",
    );
    let store = Arc::new(MemoryStore::default());
    let kit = open(&farm, &store).await;
    kit.call("x/echo", HI).await.unwrap();
    kit.call("x/add", r#"{"a":1,"b":2}"#).await.unwrap_err();
    kit.call("x/nothing", "{}").await.unwrap_err();
    kit.call("x/echo", r#"{"message":"nothing"}"#).await.unwrap_err();
    kit.call("x/echo", r#"{"message":7}"#).await.unwrap_err();
    farm.close(kit).await;
    let rows = rows(&store, AuditScope::All).await;
    let shown: Vec<String> = rows
        .iter()
        .map(|entry| {
            let row = &entry.row;
            let rule = row.rule.as_deref().unwrap_or("-");
            let rule = rule.split(" (").next().unwrap_or_default();
            format!("{} {} {} {rule}", row.tool.as_deref().unwrap_or("-"), row.decision, row.outcome.as_str())
        })
        .collect();
    let arguments = "its arguments are denied by \"x/echo message == no*\"";
    assert_eq!(
        shown,
        [
            "echo allowed ok -".to_owned(),
            "x/add denied not_found denied by \"x/add\"".to_owned(),
            "x/nothing denied not_found -".to_owned(),
            format!("echo denied denied {arguments}"),
            "echo allowed invalid_arguments -".to_owned(),
        ]
    );
    assert_eq!(rows[0].row.arguments.as_deref(), Some(HI));
    assert!(0 < rows[0].row.result_bytes);
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 5 });
}

#[tokio::test]
async fn s2_26_arguments_are_masked_unless_the_payload_is_asked_for() {
    let secret = r#"{"message":"sk-proj-abcdefghijklmnopqrstuvwx0123456789"}"#;
    for (settings, is_full) in [("", false), ("[audit]\npayload = true\n", true)] {
        let farm = Farm::of("x", &[]);
        farm.settings(settings);
        let store = Arc::new(MemoryStore::default());
        let kit = open(&farm, &store).await;
        kit.call("x/echo", secret).await.unwrap();
        farm.close(kit).await;
        let kept = rows(&store, AuditScope::All).await[0].row.arguments.clone().unwrap();
        assert_eq!(kept == secret, is_full, "{kept}");
        assert_eq!(kept.contains("sk-proj-abc"), is_full, "{kept}");
    }
}

#[tokio::test]
async fn t34_users_have_rows_of_their_own() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let store = Arc::new(MemoryStore::default());
    let kit = open(&farm, &store).await;
    for who in ["ada", "bob", "bob"] {
        let view = kit.view(&user(who), &AgentRules::default()).unwrap();
        kit.call_tool(&view, ToolCall::new("x/echo", HI)).await.unwrap();
    }
    farm.close(kit).await;
    for (who, count) in [("ada", 1), ("bob", 2), ("eve", 0)] {
        let rows = rows(&store, AuditScope::User(user(who))).await;
        assert_eq!(rows.len(), count, "{who}");
        assert!(rows.iter().all(|entry| entry.row.user == Some(user(who))));
    }
}

/// Answers the next approval that waits; the arguments it shows.
async fn answer_next(store: &MemoryStore, who: &str, answer: ApprovalAnswer) -> String {
    let next = async {
        loop {
            let now = SystemTime::now();
            if let Some(pending) = store.pending(&user(who), now).await.unwrap().into_iter().next() {
                store.answer(&user(who), &pending.id, answer, now).await.unwrap();
                return pending.ask.arguments;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, next).await.unwrap()
}

#[tokio::test]
async fn s3_19_another_process_answers_and_what_was_approved_is_what_is_sent() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let store = Arc::new(MemoryStore::default());
    let kit = open(&farm, &store).await;
    let given = r#"{ "message" : "hi" }"#;
    let (done, asked) =
        tokio::join!(kit.call("x/echo", given), answer_next(&store, "local", ApprovalAnswer::Once));
    done.unwrap();
    assert_eq!(asked, given, "byte for byte");
    let (done, _) = tokio::join!(kit.call("x/echo", HI), answer_next(&store, "local", ApprovalAnswer::No));
    assert_eq!(done.unwrap_err().kind, ErrorKind::ApprovalDenied);
    // For good, also for the next process.
    let (done, _) =
        tokio::join!(kit.call("x/echo", HI), answer_next(&store, "local", ApprovalAnswer::Always));
    done.unwrap();
    kit.call("x/echo", HI).await.unwrap();
    farm.close(kit).await;
    let kit = open(&farm, &store).await;
    kit.call("x/echo", HI).await.unwrap();
    farm.close(kit).await;
    let decisions: Vec<String> =
        rows(&store, AuditScope::All).await.iter().map(|entry| entry.row.decision.to_string()).collect();
    assert_eq!(decisions, ["approved", "approval_denied", "approved", "approved", "approved"]);
}

#[tokio::test]
async fn s3_19_a_call_that_is_given_up_takes_its_question_back() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let store = Arc::new(MemoryStore::default());
    let kit = open(&farm, &store).await;
    let pending = async || store.pending(&user("local"), SystemTime::now()).await.unwrap().len();
    let call = tokio::time::timeout(Duration::from_millis(50), kit.call("x/echo", HI));
    assert!(call.await.is_err());
    // Taken back in the background.
    let taken_back = async {
        while 0 < pending().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, taken_back).await.unwrap();
    assert_eq!(farm.count("x", "call echo"), 0);
    farm.close(kit).await;
}
