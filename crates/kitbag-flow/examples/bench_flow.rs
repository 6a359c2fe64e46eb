//! `cargo xtask bench flow`: a drawing of a thousand nodes, checked and run, against parsing its JSON; and an example of Xircuits
//! from start to finish, beside the real program.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on fails")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use kitbag_flow::{CheckOptions, Drawing, Flow, Host, Output};

/// Checking and running may take so many times as long as parsing.
const MOST: f64 = 3.0;
const NODES: usize = 1_000;
const ROUNDS: usize = 30;

struct Nowhere;
impl Output for Nowhere {
    fn print(&self, _text: &str) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let drawing = drawing();
    let mut parsing = Vec::new();
    let mut running = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let json: serde_json::Value = serde_json::from_str(drawing.text()).unwrap();
        parsing.push(began.elapsed());
        drop(json);
        let began = Instant::now();
        run(&drawing).await;
        running.push(began.elapsed());
    }
    let (parsing, running) = (median(parsing), median(running));
    let times = running.as_secs_f64() / parsing.as_secs_f64();
    println!(
        "{NODES} nodes, {} KiB: parsing its JSON {parsing:?}, checking and running {running:?} ({times:.2} x)",
        drawing.text().len() >> 10
    );
    let ours = hello().await;
    match real() {
        Some(real) => println!(
            "HelloXircuits from its file to its end: {ours:?}; compiled and run by Xircuits: {real:?}"
        ),
        None => println!(
            "HelloXircuits from its file to its end: {ours:?}; Xircuits is not installed (cargo xtask test)"
        ),
    }
    if times <= MOST {
        return ExitCode::SUCCESS;
    }
    println!("more than {MOST} x");
    ExitCode::FAILURE
}

async fn run(drawing: &Drawing) {
    let flow = Flow::new(drawing, &CheckOptions::default()).unwrap();
    flow.run(&Host::new(kitbag::Env::new([], "."), Nowhere), HashMap::new()).await.unwrap();
}

/// A chain of components, each with a literal: five hundred of both.
fn drawing() -> Drawing {
    let mut drawing = Drawing::build("large");
    let mut last = drawing.then("ConcatString", [("a", "x".into()), ("b", "y".into())]);
    for _ in 0..(NODES - 6) / 2 {
        let next = drawing.then("ConcatString", [("a", "x".into())]);
        drawing.connect((last, "out"), (next, "b"));
        last = next;
    }
    drawing.output((last, "out"));
    drawing.finish().unwrap()
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/xircuits/HelloXircuits.xircuits")
}

async fn hello() -> Duration {
    let began = Instant::now();
    run(&kitbag_flow::load(&example(), &kitbag::Limits::default()).unwrap()).await;
    began.elapsed()
}

/// The time the real program takes, where it is installed.
fn real() -> Option<Duration> {
    let program = std::env::current_exe().ok()?;
    let tools =
        program.ancestors().map(|folder| folder.join("tools/py-xircuits/bin")).find(|bin| bin.exists())?;
    let folder = std::env::temp_dir().join(format!("kitbag-bench-flow-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(tools.join(program)).args(args).current_dir(&folder).output();
        output.ok().filter(|output| output.status.success()).map(|_| ())
    };
    let timed = || {
        run("xircuits", &["init"])?;
        std::fs::copy(example(), folder.join("HelloXircuits.xircuits")).ok()?;
        let began = Instant::now();
        run("xircuits", &["compile", "HelloXircuits.xircuits"])?;
        run("python", &["HelloXircuits.py"])?;
        Some(began.elapsed())
    };
    let took = timed();
    let _ = std::fs::remove_dir_all(&folder);
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
