//! Every call leaves one row in the audit log, whichever way it ends: who, what, which rule, how.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag::approvals::AskElsewhere;
use kitbag::store::{
    ApprovalAnswer, ApprovalStore as _, AuditDecision, AuditEntry, AuditQuery, AuditScope, AuditStore as _,
    AuditVerdict, MemoryStore,
};
use kitbag::{AgentRules, ErrorKind, Kitbag, OpenOptions, ToolCall};

use super::super::farm::Opens as _;
use super::super::{Farm, calm};
use super::{LONG, open_for, user};

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

/// What was approved for good is looked up each time, so that it can be taken back while the program runs.
#[tokio::test]
async fn s3_19_what_was_approved_for_good_can_be_taken_back_while_it_runs() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let store = Arc::new(MemoryStore::default());
    let kit = open(&farm, &store).await;
    let (done, _) =
        tokio::join!(kit.call("x/echo", HI), answer_next(&store, "local", ApprovalAnswer::Always));
    done.unwrap();
    kit.call("x/echo", HI).await.unwrap();
    let grant = store.grants(&user("local")).await.unwrap().pop().unwrap();
    assert!(store.revoke_grant(&grant).await.unwrap());
    let (done, _) = tokio::join!(kit.call("x/echo", HI), answer_next(&store, "local", ApprovalAnswer::No));
    assert_eq!(done.unwrap_err().kind, ErrorKind::ApprovalDenied);
    assert_eq!(farm.count("x", "call echo"), 2);
    farm.close(kit).await;
}

/// With nobody here and no room for the question nobody could ever answer.
#[tokio::test]
async fn s3_19_a_question_that_cannot_be_kept_is_refused_at_once() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let mut limits = calm();
    limits.approvals = 0;
    let store = Arc::new(MemoryStore::new(&limits));
    let kit = open(&farm, &store).await;
    let refused = kit.call("x/echo", HI).await.unwrap_err();
    assert!(refused.kind == ErrorKind::ApprovalDenied && refused.message.contains("nobody"), "{refused}");
    farm.close(kit).await;
    let approver = Some(Arc::new(AskElsewhere) as _);
    let kit = farm.open_with(OpenOptions { approver, ..farm.options(calm()) }).await;
    let refused = kit.call("x/echo", HI).await.unwrap_err();
    assert!(refused.message.contains("nothing keeps the question"), "{refused}");
    farm.close(kit).await;
}

#[tokio::test]
async fn t44_a_result_that_was_cut_is_a_row_beside_that_of_its_call() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    let store = Arc::new(MemoryStore::default());
    let mut limits = calm();
    limits.result = 10_000;
    let options = OpenOptions { store: Some(store.clone()), ..farm.options(limits) };
    let kit = farm.open_with(options).await;
    for size in [100, 123_457] {
        kit.call("x/huge", &format!(r#"{{"size":{size}}}"#)).await.unwrap();
    }
    farm.close(kit).await;
    let rows = rows(&store, AuditScope::All).await;
    let shown: Vec<_> = rows.iter().map(|entry| entry.row.decision.to_string()).collect();
    assert_eq!(shown, ["allowed", "truncated", "allowed"]);
    let (cut, call) = (&rows[1].row, &rows[2].row);
    assert_eq!((&cut.call, cut.rule.as_deref()), (&call.call, Some("[limits] result")));
    assert!(123_457 <= cut.result_bytes, "{cut:?}");
}

/// Two users share the server; each user's own is started again for nobody else.
#[tokio::test]
async fn t44_a_server_that_is_started_again_is_one_row_whoever_shares_it() {
    let farm = Farm::of("x", &[]);
    farm.add("own", &[]);
    farm.settings("[users.ada]\n[users.bob]\n[servers.own]\nper_user = true\n");
    let store = Arc::new(MemoryStore::default());
    let options = || OpenOptions { store: Some(store.clone()), ..farm.options(calm()) };
    let (ada, bob) = (open_for(&farm, "ada", options()).await, open_for(&farm, "bob", options()).await);
    for server in ["x", "own"] {
        let tool = format!("{server}/die");
        ada.call(&tool, r#"{"how":"kill"}"#).await.unwrap_err();
        // It is here again, so the restart was told.
        ada.call(&format!("{server}/echo"), HI).await.unwrap();
    }
    bob.call("x/echo", HI).await.unwrap();
    ada.close().await;
    farm.close(bob).await;
    let rows = rows(&store, AuditScope::All).await;
    let restarted =
        rows.iter().map(|entry| &entry.row).filter(|row| row.decision == AuditDecision::Restarted);
    let mut shown: Vec<_> = restarted
        .map(|row| {
            assert!(row.rule.is_some(), "why: {row:?}");
            (row.server.as_ref().unwrap().to_string(), row.user.as_ref().map(ToString::to_string))
        })
        .collect();
    shown.sort();
    assert_eq!(shown, [("own".to_owned(), Some("ada".to_owned())), ("x".to_owned(), None)]);
}
