//! The libraries' examples, run one by one against real servers: each ends with assertions, and none may hang. Those with a
//! model have one that says what a script tells it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::{Usage, needs, shell};

/// Those that bring their servers along: a process of `fake-mcp`, or an rmcp server inside the program.
const ALONE: [&str; 5] = ["agent_loop", "flow", "many_users", "local_tools", "unit_test"];
/// The one that reads the configuration of whoever runs it.
const CONFIGURED: &str = "ten_lines";
/// Those with a model, and what it calls the tool of the server `time` by.
const AGENTS: [(&str, &str); 3] = [
    ("chat_in_ten_lines", "get_current_time"),
    ("autonomous_report", "mcp_time_get_current_time"),
    ("without_async", "get_current_time"),
];
/// How long one may take; the first one may have to build `fake-mcp`.
const MOST: Duration = Duration::from_secs(300);

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!(Usage("usage: cargo xtask examples".into()));
    }
    let python = needs::python_servers()?.join("bin/python");
    build()?;
    let target = shell::target()?;
    let programs = target.join("debug/examples");
    let home = target.join("examples-home");
    let mut outcome = shell::run_within(&mut configured(&programs, &home, &python, CONFIGURED)?, MOST);
    // All of them, also when one fails: one look shows all that is broken.
    for example in ALONE {
        outcome = outcome.and(shell::run_within(&mut Command::new(programs.join(example)), MOST));
    }
    for (example, tool) in AGENTS {
        let model = ScriptedModel::start(&target, &home, tool);
        outcome = outcome.and(model.and_then(|model| {
            let mut command = configured(&programs, &home, &python, example)?;
            shell::run_within(command.envs(model.vars()), MOST)
        }));
    }
    let tests = ["test", "--quiet", "--workspace", "--example", "unit_test"];
    outcome.and(shell::run_within(&mut shell::cargo(&tests), MOST))
}

fn build() -> anyhow::Result<()> {
    let agents = AGENTS.iter().map(|(name, _)| *name);
    let examples = ALONE.into_iter().chain([CONFIGURED]).chain(agents).flat_map(|name| ["--example", name]);
    shell::build(&examples.chain(["--bin", "fake-model"]).collect::<Vec<_>>())
}

/// An example with a configuration of its own, in which one published server is called `time`.
fn configured(programs: &Path, home: &PathBuf, python: &Path, example: &str) -> anyhow::Result<Command> {
    let config = home.join("config");
    fs::create_dir_all(&config).with_context(|| format!("cannot make {}", config.display()))?;
    let time = json!({"command": python, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]});
    let servers = json!({"mcpServers": {"time": time}});
    fs::write(config.join("mcp.json"), servers.to_string()).context("cannot write the configuration")?;
    let mut command = Command::new(programs.join(example));
    command.current_dir(home).env("KITBAG_HOME", home).env("HOME", home);
    Ok(command)
}

/// `fake-model`, running: it calls one tool, and then says that it did. Ended with the handle.
struct ScriptedModel {
    child: Child,
    url: String,
}

impl ScriptedModel {
    fn start(target: &Path, home: &Path, tool: &str) -> anyhow::Result<Self> {
        let call = json!({"name": tool, "arguments": {"timezone": "Asia/Tokyo"}});
        let turns: Value = json!({"turns": [{"calls": [call]}, {"text": ["It is ", "late in Tokyo."]}]});
        let script = home.join("script.json");
        fs::write(&script, turns.to_string()).context("cannot write the script of the model")?;
        let mut command = Command::new(target.join("debug/fake-model"));
        let child = command.arg("--script").arg(script).stdout(Stdio::piped()).spawn();
        let mut model = Self { child: child.context("cannot start fake-model")?, url: String::new() };
        if let Some(stdout) = model.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut model.url).context("fake-model says nothing")?;
        }
        Ok(model)
    }

    /// The variables by which an example finds it.
    fn vars(&self) -> [(&'static str, String); 3] {
        let base = format!("{}/v1", self.url.trim());
        let (key, name) = ("OPENAI_API_KEY", "OPENAI_MODEL");
        [("OPENAI_BASE_URL", base), (key, "example".to_owned()), (name, "scripted".to_owned())]
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
