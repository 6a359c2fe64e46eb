//! Approvals raced with everything that can end them: answers of another process, time-outs, callers that cancel or leave,
//! and definitions that change meanwhile. Whatever runs was approved, byte for byte, and runs once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kitbag::approvals::AskElsewhere;
use kitbag::store::{ApprovalAnswer, ApprovalStore as _, MemoryStore};
use kitbag::{
    AgentRules, CallOptions, CancellationToken, ErrorKind, Kitbag, OpenOptions, ServerName, ToolCall,
    ToolName,
};
use serde_json::{Value, json};
use testkit::in_time;

use super::super::farm::Opens as _;
use super::super::{Farm, calm};
use super::{LONG, user};

/// How many calls are raced.
const CALLS: usize = 1_000;
/// How many at once.
const WAVE: usize = 50;

fn definitions(version: usize) -> Value {
    let schema = json!({"type": "object", "properties": {"token": {"type": "string"}}});
    json!([{"name": "send", "description": format!("Sends, version {version}"), "inputSchema": schema}])
}

/// What another process of the same user does: says yes, says no, or says nothing. Every yes that counts is written down.
async fn answers(store: Arc<MemoryStore>, approved: Arc<Mutex<HashSet<String>>>, over: CancellationToken) {
    let mut seen = HashSet::new();
    while !over.is_cancelled() {
        let now = SystemTime::now();
        for pending in store.pending(&user("local"), now).await.unwrap() {
            if !seen.insert(pending.id.clone()) {
                continue;
            }
            let answer = match seen.len() % 5 {
                0 => continue,
                1 => ApprovalAnswer::No,
                _ => ApprovalAnswer::Once,
            };
            let taken = store.answer(&user("local"), &pending.id, answer, SystemTime::now()).await;
            if taken.is_ok() && answer == ApprovalAnswer::Once {
                approved.lock().unwrap().insert(pending.ask.arguments);
            }
        }
        tokio::task::yield_now().await;
    }
}

