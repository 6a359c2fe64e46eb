//! What somebody waits for who types `kitbag` for the first time today: the first line of `kitbag tools` by lists that are
//! remembered, beside the same lists in a folder (`--catalog`), which needs neither configuration nor servers; and the
//! overview of a machine with many programs and servers, beside `kitbag --version`, which does nothing.
//!
//! Prints a markdown table; ends with 1 when a ratio is beyond its bound.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::House;

const ROUNDS: usize = 25;
const SERVERS: usize = 20;
/// Beyond those that every fake server has.
const TOOLS: usize = 20;
const MOST_TOOLS: f64 = 1.5;
const MOST_OVERVIEW: f64 = 3.0;

/// Ten programs, each with two servers, in the form the program itself writes.
const PROGRAMS: [(&str, &str); 10] = [
    ("home/.config/Claude/claude_desktop_config.json", "mcpServers"),
    ("home/.claude.json", "mcpServers"),
    ("home/.cursor/mcp.json", "mcpServers"),
    ("home/.config/Code/User/mcp.json", "servers"),
    ("home/.codeium/windsurf/mcp_config.json", "mcpServers"),
    ("home/.gemini/settings.json", "mcpServers"),
    ("home/.qwen/settings.json", "mcpServers"),
    ("home/.lmstudio/mcp.json", "mcpServers"),
    ("home/.copilot/mcp-config.json", "mcpServers"),
    ("home/.kiro/settings/mcp.json", "mcpServers"),
];

fn main() {
    // Built by `cargo xtask bench` just before, into the same folder.
    let binary = std::env::current_exe().unwrap().with_file_name("kitbag");
    assert!(binary.exists(), "{} is missing: cargo xtask bench first-contact builds it", binary.display());
    let house = machine();
    let kitbag = Kitbag { binary: &binary, house: &house };
    let catalog = remember(&kitbag);
    let catalog = catalog.to_str().unwrap();
    let mut best = [Duration::MAX; 4];
    // In turns, and the best of each: a neighbour's work must not count for one side only.
    for _ in 0..ROUNDS {
        let now = [
            kitbag.first_line(&["tools", "--catalog", catalog]),
            kitbag.first_line(&["tools"]),
            kitbag.whole(&["--version"]),
            kitbag.whole(&[]),
        ];
        best = std::array::from_fn(|side| best[side].min(now[side]));
    }
    let [catalog, tools, version, overview] = best.map(|time| time.as_secs_f64() * 1e3);
    println!("| best of {ROUNDS} | | beside | | ratio | at most |\n|---|---:|---|---:|---:|---:|");
    println!(
        "| first line of `kitbag tools`, lists remembered | {tools:.1} ms | `kitbag tools --catalog` | {catalog:.1} ms | {:.2} | {MOST_TOOLS} |",
        tools / catalog
    );
    println!(
        "| `kitbag`, ten programs' files, {SERVERS} servers in use | {overview:.1} ms | `kitbag --version` | {version:.1} ms | {:.2} | {MOST_OVERVIEW} |",
        overview / version
    );
    let is_broken = MOST_TOOLS < tools / catalog || MOST_OVERVIEW < overview / version;
    drop(house);
    std::process::exit(i32::from(is_broken));
}

/// A machine with servers in use, and with programs whose servers are only found.
fn machine() -> House {
    let house = House::new();
    let fake = testkit::bin("fake-mcp");
    let entry = json!({"command": fake, "args": ["--tools", TOOLS.to_string()]});
    let servers: serde_json::Map<String, Value> =
        (0..SERVERS).map(|number| (format!("server-{number:02}"), entry.clone())).collect();
    house.put("kit/config/mcp.json", format!("{:#}", json!({ "mcpServers": servers })));
    for (number, (file, key)) in PROGRAMS.iter().enumerate() {
        let server = |part: &str| {
            json!({"command": "npx", "args": ["-y", format!("@acme/{part}-mcp@1.2.3"), "--root", "/srv/projects"],
                "env": {"LEVEL": "info"}})
        };
        let servers =
            json!({format!("files-{number}"): server("files"), format!("search-{number}"): server("search")});
        house.put(file, format!("{:#}", json!({ *key: servers })));
    }
    house
}

/// Has every server list its tools once, and lays the lists down as a catalog.
fn remember(kitbag: &Kitbag<'_>) -> PathBuf {
    kitbag.whole(&["tools", "--wait", "60s"]);
    let lists: Vec<(PathBuf, Vec<u8>)> = kitbag.house.files("kit/cache/tools");
    assert_eq!(lists.len(), SERVERS, "every server was listed");
    for (file, text) in lists {
        let list: Value = serde_json::from_slice(&text).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        kitbag.house.put(&format!("catalog/{name}"), list["tools"].to_string());
    }
    kitbag.house.path("catalog")
}

struct Kitbag<'a> {
    binary: &'a Path,
    house: &'a House,
}

impl Kitbag<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command.args(args).env_clear().envs(self.house.vars()).current_dir(self.house.path("project"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Until there is something to read. What comes after it is waited for and not counted.
    fn first_line(&self, args: &[&str]) -> Duration {
        let began = Instant::now();
        let mut child = self.command(args).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let took = began.elapsed();
        assert!(line.contains("mcp_server_00_add"), "{args:?}: {line}");
        out.read_to_string(&mut line).unwrap();
        assert!(child.wait().unwrap().success(), "{args:?}");
        took
    }

    fn whole(&self, args: &[&str]) -> Duration {
        let began = Instant::now();
        let output = self.command(args).output().unwrap();
        let took = began.elapsed();
        assert!(output.status.success() && !output.stdout.is_empty(), "{args:?}");
        took
    }
}
