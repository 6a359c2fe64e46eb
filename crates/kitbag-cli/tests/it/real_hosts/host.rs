//! Where `cargo xtask test` put the programs, and how each is run: in the house of one test, without a network, and
//! never for ever.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use testkit::{PATIENCE, proc, tool, wait_until};

use crate::house::{House, Ran};

/// A program that people have their servers in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Host {
    ClaudeCode,
    Codex,
    GeminiCli,
    QwenCode,
}

impl Host {
    pub(super) const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::GeminiCli, Self::QwenCode];

    /// The word by which Kitbag knows it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini",
            Self::QwenCode => "qwen",
        }
    }

    /// The file of the user's own servers.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::ClaudeCode => "home/.claude.json",
            Self::Codex => "home/.codex/config.toml",
            Self::GeminiCli => "home/.gemini/settings.json",
            Self::QwenCode => "home/.qwen/settings.json",
        }
    }

    /// The program with these arguments, in the project folder.
    #[track_caller]
    pub(super) fn run(self, house: &House, args: &[&str]) -> Ran {
        self.run_in(house, "project", args, &[])
    }

    /// The same in another folder and with further variables; nothing of it is left afterwards.
    #[track_caller]
    pub(super) fn run_in(
        self,
        house: &House,
        folder: &str,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Ran {
        let (out, err) = (house.path("host.out"), house.path("host.err"));
        let mut command = self.command();
        command.args(args).current_dir(house.path(folder));
        command.env_clear().envs(house.vars()).envs(ALONE).env("PATH", path(house));
        command.envs(variables.iter().copied());
        // Files, not pipes: a child that outlives the program cannot hold the test up.
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        let mut status = None;
        let ended = wait_until(PATIENCE, || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        let gone = ended && wait_until(PATIENCE, || processes(house).is_empty());
        let left = processes(house);
        for pid in &left {
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        }
        let text = |file: PathBuf| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        let ran = Ran { code: status.and_then(|status| status.code()), out: text(out), err: text(err) };
        assert!(ended, "{self:?} {args:?} does not end: {ran:?}");
        assert!(gone, "{self:?} {args:?} left processes behind: {left:?}");
        ran
    }

    /// How the program is started.
    pub(super) fn command(self) -> Command {
        let name = match self {
            // What its package installs under this name is put there by a script, and none runs.
            Self::ClaudeCode => {
                let mut command = Command::new("node");
                command.arg(tool("hosts/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs"));
                return command;
            }
            Self::Codex => "codex",
            Self::GeminiCli => "gemini",
            Self::QwenCode => "qwen",
        };
        Command::new(tool(&format!("hosts/node_modules/.bin/{name}")))
    }
}

/// Neither reports nor updates, no second process of itself, and no way out: every address but the machine's own is
/// behind a proxy that does not exist. Folders are taken for approved.
pub(crate) const ALONE: [(&str, &str); 11] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ("GEMINI_TELEMETRY_ENABLED", "false"),
    ("QWEN_CODE_NO_RELAUNCH", "true"),
    ("QWEN_TELEMETRY_ENABLED", "false"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("NO_PROXY", "127.0.0.1,localhost"),
];

/// The programs' own Node first, where there is one for this platform.
pub(crate) fn path(house: &House) -> String {
    let machine = house.vars().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    format!("{}:{machine}", tool("hosts/node_modules/.bin").display())
}

/// Whoever started them, they have the home of this house.
pub(crate) fn processes(house: &House) -> Vec<u32> {
    proc::with_env_marker("HOME", &house.at("home"))
}