/// One call, ended in one of the ways a call can end.
async fn call(kit: Kitbag, number: usize) -> Option<ErrorKind> {
    let pause = Duration::from_micros(fastrand(number) % 20_000);
    // Blanks, so that bytes are told from meanings.
    let given = format!(r#"{{ "token" : "t{number}" }}"#);
    let call = |options: CallOptions| {
        let (kit, given) = (kit.clone(), given.clone());
        async move { kit.call_tool(&kit.own_view(), ToolCall::new("x/send", given).with(options)).await }
    };
    let patient = CallOptions { timeout: Some(LONG), ..CallOptions::default() };
    let done = match number % 4 {
        0 => call(CallOptions { timeout: Some(pause), ..patient }).await,
        1 => {
            let cancel = CancellationToken::new();
            let cancelled = async {
                let _ = tokio::time::timeout(pause, std::future::pending::<()>()).await;
                cancel.cancel();
            };
            tokio::join!(call(CallOptions { cancel: Some(cancel.clone()), ..patient }), cancelled).0
        }
        2 => tokio::time::timeout(pause, call(patient)).await.ok()?,
        // Nobody may have an answer for it: it is given up by its own clock.
        _ => call(CallOptions { timeout: Some(Duration::from_millis(500)), ..patient }).await,
    };
    done.err().map(|error| error.kind)
}

/// Numbers that look random and are the same each time.
fn fastrand(number: usize) -> u64 {
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

#[tokio::test]
async fn s3_19_of_a_thousand_raced_approvals_nothing_runs_without_a_yes() {
    let farm = Farm::new();
    farm.add_echo("x", &definitions(0));
    farm.settings("[servers.x]\napprove = ['send']\n");
    let store = Arc::new(MemoryStore::default());
    let mut limits = calm();
    limits.approval_poll = Duration::from_millis(1);
    let approver = Some(Arc::new(AskElsewhere) as _);
    let options = OpenOptions { store: Some(store.clone()), approver, ..farm.options(limits) };
    let kit = farm.open_with(options).await;
    let (approved, over) = (Arc::new(Mutex::new(HashSet::new())), CancellationToken::new());
    let (server, tool) = (ServerName::parse("x").unwrap(), ToolName::parse("send").unwrap());
    let mut ends = Vec::new();
    let races = async {
        for wave in 0..CALLS / WAVE {
            let calls = (0..WAVE).map(|place| call(kit.clone(), wave * WAVE + place));
            let calls = futures(calls);
            let changes = async {
                // In every other wave the definition changes in the middle, and is approved.
                if wave % 2 == 1 {
                    farm.add_echo("x", &definitions(wave));
                    kit.restart(&server).await.unwrap();
                    kit.wait_for_all(LONG).await;
                    kit.approve_definitions(&[(server.clone(), tool.clone())]).await.unwrap();
                }
            };
            ends.extend(tokio::join!(calls, changes).0);
        }
        over.cancel();
    };
    in_time(async { tokio::join!(races, answers(store.clone(), approved.clone(), over.clone())) }).await;
    let arrived = farm.arrived("x");
    farm.close(kit).await;
    let approved = approved.lock().unwrap();
    for sent in &arrived {
        assert!(approved.contains(sent), "{sent} ran without a yes");
    }
    assert_eq!(arrived.iter().collect::<HashSet<_>>().len(), arrived.len(), "one ran twice");
    // All ways were gone.
    let count = |kind: Option<ErrorKind>| ends.iter().filter(|end| **end == kind).count();
    let (ran, refused) = (count(None), count(Some(ErrorKind::ApprovalDenied)));
    assert!(
        20 < ran && 20 < refused && 20 < arrived.len(),
        "{ran} ran, {refused} were refused, {} arrived",
        arrived.len()
    );
    assert!(0 < count(Some(ErrorKind::Cancelled)));
}

async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|context| {
        all.retain_mut(|one| match one.as_mut().poll(context) {
            std::task::Poll::Ready(end) => {
                done.push(end);
                false
            }
            std::task::Poll::Pending => true,
        });
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done
}

#[tokio::test]
async fn t34_approvals_are_their_users_own() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n[servers.x]\napprove = ['echo', 'add']\n");
    let store = Arc::new(MemoryStore::default());
    let approver = Some(Arc::new(AskElsewhere) as _);
    let options = OpenOptions { store: Some(store.clone()), approver, ..farm.options(calm()) };
    let ada = Kitbag::start(farm.setup().for_user(user("ada")), options.clone());
    let bob = Kitbag::start(farm.setup().for_user(user("bob")), options);
    ada.wait(LONG).await;
    bob.wait(LONG).await;
    let lasting = [
        (ApprovalAnswer::Session, "x/echo", r#"{"message":"hi"}"#),
        (ApprovalAnswer::Always, "x/add", r#"{"a":1,"b":2}"#),
    ];
    for (answer, tool, given) in lasting {
        let asked = async {
            let pending = loop {
                let found = store.pending(&user("ada"), SystemTime::now()).await.unwrap();
                if let Some(pending) = found.into_iter().next() {
                    break pending;
                }
                tokio::task::yield_now().await;
            };
            // Of another user's question nobody knows, not even by its id.
            let now = SystemTime::now();
            assert!(store.pending(&user("bob"), now).await.unwrap().is_empty());
            assert!(store.answer(&user("bob"), &pending.id, answer, now).await.is_err());
            assert!(store.answer_of(&user("bob"), &pending.id, now).await.unwrap().is_none());
            store.answer(&user("ada"), &pending.id, answer, now).await.unwrap();
        };
        let (done, ()) = in_time(async { tokio::join!(ada.call(tool, given), asked) }).await;
        done.unwrap();
        // What ada approved for longer is not approved for bob, whichever handle makes the call.
        let brief = CallOptions { timeout: Some(Duration::from_millis(100)), ..CallOptions::default() };
        for kit in [&bob, &ada] {
            let view = kit.view(&user("bob"), &AgentRules::default()).unwrap();
            let refused = kit.call_tool(&view, ToolCall::new(tool, given).with(brief.clone())).await;
            assert_eq!(refused.unwrap_err().kind, ErrorKind::ApprovalDenied, "{answer:?}");
        }
        ada.call(tool, given).await.unwrap();
    }
    in_time(ada.close()).await;
    in_time(bob.close()).await;
    farm.is_empty();
}
