//! A fake server over HTTP as a test holds it: a real process on a port of its own, ended with the handle.

use std::io;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{bin, wait_until};

/// How long a port may still be taken by the process that was just ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// `fake-mcp --http …`, running.
#[derive(Debug)]
pub struct Http {
    args: Vec<String>,
    child: Child,
    url: String,
}

impl Http {
    /// Starts `fake-mcp --http 0` with further arguments, and returns when it listens.
    ///
    /// # Panics
    /// If it cannot be started, or ends before it listens.
    pub fn start(args: &[&str]) -> Self {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        match spawn("0", &args) {
            Ok((child, url)) => Self { args, child, url },
            Err(error) => panic!("fake-mcp --http 0 {}: {error}", args.join(" ")),
        }
    }

    /// Where it serves, for example `http://127.0.0.1:41234/mcp`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        let rest = self.url.split_once("//").map_or(&*self.url, |(_, rest)| rest);
        rest.split_once('/').map_or(rest, |(address, _)| address)
    }

    /// The process that serves now.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the process at once. The address stays its own for [`Http::start_again`].
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A new process at the same address, with the same arguments.
    ///
    /// # Panics
    /// If it cannot be started, or somebody else has taken the port.
    pub fn start_again(&mut self) {
        self.stop();
        let port = self.address().rsplit_once(':').map_or("0", |(_, port)| port).to_owned();
        let mut failed = String::new();
        let started = wait_until(PATIENCE, || match spawn(&port, &self.args) {
            Ok((child, url)) => {
                (self.child, self.url) = (child, url);
                true
            }
            Err(error) => {
                failed = error.to_string();
                false
            }
        });
        assert!(started, "cannot start again on port {port}: {failed}");
    }

    /// The same with other arguments from now on.
    ///
    /// # Panics
    /// As [`Http::start_again`].
    pub fn start_again_with(&mut self, args: &[&str]) {
        self.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self.start_again();
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(port: &str, args: &[String]) -> io::Result<(Child, String)> {
    let mut command = Command::new(bin("fake-mcp"));
    let command = command.args(["--http", port]).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut url = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut url)?;
    }
    let url = url.trim_end().to_owned();
    if url.starts_with("http://") {
        return Ok((child, url));
    }
    let _ = child.kill();
    let status = child.wait()?;
    Err(io::Error::other(format!("it ended before it listened: {status}")))
}
