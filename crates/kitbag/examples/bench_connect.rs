//! How long it takes until fifty servers are listed, beside a bare loop that starts the same fifty through the
//! same guard and sends and reads the same bytes.
//!
//! Prints a markdown table; ends with 1 when a ratio is beyond its bound.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and the environment")]

#[path = "open/kit.rs"]
mod open;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SERVERS: usize = 50;
const TOOLS: usize = 20;
const SLOW_MS: u64 = 2_000;
const ROUNDS: usize = 3;
const MOST: f64 = 1.5;
const MOST_WITH_HUNG: f64 = 1.1;

fn main() {
    kitbag::guard::init();
    let server = testkit::bin("fake-mcp");
    let server = server.to_str().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let best = |mut once: Box<dyn FnMut() -> Duration>| (0..ROUNDS).map(|_| once()).min().unwrap();
    let bare = {
        let server = server.clone();
        best(Box::new(move || bare(&server)))
    };
    let ours = best(Box::new(|| runtime.block_on(listed(&server, Extra::None))));
    let hung = best(Box::new(|| runtime.block_on(listed(&server, Extra::Hung))));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "| {SERVERS} servers of {TOOLS} tools, one with a start of {SLOW_MS} ms | until all are listed | ratio |\n|---|---:|---:|"
    );
    println!("| bare loop, same guard, same bytes | {:.0} ms | |", ms(bare));
    println!("| Kitbag | {:.0} ms | {:.2} |", ms(ours), ms(ours) / ms(bare));
    println!(
        "| Kitbag, one hung server more (the other {SERVERS}) | {:.0} ms | {:.2} |",
        ms(hung),
        ms(hung) / ms(ours)
    );
    println!("\nbounds: {MOST} × the bare loop, {MOST_WITH_HUNG} × with a hung one");
    std::process::exit(i32::from(MOST * ms(bare) < ms(ours) || MOST_WITH_HUNG * ms(ours) < ms(hung)));
}

/// Whether a server is added that never answers.
#[derive(Clone, Copy, PartialEq)]
enum Extra {
    None,
    Hung,
}

fn args(index: usize) -> Vec<String> {
    let mut args = vec!["--tools".to_owned(), TOOLS.to_string()];
    if index == 0 {
        args.extend(["--start-delay".to_owned(), SLOW_MS.to_string()]);
    }
    args
}

async fn listed(server: &str, extra: Extra) -> Duration {
    let entry =
        |index: usize| format!("\"s{index}\": {{\"command\": {server:?}, \"args\": {:?}}}", args(index));
    let mut entries: Vec<String> = (0..SERVERS).map(entry).collect();
    if extra == Extra::Hung {
        entries.push(format!("\"hung\": {{\"command\": {server:?}, \"args\": [\"--fault\", \"s05\"]}}"));
    }
    let began = Instant::now();
    let (kit, _home) = open::start(&entries.join(","));
    for link in kit.links().into_iter().filter(|link| link.name().as_str() != "hung") {
        link.settled().await;
        assert!(TOOLS <= link.tools().tools.len(), "{:?}", link.status());
    }
    let took = began.elapsed();
    kit.close().await;
    took
}

/// Starts every server and sends all of them the first request before reading an answer of any.
fn bare(server: &str) -> Duration {
    const META: &str = r#""_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"kitbag","version":"0.1.0"}}"#;
    let began = Instant::now();
    let mut children: Vec<Child> = (0..SERVERS)
        .map(|index| {
            let mut guard = Command::new("/proc/self/exe");
            guard.args(["__guard", &std::process::id().to_string(), server]).args(args(index));
            guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let mut outputs: Vec<_> =
        children.iter_mut().map(|child| BufReader::new(child.stdout.take().unwrap())).collect();
    for (id, method) in [(1, "server/discover"), (2, "tools/list")] {
        for child in &mut children {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{META}}}}}\n"
            );
            child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        }
        for output in &mut outputs {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert!(line.contains("result"), "{line}");
        }
    }
    let took = began.elapsed();
    for mut child in children {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    took
}
