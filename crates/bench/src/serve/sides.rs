//! The sides that are measured, each as a program of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use testkit::House;

use super::load::Target;
use super::process::Family;

/// What stands behind a side.
#[derive(Clone, Debug)]
pub enum Upstream {
    /// A program, started by the side.
    Stdio,
    /// An address.
    Http(String),
}

/// A program that was started, and ends with this value.
pub struct Running {
    child: Child,
    /// Where it is called.
    pub target: Target,
    /// From its start until the tool was listed.
    pub took: Duration,
    _house: Option<House>,
}

impl Running {
    /// Its processes.
    pub fn family(&self) -> Family {
        Family::of(&self.child)
    }

    /// Starts a program that is to listen at this address.
    pub fn start(command: &mut Command, to: SocketAddr, path: &'static str, house: Option<House>) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said());
        let began = Instant::now();
        let mut child = command.spawn().unwrap();
        loop {
            if let Some(target) = Target::try_open(to, path) {
                return Self { child, target, took: began.elapsed(), _house: house };
            }
            assert!(child.try_wait().unwrap().is_none(), "{command:?} ended");
            assert!(began.elapsed() < Duration::from_secs(60), "{command:?} lists no tool");
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

/// Where the programs put what they say: nowhere, or in the file that `BENCH_LOG` names.
fn said() -> Stdio {
    let file = std::env::var_os("BENCH_LOG")
        .and_then(|file| File::options().append(true).create(true).open(file).ok());
    file.map_or_else(Stdio::null, Into::into)
}

/// A program that `cargo xtask bench serve` built beside this one.
pub fn built(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap().with_file_name(name);
    assert!(program.exists(), "{} is missing: cargo xtask bench serve builds it", program.display());
    program
}

/// An address that is free now.
pub fn free() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

/// The upstream server at an address of its own.
pub struct AtAddress {
    child: Child,
    /// Its address.
    pub url: String,
}

impl AtAddress {
    /// Starts it.
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new(built("bench-upstream"));
        let mut child = command.arg("--http").args(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    /// Itself as what is called.
    pub fn target(&self) -> Target {
        let address = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        Target::try_open(address.parse().unwrap(), "/mcp").unwrap()
    }
}

impl Drop for AtAddress {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The relay.
pub fn relay(upstream: &Upstream) -> Running {
    let to = free();
    let mut command = Command::new(built("bench-relay"));
    command.arg(to.port().to_string()).arg("fast_");
    match upstream {
        Upstream::Stdio => command.arg(built("bench-upstream")),
        Upstream::Http(url) => command.arg(url),
    };
    Running::start(&mut command, to, "/mcp", None)
}

/// What a Kitbag serves.
#[derive(Clone, Debug)]
pub struct Servers {
    /// What each is.
    pub upstream: Upstream,
    /// How many.
    pub count: usize,
    /// How many tools each of them has, where it is a program.
    pub tools: usize,
}

impl Servers {
    /// One server with one tool.
    pub fn one(upstream: Upstream) -> Self {
        Self { upstream, count: 1, tools: 1 }
    }
}

/// Rules as somebody has them who has rules: what is seen is asked for every call. Pins, checks of arguments and the audit log
/// are on unless they are switched off. The limits are above what the load client does; it shares one user.
const SETTINGS: &str = r#"
[groups.team]
allow = ["*/echo*", "docs/*", "risk:read"]
deny = ["*/delete*", "secrets/*"]

[users.local]
groups = ["team"]

[limits]
serve_rate = 100000000
serve_burst = 100000000
"#;

/// `kitbag serve`.
pub fn kitbag(servers: &Servers) -> Running {
    let house = House::new();
    let upstream = built("bench-upstream");
    let entry = match &servers.upstream {
        Upstream::Stdio => {
            json!({"command": upstream, "args": ["--tools", servers.tools.to_string()], "concurrency": 64})
        }
        Upstream::Http(url) => json!({"type": "http", "url": url, "concurrency": 64}),
    };
    let name = |number: usize| if number == 0 { "fast".to_owned() } else { format!("fast-{number}") };
    let all: Map<String, Value> = (0..servers.count).map(|number| (name(number), entry.clone())).collect();
    house.put("kit/config/mcp.json", json!({ "mcpServers": all }).to_string());
    house.put("kit/config/kitbag.toml", SETTINGS);
    let (to, began) = (free(), Instant::now());
    let mut command = Command::new(built("kitbag"));
    command.args(["serve", "--mode", "native", "--listen", &to.to_string()]);
    command.env_clear().envs(house.vars()).current_dir(house.path("project"));
    let mut running = Running::start(&mut command, to, "/mcp", Some(house));
    // The first list may come before the last server's.
    let all = servers.count * if matches!(servers.upstream, Upstream::Stdio) { servers.tools } else { 1 };
    while running.target.tools < all {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{} of {all} tools are listed",
            running.target.tools
        );
        std::thread::sleep(Duration::from_millis(20));
        running.target = Target::try_open(to, "/mcp").unwrap();
    }
    running
}
