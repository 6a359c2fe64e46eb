//! What a call to an address costs, beside a bare client that posts the same bytes to the same kind of server in
//! the same run; and how long listing takes when some addresses are of no use.
//!
//! Prints markdown tables; ends with 1 when a ratio is beyond
//! its bound.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and the environment")]

#[path = "http/bare.rs"]
mod bare;
#[path = "open/figures.rs"]
mod figures;
#[path = "open/link.rs"]
mod on_link;
#[path = "open/kit.rs"]
mod open;
#[path = "http/ten.rs"]
mod ten;

use std::time::{Duration, Instant};

use figures::Figures;
use kitbag::connect::Link;
use on_link::{arguments, call, with_link};
use serde_json::value::RawValue;
use testkit::Http;
use tokio::runtime::Runtime;
use tokio_util::task::TaskTracker;

const CALLS: usize = 5_000;
const ROUNDS: usize = 5;
const IN_FLIGHT: usize = 64;
const MOST_LATENCY: f64 = 1.5;
const LEAST_RATE: f64 = 0.35;
const MOST_AMONG_BAD: f64 = 1.2;
const ARGUMENTS: &str = r#"{"message":"0123456789abcdef0123456789abcdef","token":"t-000001"}"#;

/// A transport in an era, with a form of answers.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    kind: &'static str,
    args: &'static [&'static str],
}

const MODERN: Form =
    Form { name: "HTTP, newer era, JSON", kind: "http", args: &["--era", "modern", "--answer", "json"] };
const EVENTS: Form =
    Form { name: "HTTP, newer era, events", kind: "http", args: &["--era", "modern", "--answer", "sse"] };
const LEGACY: Form =
    Form { name: "HTTP, older era, JSON", kind: "http", args: &["--era", "legacy", "--answer", "json"] };
const SSE: Form = Form { name: "HTTP+SSE", kind: "sse", args: &["--sse"] };

fn main() {
    kitbag::guard::init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut slow = false;
    println!("| | bare client | link | ratio |\n|---|---:|---:|---:|");
    for form in [MODERN, EVENTS, LEGACY, SSE] {
        slow |= compare(&runtime, form);
    }
    println!("\nbounds: p50 at most {MOST_LATENCY} × the bare client, rate at least {LEAST_RATE} ×\n");
    let (alone, among) = runtime.block_on(ten::measure());
    let ratio = among.as_secs_f64() / alone.as_secs_f64();
    println!("| until seven addresses of 20 tools are listed | | ratio |\n|---|---:|---:|");
    println!("| alone | {:.1} ms | |", alone.as_secs_f64() * 1e3);
    println!(
        "| beside one that never answers, one that refuses and a black hole | {:.1} ms | {ratio:.2} |",
        among.as_secs_f64() * 1e3
    );
    println!("\nbound: {MOST_AMONG_BAD} × alone");
    std::process::exit(i32::from(slow || MOST_AMONG_BAD < ratio));
}

/// Prints the rows of one form; whether a ratio is beyond its bound.
fn compare(runtime: &Runtime, form: Form) -> bool {
    // On one core waking an idle one is not part of what is measured.
    let cores = rustix::thread::sched_getaffinity(None).unwrap();
    let mut one = rustix::thread::CpuSet::new();
    one.set(0);
    rustix::thread::sched_setaffinity(None, &one).unwrap();
    // In turns, and the best of each: a neighbour's work must not count for one side only.
    let (mut bare, mut ours) = (Figures::default(), Figures::default());
    for _ in 0..ROUNDS {
        bare.better(runtime.block_on(bare_latencies(form)));
        ours.better(runtime.block_on(link_latencies(form)));
    }
    rustix::thread::sched_setaffinity(None, &cores).unwrap();
    let (mut bare_rate, mut our_rate) = (0_f64, 0_f64);
    for _ in 0..ROUNDS.min(3) {
        bare_rate = bare_rate.max(runtime.block_on(bare_pipelined(form)));
        our_rate = our_rate.max(runtime.block_on(link_pipelined(form)));
    }
    let name = form.name;
    for (what, bare, ours) in [("p50", bare.p50, ours.p50), ("p99", bare.p99, ours.p99)] {
        println!(
            "| {name}: {what}, 1 in flight, one core | {bare:.1} µs | {ours:.1} µs | {:.2} |",
            ours / bare
        );
    }
    let rate = our_rate / bare_rate;
    println!(
        "| {name}: calls/s, {IN_FLIGHT} in flight, both cores | {bare_rate:.0} | {our_rate:.0} | {rate:.2} |"
    );
    MOST_LATENCY < ours.p50 / bare.p50 || rate < LEAST_RATE
}

fn keys(form: Form, server: &Http) -> String {
    format!("\"type\": {:?}, \"url\": {:?}", form.kind, server.url())
}

/// One side of the comparison, ready to be called.
enum Side {
    Posts(bare::Posts),
    Stream(bare::Stream),
    Link(Link, Box<RawValue>),
}

impl Side {
    async fn bare(form: Form, url: &str) -> Self {
        match form.kind {
            "sse" => Self::Stream(bare::Stream::open(url).await),
            _ => Self::Posts(posts(form, url).await),
        }
    }

    async fn call(&mut self) {
        match self {
            Self::Posts(posts) => posts.call().await,
            Self::Stream(stream) => stream.call().await,
            Self::Link(link, arguments) => {
                call(link, "echo", arguments).await;
            }
        }
    }
}

/// How long each of many calls takes, after some that do not count. As a task, like any caller inside a program:
/// waking the future at the very bottom costs a system call.
async fn latencies(mut side: Side) -> Vec<Duration> {
    let measured = async move {
        for _ in 0..CALLS / 10 {
            side.call().await;
        }
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let began = Instant::now();
            side.call().await;
            times.push(began.elapsed());
        }
        times
    };
    TaskTracker::new().spawn(measured).await.unwrap()
}

async fn posts(form: Form, url: &str) -> bare::Posts {
    if form.args.contains(&"modern") { bare::Posts::modern(url) } else { bare::Posts::legacy(url).await }
}

async fn bare_latencies(form: Form) -> Vec<Duration> {
    let server = Http::start(form.args);
    latencies(Side::bare(form, server.url()).await).await
}

async fn link_latencies(form: Form) -> Vec<Duration> {
    let server = Http::start(form.args);
    with_link(&keys(form, &server), async |link| latencies(Side::Link(link, arguments(ARGUMENTS))).await)
        .await
}

async fn bare_pipelined(form: Form) -> f64 {
    let server = Http::start(form.args);
    match form.kind {
        "sse" => bare::Stream::open(server.url()).await.rate().await,
        _ => posts(form, server.url()).await.rate().await,
    }
}

async fn link_pipelined(form: Form) -> f64 {
    let server = Http::start(form.args);
    with_link(&keys(form, &server), async |link| pipelined(&link).await).await
}

async fn pipelined(link: &Link) -> f64 {
    let began = Instant::now();
    let tasks = TaskTracker::new();
    for _ in 0..IN_FLIGHT {
        let link = link.clone();
        tasks.spawn(async move {
            let arguments = arguments(ARGUMENTS);
            for _ in 0..CALLS / IN_FLIGHT {
                call(&link, "echo", &arguments).await;
            }
        });
    }
    tasks.close();
    tasks.wait().await;
    (CALLS / IN_FLIGHT * IN_FLIGHT) as f64 / began.elapsed().as_secs_f64()
}
