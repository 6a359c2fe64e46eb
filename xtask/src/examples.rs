//! The library's examples, run one by one against real servers: each ends with assertions, and none may hang.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;

use crate::{Usage, needs, shell};

/// Those that bring their servers along: a process of `fake-mcp`, or an rmcp server inside the program.
const ALONE: [&str; 5] = ["agent_loop", "flow", "many_users", "local_tools", "unit_test"];
/// The one that reads the configuration of whoever runs it.
const CONFIGURED: &str = "ten_lines";
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
    let mut outcome = shell::run_within(&mut configured(&programs, &home, &python)?, MOST);
    // All of them, also when one fails: one look shows all that is broken.
    for example in ALONE {
        outcome = outcome.and(shell::run_within(&mut Command::new(programs.join(example)), MOST));
    }
    let tests = ["test", "--quiet", "--workspace", "--example", "unit_test"];
    outcome.and(shell::run_within(&mut shell::cargo(&tests), MOST))
}

fn build() -> anyhow::Result<()> {
    let examples: Vec<&str> =
        ALONE.into_iter().chain([CONFIGURED]).flat_map(|name| ["--example", name]).collect();
    shell::build(&examples)
}

/// An example with a configuration of its own, in which one published server is called `time`.
fn configured(programs: &Path, home: &PathBuf, python: &Path) -> anyhow::Result<Command> {
    let config = home.join("config");
    fs::create_dir_all(&config).with_context(|| format!("cannot make {}", config.display()))?;
    let time = json!({"command": python, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]});
    let servers = json!({"mcpServers": {"time": time}});
    fs::write(config.join("mcp.json"), servers.to_string()).context("cannot write the configuration")?;
    let mut command = Command::new(programs.join(CONFIGURED));
    command.current_dir(home).env("KITBAG_HOME", home).env("HOME", home);
    Ok(command)
}
