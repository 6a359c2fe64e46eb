//! What it costs to put a view into a model's words: definitions in each provider's form, and the texts.
//!
//! Prints markdown tables. What counts is the ratio, taken in one run: compiling all definitions against writing
//! the same definitions as JSON, which every request does anyway. Exit code 1 when one is broken. The texts stand
//! beside a bare copy of themselves, for information.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

#[path = "catalog/whole.rs"]
mod whole;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use kitbag::{Env, Kitbag, OpenOptions, Setup};
use kitbag_core::ServerName;
use kitbag_core::catalog::{ServerTools, Snapshot};
use kitbag_core::model::Transport;
use kitbag_core::present::native::{NativeRequest, Provider, Strict, compile};
use kitbag_core::present::{gateway, markdown, signatures};
use kitbag_core::shape::View;
use serde_json::Value;
use testkit::corpus;
use whole::{part, view};

const SERVERS: usize = 500;
const TOOLS: usize = 10_000;
const ROUNDS: usize = 9;
/// How often the same is asked for again.
const AGAIN: u32 = 100_000;
/// Compiling, as a multiple of writing what was compiled.
const MOST_COMPILE: f64 = 6.0;

fn main() {
    // Fewer for a look at where the time goes, which is slow: `bench present 500 1`.
    let mut given = std::env::args().skip(1).map(|number| number.parse::<usize>().unwrap());
    let (tools, rounds) = (given.next().unwrap_or(TOOLS), given.next().unwrap_or(ROUNDS));
    let parts = parts(tools);
    let view = view(&snapshot(&parts), None);
    assert_eq!(view.tools().len(), tools);
    let broken = definitions(&view, rounds);
    println!();
    texts(&view, rounds);
    println!();
    again(parts);
    std::process::exit(i32::from(broken));
}

/// What is asked for again while nothing changed is there already.
fn again(parts: Vec<ServerTools>) {
    let house = tempfile::tempdir().unwrap();
    let home = [("KITBAG_HOME".into(), house.path().into())];
    let mut setup = Setup::empty(Env::new(home, house.path()));
    setup.catalog = parts;
    // A kit has tasks of its own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let kit = Kitbag::start(setup, OpenOptions::default());
    let view = kit.own_view();
    let audience = kit.present_options(view.agent(), Provider::Anthropic);
    let first = kit.present(&view, &audience);
    let (mut shown, mut cloned) = (Duration::MAX, Duration::MAX);
    timed(&mut shown, || (0..AGAIN).for_each(|_| drop(black_box(kit.present(&view, &audience)))));
    timed(&mut cloned, || (0..AGAIN).for_each(|_| drop(black_box(Arc::clone(black_box(&first))))));
    assert!(Arc::ptr_eq(&first, &kit.present(&view, &audience)));
    let nanos = |time: Duration| time.as_nanos() as f64 / f64::from(AGAIN);
    println!(
        "the same again, nothing having changed: {:.0} ns; a bare clone of it: {:.0} ns",
        nanos(shown),
        nanos(cloned)
    );
}

/// Every provider's form; whether one is too dear. Strict ones, which are asked for seldom, have no bound.
fn definitions(view: &View, rounds: usize) -> bool {
    let mut requests: Vec<NativeRequest> = Provider::ALL.map(NativeRequest::new).into();
    let strict = Provider::ALL.into_iter().filter(|provider| provider.has_strict());
    let strict =
        strict.map(|provider| NativeRequest { strict: Strict::WithinBudget, ..NativeRequest::new(provider) });
    requests.extend(strict);
    let mut best = vec![[Duration::MAX; 2]; requests.len()];
    let mut bytes = vec![0; requests.len()];
    // In turns, and the best of each: a neighbour's work must not count for one of them only.
    for _ in 0..rounds {
        for ((request, [made, written]), bytes) in requests.iter().zip(&mut best).zip(&mut bytes) {
            let native = timed(made, || compile(black_box(view), request));
            assert!(native.quarantined.is_empty());
            *bytes = timed(written, || serde_json::to_vec(black_box(&native.tools)).unwrap()).len();
        }
    }
    println!("| {} tools for | compiled | written as JSON | ratio | bytes |", view.tools().len());
    println!("|---|---:|---:|---:|---:|");
    let mut broken = false;
    for ((request, [made, written]), bytes) in requests.iter().zip(&best).zip(&bytes) {
        let (ratio, loose) = (ratio(*made, *written), request.strict == Strict::Off);
        let form = if loose { "" } else { ", strict" };
        println!(
            "| {}{form} | {} | {} | {ratio:.2} | {bytes} |",
            request.provider,
            millis(*made),
            millis(*written)
        );
        broken |= loose && MOST_COMPILE < ratio;
    }
    println!("\ncompiling costs at most {MOST_COMPILE} × writing, strict forms aside");
    broken
}

fn texts(view: &View, rounds: usize) {
    let names: Vec<ServerName> = view.snapshot().parts().map(|part| part.server.clone()).collect();
    let described = |name| gateway::GatewayServer { name, transport: Transport::Stdio, description: None };
    let servers: Vec<gateway::GatewayServer<'_>> = names.iter().map(described).collect();
    let mut best = [[Duration::MAX; 2]; 3];
    for _ in 0..rounds {
        let [lines, signed, gates] = &mut best;
        against_copy(lines, || markdown::markdown(view, &markdown::MarkdownOptions::default()));
        against_copy(signed, || signatures::signatures(view));
        against_copy(gates, || gateway::definitions(view, &servers));
    }
    println!("| the same as | made | copied | ratio |\n|---|---:|---:|---:|");
    for (form, [made, copied]) in ["markdown", "signatures", "gateway"].into_iter().zip(best) {
        println!("| {form} | {} | {} | {:.1} |", millis(made), millis(copied), ratio(made, copied));
    }
}

fn against_copy<T: Clone>([made, copied]: &mut [Duration; 2], work: impl FnOnce() -> T) {
    let whole = timed(made, work);
    drop(timed(copied, || black_box(&whole).clone()));
}

/// Real definitions over and over, each under a name of its own, on as many servers as people with many have.
fn parts(tools: usize) -> Vec<ServerTools> {
    let definitions: Vec<Value> = corpus::all().into_iter().flat_map(|recorded| recorded.tools).collect();
    let servers = SERVERS.min(tools);
    let parts = (0..servers).map(|server| {
        let places = tools * server / servers..tools * (server + 1) / servers;
        let texts: Vec<String> = places
            .map(|place| {
                let mut definition = definitions[place % definitions.len()].clone();
                definition["name"] = format!("{}_{place}", definition["name"].as_str().unwrap()).into();
                definition.to_string()
            })
            .collect();
        let name = ServerName::parse(&format!("server {server}")).unwrap();
        part(&name, &texts)
    });
    parts.collect()
}

fn snapshot(parts: &[ServerTools]) -> Arc<Snapshot> {
    let snapshot = Snapshot::default().with_all(parts.iter().cloned());
    Arc::new(snapshot.with_gateways(parts.iter().map(|part| &part.server)).unwrap_or(snapshot))
}

fn timed<T>(best: &mut Duration, work: impl FnOnce() -> T) -> T {
    let began = worked();
    let made = black_box(work());
    *best = (worked() - began).min(*best);
    made
}

/// How long this thread has had a processor: a neighbour's work does not count.
fn worked() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap())
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64()
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
