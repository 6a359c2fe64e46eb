//! What the suite is pointed at: the server on the official SDK itself, or `kitbag serve` with that server behind it.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, ensure};

use super::baseline::Side;

/// How the suite reaches the server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Without us: what fails here is the server's own.
    Directly,
    /// Through the endpoint, which reaches it so, in this era.
    Through(Transport, Era),
}

/// How Kitbag reaches the server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Transport {
    Http,
    Stdio,
}

/// What the server behind Kitbag speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Both, so that Kitbag takes the newer one.
    Any,
    Older,
}

pub(super) const WAYS: [Way; 5] = [
    Way::Directly,
    Way::Through(Transport::Http, Era::Any),
    Way::Through(Transport::Stdio, Era::Any),
    Way::Through(Transport::Http, Era::Older),
    Way::Through(Transport::Stdio, Era::Older),
];

/// The suite has a list changed three times within two seconds, and waits a second and a half for the word of the last.
const SETTINGS: &str = "[limits]\nrefresh = \"1s\"\n";

impl Transport {
    fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }
}

impl Era {
    fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Older => "older",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Any => &[],
            Self::Older => &["--era", "older"],
        }
    }
}

impl Way {
    /// What is known to fail there.
    pub(super) fn side(self) -> Side {
        match self {
            Self::Through(Transport::Stdio, Era::Older) => Side::OlderPipe,
            Self::Through(Transport::Http, Era::Older) => Side::OlderServer,
            Self::Directly | Self::Through(_, Era::Any) => Side::Server,
        }
    }

    pub(super) fn folder(self) -> String {
        match self {
            Self::Directly => "directly".to_owned(),
            Self::Through(transport, era) => format!("{}-{}", transport.word(), era.word()),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directly => f.write_str("the server itself"),
            Self::Through(transport, era) => {
                let era = if *era == Era::Older { "a server of the older era" } else { "the server" };
                write!(f, "through kitbag serve, {era} over {}", transport.word())
            }
        }
    }
}

/// Running processes, ended with this value.
pub(super) struct Served {
    /// The first is the one the suite talks to.
    processes: Vec<Process>,
}

impl Served {
    pub(super) fn start(way: Way, programs: &Path, results: &Path) -> anyhow::Result<Self> {
        let everything = programs.join("everything-mcp");
        let by_address = ["--listen", "127.0.0.1:0"];
        let log = |name: &str| results.join(format!("{name}.txt"));
        match way {
            Way::Directly => {
                let mut server = Command::new(&everything);
                let server = Process::start(server.args(by_address), &log("everything"))?;
                Ok(Self { processes: vec![server] })
            }
            Way::Through(transport, era) => {
                let (mut processes, options) = (Vec::new(), era.options());
                let entry = match transport {
                    Transport::Stdio => serde_json::json!({"command": everything, "args": options}),
                    Transport::Http => {
                        let mut server = Command::new(&everything);
                        let server =
                            Process::start(server.args(by_address).args(options), &log("everything"))?;
                        let entry = serde_json::json!({"url": server.url});
                        processes.push(server);
                        entry
                    }
                };
                let home = results.join("home");
                fs::create_dir_all(home.join("config")).context("cannot make a folder")?;
                let servers = serde_json::json!({"mcpServers": {"everything": entry}}).to_string();
                fs::write(home.join("config/mcp.json"), servers).context("cannot write mcp.json")?;
                fs::write(home.join("config/kitbag.toml"), SETTINGS).context("cannot write kitbag.toml")?;
                let mut kitbag = Command::new(programs.join("kitbag"));
                kitbag.args(["serve", "--names", "bare"]).args(by_address);
                kitbag.env("KITBAG_HOME", &home).env("HOME", &home).current_dir(&home);
                processes.insert(0, Process::start(&mut kitbag, &log("kitbag"))?);
                Ok(Self { processes })
            }
        }
    }

    pub(super) fn url(&self) -> &str {
        self.processes.first().map_or("", |process| &process.url)
    }

    /// Ends all, which must still be there.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        for process in &mut self.processes {
            let ended = process.child.try_wait().context("cannot look after a process")?;
            ensure!(ended.is_none(), "{} ended meanwhile ({ended:?})", process.name);
        }
        Ok(())
    }
}

/// One that printed where it listens.
struct Process {
    child: Child,
    name: String,
    url: String,
    /// Held, so that whatever else it prints goes somewhere.
    out: BufReader<ChildStdout>,
}

impl Process {
    fn start(command: &mut Command, log: &Path) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let noise = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        // Standard input stays open: the server ends with it, also when this program is killed.
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(noise).spawn();
        let mut child = started.with_context(|| format!("cannot start {name}"))?;
        let out = child.stdout.take().with_context(|| format!("{name} has no output"))?;
        let mut process = Self { child, name, url: String::new(), out: BufReader::new(out) };
        process.url = address(&mut process.out).with_context(|| format!("cannot read {}", process.name))?;
        ensure!(
            process.url.starts_with("http"),
            "{} printed no address, see {}",
            process.name,
            log.display()
        );
        Ok(process)
    }
}

/// The first address that is printed; empty where there is none.
fn address(out: &mut impl BufRead) -> std::io::Result<String> {
    for line in out.lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        if let Some(url) = words.find(|word| word.starts_with("http://") && word.ends_with("/mcp")) {
            return Ok(url.to_owned());
        }
    }
    Ok(String::new())
}

impl Drop for Process {
    /// Asked first: Kitbag ends its servers.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").arg(pid).status();
        let _ = self.child.wait();
    }
}
