//! What rules, pins and the audit log cost a call, and whether a page of the log costs more when the log is long.
//!
//! Prints markdown tables. What counts are the ratios, taken in one run. Exit code 1 when one is broken.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bench::policy::Ruled;
use kitbag::store::{
    AuditBatch, AuditDecision, AuditOutcome, AuditQuery, AuditRow, AuditScope, AuditWriter, MemoryStore,
    Store, WriterId,
};
use kitbag::{Limits, ServerName, UserId};

/// Timed together; as many rows fit into the queue of the audit log.
const CALLS: usize = 5_000;
const ROUNDS: usize = 40;
/// Rules and pins, as a multiple of the bare lookup.
const MOST_JUDGED: f64 = 2.0;
/// The same with the audit log's row.
const MOST_AUDITED: f64 = 5.0;
/// Rows of the short log and of the long one.
const ROWS: [u64; 2] = [10_000, 1_000_000];
const BATCH: u64 = 1_000;
const USERS: u64 = 100;
const PAGE: usize = 50;
const PAGES: usize = 200;
/// A page of the long log, as a multiple of one of the short log.
const MOST_PAGE: f64 = 3.0;

fn main() {
    kitbag::guard::init();
    let server = testkit::bin("fake-mcp");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let broken = runtime.block_on(async {
        let calls = calls(server.to_str().unwrap()).await;
        calls | pages().await
    });
    std::process::exit(i32::from(broken));
}

/// Whether a bound is broken.
async fn calls(server: &str) -> bool {
    let ruled = Ruled::start(server).await;
    let limits = Limits::default();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(&limits));
    let writer = AuditWriter::start(store, &limits).unwrap();
    let server = ServerName::parse("s7").unwrap();
    let [mut bare, mut judged, mut audited] = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        timed(&mut bare, &ruled, |name| ruled.find(name));
        timed(&mut judged, &ruled, |name| ruled.authorize(name));
        timed(&mut audited, &ruled, |name| {
            ruled.authorize(name);
            let arguments: Arc<str> = "{}".into();
            writer.record_lazy(row(&UserId::local(), &server, name), 2, move || Some(arguments.to_string()));
        });
        // What writes the rows runs on this thread, while it waits here.
        writer.flush(Duration::from_secs(60)).await.unwrap();
    }
    ruled.close().await;
    let ratio = |time: Duration| time.as_secs_f64() / bare.as_secs_f64();
    let (judging, auditing) = (ratio(judged), ratio(audited));
    println!("| 10,000 tools, 100 rules, 50 groups | a call | ratio |\n|---|---:|---:|");
    println!("| bare lookup of the name | {} ns | |", each(bare));
    println!("| rules and pins, lookup, arguments | {} ns | {judging:.2} |", each(judged));
    println!("| the same and a row for the audit log | {} ns | {auditing:.2} |\n", each(audited));
    let broken = bound("rules and pins cost", judging, MOST_JUDGED, "the bare lookup");
    bound("with the audit log", auditing, MOST_AUDITED, "the bare lookup") | broken
}

fn timed(best: &mut Duration, ruled: &Ruled, mut work: impl FnMut(&str)) {
    let began = Instant::now();
    ruled.names().take(CALLS).for_each(&mut work);
    *best = began.elapsed().min(*best);
}

fn each(time: Duration) -> u128 {
    time.as_nanos() / CALLS as u128
}

fn row(user: &UserId, server: &ServerName, tool: &str) -> AuditRow {
    AuditRow {
        at: SystemTime::now(),
        user: Some(user.clone()),
        agent: None,
        server: Some(server.clone()),
        tool: Some(tool.to_owned()),
        decision: AuditDecision::Allowed,
        rule: None,
        outcome: AuditOutcome::Ok,
        took: Duration::from_millis(3),
        request_bytes: 2,
        result_bytes: 40,
        arguments: None,
        call: None,
    }
}

/// Pages of one user's rows, each behind the one before; whether the bound is broken.
async fn pages() -> bool {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let open = |n: usize| kitbag_store::open("sqlite:", folders[n].path(), &Limits::default()).unwrap();
    let stores = [open(0), open(1)];
    for (store, rows) in stores.iter().zip(ROWS) {
        fill(&**store, rows).await;
    }
    let mut best = [Duration::MAX; 2];
    for _ in 0..PAGES {
        for (store, best) in stores.iter().zip(&mut best) {
            let query = AuditQuery::newest(AuditScope::User(user(7)), PAGE);
            let began = Instant::now();
            let page = store.page(&query).await.unwrap();
            // The second one begins behind the first.
            let before = page.last().map(|entry| entry.position.clone());
            let next = store.page(&AuditQuery { before, ..query }).await.unwrap();
            *best = began.elapsed().min(*best);
            assert_eq!((page.len(), next.len()), (PAGE, PAGE));
        }
    }
    println!("\n| rows of the audit log | two pages of `kitbag audit --user` |\n|---:|---:|");
    for (rows, time) in ROWS.iter().zip(best) {
        println!("| {rows} | {:.2} ms |", time.as_secs_f64() * 1e3);
    }
    println!();
    let ratio = best[1].as_secs_f64() / best[0].as_secs_f64();
    bound("a page of the long log costs", ratio, MOST_PAGE, "one of the short log")
}

fn user(number: u64) -> UserId {
    UserId::parse(&format!("user-{number}")).unwrap()
}

async fn fill(store: &dyn Store, rows: u64) {
    let writer = WriterId::random().unwrap();
    let server = ServerName::parse("files").unwrap();
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    for first in (0..rows).step_by(usize::try_from(BATCH).unwrap()) {
        let one = |n| {
            let at = began + Duration::from_millis(n);
            AuditRow { at, arguments: Some("{}".to_owned()), ..row(&user(n % USERS), &server, "read") }
        };
        let rows = (first..rows.min(first + BATCH)).map(one).collect();
        store.append(&AuditBatch { writer: writer.clone(), first: first + 1, rows }).await.unwrap();
    }
}

fn bound(what: &str, ratio: f64, most: f64, of: &str) -> bool {
    let broken = most < ratio;
    println!("{what} {ratio:.2} × {of} (at most {most}){}", if broken { ": broken" } else { "" });
    broken
}
