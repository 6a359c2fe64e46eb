//! How many echo calls per second the fake server takes from a bare pipe: `cargo run --release -p testkit
//! --example echo_rate`. A client cannot be measured to be faster than this.
#![expect(clippy::unwrap_used, reason = "a measurement that fails says so")]

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

fn main() {
    for in_flight in [1, 8, 64, 1024] {
        let calls = if in_flight == 1 { 50_000 } else { 500_000 };
        let rate = measure(calls, in_flight);
        println!("{in_flight:5} in flight: {rate:9.0} calls/s");
    }
}

/// Never more than `in_flight` calls are open; more are written when half of them were answered.
fn measure(calls: usize, in_flight: usize) -> f64 {
    let mut command = Command::new(testkit::bin("fake-mcp"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (answered, answers) = mpsc::sync_channel(1024);
    let start = Instant::now();
    let reader = thread::spawn(move || {
        let mut buffer = vec![0; 256 * 1024];
        let mut seen = 0;
        while seen < calls {
            let count = stdout.read(&mut buffer).unwrap();
            assert!(0 < count, "the server ended");
            let lines = buffer[..count].iter().filter(|byte| **byte == b'\n').count();
            seen += lines;
            answered.send(lines).unwrap();
        }
    });
    let (mut sent, mut open) = (0, 0);
    let mut batch = Vec::new();
    while sent < calls {
        batch.clear();
        while open < in_flight && sent < calls {
            sent += 1;
            open += 1;
            writeln!(
                batch,
                "{{\"jsonrpc\":\"2.0\",\"id\":{sent},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\
                 \"arguments\":{{\"message\":\"hello\",\"token\":\"t\"}}}}}}"
            )
            .unwrap();
        }
        stdin.write_all(&batch).unwrap();
        while in_flight / 2 < open {
            open -= answers.recv().unwrap();
        }
    }
    reader.join().unwrap();
    let rate = calls as f64 / start.elapsed().as_secs_f64();
    drop(stdin);
    child.wait().unwrap();
    rate
}
