//! What a call through a link costs, beside a bare pipe client that sends and reads the same bytes to and
//! from the same kind of server under the same guard in the same run. A guard gives its server a session of its
//! own, and changing between those costs some kernels more; so a server without one is measured, too.
//!
//! Prints a markdown table; ends with 1 when a ratio is beyond its bound.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and the environment")]

#[path = "open/figures.rs"]
mod figures;
#[path = "open/link.rs"]
mod on_link;
#[path = "open/kit.rs"]
mod open;
#[path = "open/raw.rs"]
mod raw;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use figures::Figures;
use kitbag::connect::Link;
use on_link::{arguments, call, with_link};
use raw::{ARGUMENTS, CALLS, IN_FLIGHT, Raw, guarded, latencies, request};

const ROUNDS: usize = 9;
const MOST_LATENCY: f64 = 1.5;
const LEAST_RATE: f64 = 0.35;

fn main() {
    kitbag::guard::init();
    let server = testkit::bin("fake-mcp");
    let server = server.to_str().unwrap();
    let program = format!("\"command\": {server:?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // On one core waking an idle one is not part of what is measured.
    let cores = rustix::thread::sched_getaffinity(None).unwrap();
    let mut one = rustix::thread::CpuSet::new();
    one.set(0);
    rustix::thread::sched_setaffinity(None, &one).unwrap();
    // In turns, and the best of each: a neighbour's work must not count for one side only.
    let mut best: [Figures; 4] = Default::default();
    for _ in 0..ROUNDS {
        best[0].better(latencies(&mut Raw::start(guarded(server))));
        // As tasks, like any caller inside a program: waking the future at the very bottom costs a system call.
        best[1].better(runtime.block_on(async {
            let tasks = tokio_util::task::TaskTracker::new();
            tasks.spawn(async_latencies(guarded(server))).await.unwrap()
        }));
        best[2].better(runtime.block_on(with_link(&program, async |link| {
            let tasks = tokio_util::task::TaskTracker::new();
            tasks.spawn(async move { link_latencies(&link).await }).await.unwrap()
        })));
        best[3].better(latencies(&mut Raw::start(Command::new(server))));
    }
    rustix::thread::sched_setaffinity(None, &cores).unwrap();
    let raw_rate = Raw::start(guarded(server)).pipelined();
    let our_rate = runtime.block_on(with_link(&program, async |link| pipelined(&link).await));

    let [blocking, asynchronous, ours, unguarded] = best;
    println!("| | bare pipe | link | ratio |\n|---|---:|---:|---:|");
    let kinds =
        [("blocking", &blocking), ("async", &asynchronous), ("blocking, its server unguarded", &unguarded)];
    for (kind, raw) in kinds {
        for (name, raw, ours) in [("p50", raw.p50, ours.p50), ("p99", raw.p99, ours.p99)] {
            println!(
                "| {name}, 1 in flight, one core, {kind} | {raw:.1} µs | {ours:.1} µs | {:.2} |",
                ours / raw
            );
        }
    }
    println!(
        "| calls/s, {IN_FLIGHT} in flight, both cores | {raw_rate:.0} | {our_rate:.0} | {:.2} |",
        our_rate / raw_rate
    );
    let slow = MOST_LATENCY < ours.p50 / blocking.p50 || our_rate / raw_rate < LEAST_RATE;
    println!("\nbounds: p50 at most {MOST_LATENCY} × the blocking pipe, rate at least {LEAST_RATE} ×");
    std::process::exit(i32::from(slow));
}

/// The same bytes on the runtime a link uses: what any asynchronous client pays before it does anything.
async fn async_latencies(server: Command) -> Vec<Duration> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut child = tokio::process::Command::from(server);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut times = Vec::with_capacity(CALLS);
    let mut buffer = Vec::with_capacity(64 << 10);
    for round in 0..CALLS + CALLS / 10 {
        let request = request(round as u64 + 1);
        let began = Instant::now();
        input.write_all(request.as_bytes()).await.unwrap();
        buffer.clear();
        while buffer.last() != Some(&b'\n') {
            output.read_buf(&mut buffer).await.unwrap();
        }
        if CALLS / 10 <= round {
            times.push(began.elapsed());
        }
    }
    times
}

async fn link_latencies(link: &Link) -> Vec<Duration> {
    let arguments = arguments(ARGUMENTS);
    for _ in 0..CALLS / 10 {
        call(link, "echo", &arguments).await;
    }
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let began = Instant::now();
        call(link, "echo", &arguments).await;
        times.push(began.elapsed());
    }
    times
}

async fn pipelined(link: &Link) -> f64 {
    let began = Instant::now();
    let tasks = tokio_util::task::TaskTracker::new();
    for _ in 0..IN_FLIGHT {
        let link = link.clone();
        tasks.spawn(async move {
            let arguments = arguments(ARGUMENTS);
            for _ in 0..CALLS * 4 / IN_FLIGHT {
                call(&link, "echo", &arguments).await;
            }
        });
    }
    tasks.close();
    tasks.wait().await;
    (CALLS * 4 / IN_FLIGHT * IN_FLIGHT) as f64 / began.elapsed().as_secs_f64()
}
