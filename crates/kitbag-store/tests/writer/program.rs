//! The other process of the store's tests.
//!
//! `write URL STATE` writes pins, approvals and the audit log, and prints a line for everything that was acknowledged, until
//! it is killed. `answer URL STATE USER ID ANSWER` answers an approval as soon as it reads a line.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag::store::{
    ApprovalAnswer, ApprovalAsk, ApprovalId, AuditBatch, AuditDecision, AuditOutcome, AuditRow, Hash256, Pin,
    PinKey, PinState, RowOwner, Store, WriterId,
};
use kitbag::{Limits, ServerName, ToolName, UserId};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let open = |url, state| kitbag_store::open(url, Path::new(state), &Limits::default()).unwrap();
    match args[..] {
        ["write", url, state] => runtime.block_on(write(open(url, state))),
        ["answer", url, state, user, id, answer] => {
            runtime.block_on(answer_it(open(url, state), user, id, answer));
        }
        _ => panic!("unknown arguments"),
    }
}

/// Says that something is kept; the test may kill this process at any moment after it.
fn acknowledge(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{words}").unwrap();
    out.flush().unwrap();
}

async fn answer_it(store: Arc<dyn Store>, user: &str, id: &str, answer: &str) {
    let user = UserId::parse(user).unwrap();
    // Connected before the race begins.
    store.pending(&user, SystemTime::now()).await.unwrap();
    acknowledge("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let answer = ApprovalAnswer::parse(answer).unwrap();
    let outcome = store.answer(&user, &ApprovalId::new(id), answer, SystemTime::now()).await;
    acknowledge(&format!("{outcome:?}"));
}

async fn write(store: Arc<dyn Store>) {
    let writer = WriterId::random().unwrap();
    let user = UserId::parse("ada").unwrap();
    let mut audited = 0;
    for n in 0.. {
        let pins: Vec<_> = (0..3).map(|part| pin(&format!("{writer}-{n}-{part}"))).collect();
        store.put_pins(&pins).await.unwrap();
        for pin in &pins {
            acknowledge(&format!("pin {}", pin.key.tool));
        }
        let id = store.ask(&ask(&user)).await.unwrap();
        acknowledge(&format!("asked {id}"));
        store.answer(&user, &id, ApprovalAnswer::Once, SystemTime::now()).await.unwrap();
        acknowledge(&format!("answered {id}"));
        let rows = vec![row(&user); 1 + n % 3];
        let batch = AuditBatch { writer: writer.clone(), first: audited + 1, rows };
        store.append(&batch).await.unwrap();
        audited += batch.rows.len() as u64;
        acknowledge(&format!("audited {writer} {audited}"));
    }
}

fn pin(tool: &str) -> Pin {
    let (server, tool) = (ServerName::parse("files").unwrap(), ToolName::parse(tool).unwrap());
    let key = PinKey { owner: RowOwner::Shared, server, tool };
    let now = SystemTime::now();
    let definition = "{}".repeat(500);
    Pin {
        key,
        hash: Hash256::of(&definition),
        definition,
        state: PinState::Seen,
        first_seen: now,
        last_seen: now,
    }
}

fn ask(user: &UserId) -> ApprovalAsk {
    let now = SystemTime::now();
    ApprovalAsk {
        user: user.clone(),
        session: "s".to_owned(),
        server: ServerName::parse("files").unwrap(),
        tool: ToolName::parse("write").unwrap(),
        definition: Hash256::of("{}"),
        arguments: "{}".to_owned(),
        shown: "{}".to_owned(),
        created: now,
        expires: now + Duration::from_secs(3600),
    }
}

fn row(user: &UserId) -> AuditRow {
    AuditRow {
        at: SystemTime::now(),
        user: Some(user.clone()),
        agent: None,
        server: None,
        tool: None,
        decision: AuditDecision::Allowed,
        rule: None,
        outcome: AuditOutcome::Ok,
        took: Duration::ZERO,
        request_bytes: 0,
        result_bytes: 0,
        arguments: Some("x".repeat(1000)),
        call: None,
    }
}
