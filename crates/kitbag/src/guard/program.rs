//! A program that is no server and must not outlive us either: started under a guard of its own, and ended with everything
//! it started, also when whoever waits for it gives up.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::{Force, Launcher, finish, marker, signal, sweep_marked};

/// What is started.
#[derive(Clone)]
pub struct ProgramStart {
    /// Where it is.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// All variables it gets; they may be secrets.
    pub env: Vec<(String, OsString)>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// What it is called where its processes are looked for.
    pub name: String,
}

impl std::fmt::Debug for ProgramStart {
    /// Without its variables and arguments.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramStart")
            .field("path", &self.path)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// A program that runs. Dropping it ends it and everything it started.
#[derive(Debug)]
pub struct GuardedProgram {
    child: Child,
    launcher: Launcher,
    marker: String,
}

/// The pipes of a program.
#[derive(Debug)]
pub struct Pipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: ChildStdout,
    /// What it says beside that.
    pub stderr: ChildStderr,
}

impl GuardedProgram {
    /// Starts a program.
    pub fn start(program: &ProgramStart, launcher: Launcher) -> io::Result<(Self, Pipes)> {
        let marker = marker(&program.name, "");
        let args = program.args.iter().map(String::as_str);
        let mut command = launcher.command(&program.path, args, Duration::ZERO);
        command.env_clear().envs(program.env.iter().map(|(name, value)| (name, value)));
        command.env(super::MARKER, &marker).current_dir(&program.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Command::from(command).spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("no pipes"));
        };
        Ok((Self { child, launcher, marker }, Pipes { stdin, stdout, stderr }))
    }

    /// Waits for its end.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends it and everything it started, within this time.
    pub async fn end(&mut self, within: Duration) {
        let status = finish(&mut self.child, within, &self.launcher).await;
        let guard_killed = status.is_ok_and(|status| status.code().is_none());
        if guard_killed && self.launcher != Launcher::None {
            sweep_marked(&self.marker);
        }
    }
}

impl Drop for GuardedProgram {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(&mut self.child, &self.launcher, Force::Word);
        }
    }
}
