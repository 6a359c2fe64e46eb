//! The long run: many calls without growing, many starts without leaving anything behind.
//!
//! `soak_link [calls] [cycles] [trees]`, by default 300000, 1000 and 20. Prints a markdown table; ends with 1
//! when something grew or was left.
#![expect(clippy::unwrap_used, reason = "a soak that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a soak reads the environment")]

#[path = "open/kit.rs"]
mod open;

use std::time::Duration;

use kitbag::Kitbag;
use kitbag::connect::RawCall;
use serde_json::value::RawValue;
use testkit::proc;

/// How much memory may grow after the first sixth of the calls.
const GROWTH_KB: u64 = 1024;

fn main() {
    kitbag::guard::init();
    let mut sizes = std::env::args().skip(1).map(|text| text.parse().unwrap());
    let (calls, cycles, trees) =
        (sizes.next().unwrap_or(300_000), sizes.next().unwrap_or(1_000), sizes.next().unwrap_or(20));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("| what | figure | bound |\n|---|---:|---:|");
    let grown = runtime.block_on(many_calls(calls));
    let left = runtime.block_on(many_starts(cycles, &[]))
        + runtime.block_on(many_starts(trees, &["--fault", "s13:stubborn"]));
    std::process::exit(i32::from(grown || 0 < left));
}

async fn start(args: &[&str]) -> (Kitbag, [tempfile::TempDir; 2]) {
    let home = tempfile::tempdir().unwrap();
    let server = testkit::bin("fake-mcp");
    let events = home.path().join("events");
    let mut all = vec!["--events", events.to_str().unwrap()];
    all.extend(args);
    let entry = format!(r#""fake": {{"command": {server:?}, "args": {all:?}}}"#);
    let (kit, inner) = open::start(&entry);
    kit.links().into_iter().next().unwrap().settled().await;
    assert!(kit.faults().is_empty(), "{:?}", kit.faults());
    (kit, [home, inner])
}

/// Whether memory grew or calls were left in the table.
async fn many_calls(calls: usize) -> bool {
    let (kit, _home) = start(&[]).await;
    let link = kit.links().into_iter().next().unwrap().clone();
    let me = std::process::id();
    let mut settled = 0;
    let mut most = 0;
    for round in 0..calls {
        let text = format!(r#"{{"message":"{}","token":"{round}"}}"#, "x".repeat(round % 4000));
        let arguments = RawValue::from_string(text).unwrap();
        let call = RawCall::new("echo", &arguments);
        let reply = link.call(call).await.unwrap();
        assert!(reply.result.get().contains(&format!("\"{round}\"")), "another call's answer");
        if round == calls / 6 {
            settled = proc::rss_anon_kb(me).unwrap();
        }
        if round % 1000 == 0 {
            most = most.max(proc::rss_anon_kb(me).unwrap());
        }
    }
    let end = proc::rss_anon_kb(me).unwrap();
    let in_flight = link.in_flight();
    println!("| RssAnon after {} calls | {settled} kB | |", calls / 6);
    println!("| RssAnon after {calls} calls (most {most}) | {end} kB | {} kB |", settled + GROWTH_KB);
    println!("| calls left in the table | {in_flight} | 0 |");
    kit.close().await;
    settled + GROWTH_KB < end || 0 < in_flight
}

/// How many processes and descriptors were left.
async fn many_starts(cycles: usize, args: &[&str]) -> usize {
    let me = std::process::id();
    let mut after_tenth = 0;
    for round in 0..cycles {
        let (kit, _home) = start(args).await;
        kit.close().await;
        if round + 1 == cycles.min(10) {
            after_tenth = proc::open_fds(me).len();
        }
    }
    let gone = testkit::wait_until(Duration::from_secs(5), || proc::descendants(me).is_empty());
    let left = if gone { 0 } else { proc::descendants(me).len() };
    let descriptors = proc::open_fds(me).len();
    let what = if args.is_empty() { "of a good server".to_owned() } else { format!("of {}", args.join(" ")) };
    println!("| processes left 5 s after {cycles} starts {what} | {left} | 0 |");
    println!(
        "| descriptors after the last (after the tenth: {after_tenth}) | {descriptors} | {after_tenth} |"
    );
    left + descriptors.saturating_sub(after_tenth)
}
