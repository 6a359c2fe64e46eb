//! What a whole call costs (`Kitbag::call`), beside a bare blocking pipe client, the link below it and the client of
//! the official SDK, all on the same server under the same guard in one run.
//!
//! Prints a markdown table; ends with 1 when a ratio is beyond its bound.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

#[path = "../../../kitbag/examples/open/figures.rs"]
mod figures;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::{CALLS, Client, IN_FLIGHT, bare_latencies, bare_rate, on_link, on_official, on_whole};
use figures::Figures;
use tokio_util::task::TaskTracker;

const ROUNDS: usize = 9;
const RATES: usize = 5;
const MOST_LATENCY: f64 = 1.6;
const LEAST_RATE: f64 = 1.5;

fn main() {
    kitbag::guard::init();
    let server = testkit::bin("fake-mcp");
    let server = server.to_str().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // On one core waking an idle one is not part of what is measured.
    let cores = rustix::thread::sched_getaffinity(None).unwrap();
    let mut one = rustix::thread::CpuSet::new();
    one.set(0);
    rustix::thread::sched_setaffinity(None, &one).unwrap();
    // In turns, and the best of each: a neighbour's work must not count for one side only.
    let mut best: [Figures; 4] = Default::default();
    for _ in 0..ROUNDS {
        best[0].better(bare_latencies(server));
        best[1].better(runtime.block_on(on_link(server, latencies)));
        best[2].better(runtime.block_on(on_whole(server, latencies)));
        best[3].better(runtime.block_on(on_official(server, latencies)));
    }
    rustix::thread::sched_setaffinity(None, &cores).unwrap();
    let mut rates = [0_f64; 4];
    for _ in 0..RATES {
        let now = [
            bare_rate(server),
            runtime.block_on(on_link(server, rate)),
            runtime.block_on(on_whole(server, rate)),
            runtime.block_on(on_official(server, rate)),
        ];
        rates = std::array::from_fn(|side| rates[side].max(now[side]));
    }

    println!("| | bare pipe | link | whole call | rmcp | whole call / link | whole call / rmcp |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let rows = [("p50", best.each_ref().map(|side| side.p50)), ("p99", best.each_ref().map(|side| side.p99))];
    for (name, [raw, link, whole, rmcp]) in rows {
        let ratios = format!("{:.2} | {:.2}", whole / link, whole / rmcp);
        println!(
            "| {name}, 1 in flight, one core | {raw:.1} µs | {link:.1} µs | {whole:.1} µs | {rmcp:.1} µs | {ratios} |"
        );
    }
    let [raw, link, whole, rmcp] = rates;
    let ratios = format!("{:.2} | {:.2}", whole / link, whole / rmcp);
    println!(
        "| calls/s, {IN_FLIGHT} in flight, both cores | {raw:.0} | {link:.0} | {whole:.0} | {rmcp:.0} | {ratios} |"
    );
    println!("\nbounds: p50 at most {MOST_LATENCY} × the link's, rate at least {LEAST_RATE} × rmcp's\n");
    let is_slow = MOST_LATENCY < best[2].p50 / best[1].p50 || whole / rmcp < LEAST_RATE;
    std::process::exit(i32::from(is_slow));
}

/// As a task, like any caller inside a program: waking the future at the very bottom costs a system call.
async fn latencies(client: impl Client) -> Vec<Duration> {
    let work = async move {
        for _ in 0..CALLS / 10 {
            client.call().await;
        }
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let began = Instant::now();
            client.call().await;
            times.push(began.elapsed());
        }
        times
    };
    TaskTracker::new().spawn(work).await.unwrap()
}

async fn rate(client: impl Client) -> f64 {
    let client = Arc::new(client);
    let (began, tasks) = (Instant::now(), TaskTracker::new());
    for _ in 0..IN_FLIGHT {
        let client = client.clone();
        tasks.spawn(async move {
            for _ in 0..CALLS * 4 / IN_FLIGHT {
                client.call().await;
            }
        });
    }
    tasks.close();
    tasks.wait().await;
    (CALLS * 4 / IN_FLIGHT * IN_FLIGHT) as f64 / began.elapsed().as_secs_f64()
}
