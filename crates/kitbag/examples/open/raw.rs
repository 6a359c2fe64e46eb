//! The least a client can do with one server: blocking reads and writes of the same bytes a link sends and reads.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Calls of one measurement.
pub(crate) const CALLS: usize = 20_000;
/// Calls in flight at once where the rate is measured.
pub(crate) const IN_FLIGHT: usize = 64;
/// The arguments of every call.
pub(crate) const ARGUMENTS: &str = r#"{"message":"0123456789abcdef0123456789abcdef","token":"t-000001"}"#;

/// The least a client can do: the bytes of a request out, the bytes of an answer in.
pub(crate) struct Raw {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
    line: Vec<u8>,
}

impl Raw {
    pub(crate) fn start(mut server: Command) -> Self {
        let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) =
            (child.stdin.take().unwrap(), BufReader::with_capacity(64 << 10, child.stdout.take().unwrap()));
        Self { child, input, output, id: 0, line: Vec::new() }
    }

    fn request(&mut self) -> String {
        self.id += 1;
        request(self.id)
    }

    fn receive(&mut self) {
        self.line.clear();
        self.output.read_until(b'\n', &mut self.line).unwrap();
        assert!(!self.line.is_empty());
    }

    /// Keeps as many in flight as the link does, in batches as they come back.
    pub(crate) fn pipelined(mut self) -> f64 {
        let began = Instant::now();
        let first: String = (0..IN_FLIGHT).map(|_| self.request()).collect();
        self.input.write_all(first.as_bytes()).unwrap();
        let mut sent = IN_FLIGHT;
        let mut received = 0;
        while received < CALLS * 4 {
            let mut more = String::new();
            self.receive();
            received += 1;
            while self.output.buffer().contains(&b'\n') {
                self.receive();
                received += 1;
            }
            while sent < CALLS * 4 && sent < received + IN_FLIGHT {
                more += &self.request();
                sent += 1;
            }
            self.input.write_all(more.as_bytes()).unwrap();
        }
        received as f64 / began.elapsed().as_secs_f64()
    }
}

pub(crate) fn request(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{ARGUMENTS},"_meta":{{"progressToken":{id},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"kitbag","version":"0.1.0"}}}}}}}}"#
    ) + "\n"
}

/// A server as a link starts it.
pub(crate) fn guarded(server: &str) -> Command {
    let mut guard = Command::new("/proc/self/exe");
    guard.args(["__guard", &std::process::id().to_string(), server]);
    guard
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn latencies(raw: &mut Raw) -> Vec<Duration> {
    let mut once = || {
        let request = raw.request();
        let began = Instant::now();
        raw.input.write_all(request.as_bytes()).unwrap();
        raw.receive();
        began.elapsed()
    };
    (0..CALLS / 10).for_each(|_| {
        once();
    });
    (0..CALLS).map(|_| once()).collect()
}
