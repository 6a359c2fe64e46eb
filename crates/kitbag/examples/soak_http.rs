//! The long run over HTTP: many calls by each transport without growing.
//!
//! `soak_http [calls]`, by default 300000 each. Prints a markdown table; ends with 1 when something grew or was
//! left.
#![expect(clippy::unwrap_used, reason = "a soak that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a soak reads the environment")]

#[path = "open/kit.rs"]
mod open;

use kitbag::connect::RawCall;
use serde_json::value::RawValue;
use testkit::{Http, proc};

/// How much memory may grow after the first sixth of the calls.
const GROWTH_KB: u64 = 1024;

/// How many descriptors more than before are not taken for a leak: connections are kept for the next call, and how
/// many varies.
const SPARE: usize = 4;

/// A transport in an era, with a form of answers: its name, how it is entered, how the server is started.
const FORMS: [(&str, &str, &[&str]); 4] = [
    ("HTTP, newer era, JSON", "http", &["--era", "modern", "--answer", "json"]),
    ("HTTP, older era, JSON", "http", &["--era", "legacy", "--answer", "json"]),
    ("HTTP, older era, events", "http", &["--era", "legacy", "--answer", "sse"]),
    ("HTTP+SSE", "sse", &["--sse"]),
];

fn main() {
    kitbag::guard::init();
    let calls = std::env::args().nth(1).map_or(300_000, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("| what | figure | bound |\n|---|---:|---:|");
    let bad = FORMS.map(|form| runtime.block_on(many_calls(form, calls)));
    let left = proc::descendants(std::process::id()).len();
    println!("| processes left | {left} | 0 |");
    std::process::exit(i32::from(bad.contains(&true) || 0 < left));
}

/// Whether memory or descriptors grew, or calls were left in the table.
async fn many_calls((name, kind, args): (&str, &str, &[&str]), calls: usize) -> bool {
    let server = Http::start(args);
    let entry = format!(r#""fake": {{"type": {kind:?}, "url": {:?}}}"#, server.url());
    let (kit, _home) = open::start(&entry);
    let link = kit.links().into_iter().next().unwrap().clone();
    link.settled().await;
    assert!(kit.faults().is_empty(), "{:?}", kit.faults());
    let me = std::process::id();
    let (mut settled, mut open, mut most) = (0, 0, 0);
    for round in 0..calls {
        let text = format!(r#"{{"message":"{}","token":"{round}"}}"#, "x".repeat(round % 4000));
        let arguments = RawValue::from_string(text).unwrap();
        let reply = link.call(RawCall::new("echo", &arguments)).await.unwrap();
        assert!(reply.result.get().contains(&format!("\"{round}\"")), "another call's answer");
        if round == calls / 6 {
            settled = proc::rss_anon_kb(me).unwrap();
            open = proc::open_fds(me).len();
        }
        if round % 1000 == 0 {
            most = most.max(proc::rss_anon_kb(me).unwrap());
        }
    }
    let (end, descriptors) = (proc::rss_anon_kb(me).unwrap(), proc::open_fds(me).len());
    let in_flight = link.in_flight();
    println!("| {name}: RssAnon after {} calls | {settled} kB | |", calls / 6);
    println!("| {name}: RssAnon after {calls} calls (most {most}) | {end} kB | {} kB |", settled + GROWTH_KB);
    println!(
        "| {name}: descriptors (after {} calls: {open}) | {descriptors} | {} |",
        calls / 6,
        open + SPARE
    );
    println!("| {name}: calls left in the table | {in_flight} | 0 |");
    kit.close().await;
    settled + GROWTH_KB < end || open + SPARE < descriptors || 0 < in_flight
}
