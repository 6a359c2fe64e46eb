//! A server as a child process: its pipes as a channel, its end in good order.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kitbag_core::model::ResolvedTarget;
use kitbag_core::{Secret, ServerName};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[cfg(unix)]
use super::channel::Shortcut;
use super::channel::{Closed, Incoming, LineSource, Outgoing, Sink, Unsent};
use super::lines::{self, CHUNK, Lines};
use super::logs::Tail;
use super::reason::{Reason, ReasonClass};
use crate::Env;
use crate::guard::{self, Force, Launcher, finish, signal};

mod stderr_line;
mod surroundings;

pub(crate) use stderr_line::latest as latest_line;
pub use surroundings::program_variables;
pub(crate) use surroundings::{EnvReach, fingerprint, folder};

/// What every system's pipes take in one piece; Linux takes more.
#[cfg(target_os = "linux")]
const WHOLE: usize = 4096;
#[cfg(all(unix, not(target_os = "linux")))]
const WHOLE: usize = 512;
/// What is needed to start a server.
pub(crate) struct Start<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) link: &'a ResolvedTarget,
    /// How much of our own environment it gets.
    pub(crate) reach: EnvReach,
    /// Variables passed on by name.
    pub(crate) passed: &'a [(String, Secret)],
    pub(crate) env: &'a Env,
    pub(crate) launcher: &'a Launcher,
    pub(crate) line: usize,
    /// How long its end may take altogether.
    pub(crate) end: Duration,
    /// Which values it runs with.
    pub(crate) identity: &'a str,
    /// How long it may go on by itself once it is let go of, and who says so; zero for all but first downloads.
    pub(crate) linger: Duration,
    pub(crate) let_go: Arc<AtomicBool>,
}

/// A started server.
pub(crate) struct Process {
    pub(crate) sink: Stdin,
    pub(crate) source: Stdout,
    pub(crate) pid: Option<u32>,
    pub(crate) watch: Option<StdinWatch>,
}

/// A second hold on a server's input, to learn when nobody reads it any more: what was written before that
/// would be waited for in vain. The server sees the end of its input only when this is dropped, too.
#[cfg(target_os = "linux")]
pub(crate) struct StdinWatch(tokio::net::unix::pipe::Sender);

#[cfg(target_os = "linux")]
impl StdinWatch {
    fn of(stdin: &ChildStdin) -> Option<Self> {
        let second = std::os::fd::AsFd::as_fd(stdin).try_clone_to_owned().ok()?;
        tokio::net::unix::pipe::Sender::from_owned_fd(second).ok().map(Self)
    }

    /// Waits until nobody reads the server's input any more.
    pub(crate) async fn closed(self) {
        let _ = self.0.ready(tokio::io::Interest::ERROR).await;
    }
}

/// Other systems tell by the next write.
#[cfg(not(target_os = "linux"))]
pub(crate) struct StdinWatch;

#[cfg(not(target_os = "linux"))]
impl StdinWatch {
    fn of(_stdin: &ChildStdin) -> Option<Self> {
        None
    }

    pub(crate) async fn closed(self) {
        std::future::pending().await
    }
}

/// Starts a server. It ends when `stop` is cancelled, or by itself.
pub(crate) fn start(
    start: &Start<'_>,
    tail: Arc<Tail>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> Result<Process, Reason> {
    let marker = guard::marker(start.server.as_str(), start.identity);
    let (mut command, withheld) = command(start, &marker)?;
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let failed = |why: String| Reason::new(ReasonClass::SpawnFailed, why);
    let mut child = spawned.map_err(|error| failed(error.to_string()).caused_by(&error))?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed("no pipes".to_owned()));
    };
    let pid = child.id();
    let (told, ended) = watch::channel(None);
    let left = CancellationToken::new();
    tasks.spawn(left.clone().run_until_cancelled_owned(drain(stderr, tail.clone())));
    let may_be_left = (!start.linger.is_zero()).then(|| left.clone());
    let ending = Ending {
        left,
        stop: stop.clone(),
        end: start.end,
        launcher: start.launcher.clone(),
        marker,
        let_go: (!start.linger.is_zero()).then(|| start.let_go.clone()),
    };
    tasks.spawn(reap(child, told, ending));
    let server = start.server.clone();
    let last_words = LastWords { tail, server, withheld };
    let source = Stdout { lines: Lines::new(stdout, start.line), ended, last_words, left: may_be_left };
    let watch = StdinWatch::of(&stdin);
    Ok(Process { sink: Stdin { pipe: stdin, bytes: Vec::new() }, source, pid, watch })
}

/// The command, and the names of our own variables that the program does not get.
fn command(start: &Start<'_>, marker: &str) -> Result<(Command, Vec<String>), Reason> {
    let ResolvedTarget::Stdio { command, args, env, file_env, cwd } = start.link else {
        return Err(Reason::new(ReasonClass::Config, "not a program"));
    };
    let folder = folder(cwd.as_deref(), start.env);
    if !folder.is_dir() {
        let why = format!("the folder to run in does not exist: {}", folder.display());
        return Err(
            Reason::new(ReasonClass::MissingFolder, why).hint("make the folder, or change its \"cwd\"")
        );
    }
    let program = start.env.program(command, &folder);
    let program = program.ok_or_else(|| {
        let why = format!("{command:?} cannot be found");
        Reason::new(ReasonClass::MissingProgram, why).hint(how_to_get(command))
    })?;
    let mut built = start.launcher.command(&program, args.iter().map(Secret::expose), start.linger);
    built.env_clear().current_dir(&folder);
    built.envs(surroundings::variables(start.env, start.reach));
    built.envs(start.passed.iter().map(|(name, value)| (name.as_str(), value.expose())));
    built.envs(file_env.iter().map(|(name, value)| (name.as_str(), value.expose())));
    built.envs(env.iter().map(|(name, value)| (name.as_str(), value.expose())));
    built.env(guard::MARKER, marker);
    let given: HashSet<&OsStr> = built.get_envs().map(|(name, _)| name).collect();
    let withheld = start.env.vars().map(|(name, _)| name).filter(|name| !given.contains(OsStr::new(name)));
    let withheld = withheld.map(str::to_owned).collect();
    Ok((Command::from(built), withheld))
}

/// Where the usual launchers come from.
pub fn how_to_get(command: &str) -> String {
    match command {
        "npx" | "node" | "npm" => "install Node.js, which brings it".to_owned(),
        "uvx" | "uv" => "install uv: pip install uv".to_owned(),
        "docker" | "podman" => format!("install {command}, or use the server's own package"),
        "python" => "install Python, or write python3".to_owned(),
        "bunx" | "bun" => "install Bun: npm install -g bun".to_owned(),
        _ => "install it, or write its full path".to_owned(),
    }
}

/// Reads stderr to its end: a full pipe would stop the server. A line that does not end is shown all the same, once
/// nothing more comes for a while.
async fn drain(mut pipe: ChildStderr, tail: Arc<Tail>) {
    let mut bytes = vec![0; CHUNK];
    loop {
        let pause = if tail.is_unfinished() { tail.pause } else { Duration::MAX };
        match tokio::time::timeout(pause, pipe.read(&mut bytes)).await {
            Err(_) => tail.settle(),
            Ok(Ok(read @ 1..)) => tail.push(&bytes[..read]),
            Ok(_) => break,
        }
    }
    tail.settle();
}

/// Waits for the end, and brings it about when asked to: input closed, a word to the guard, and only then
/// force. The guard needs its own time to end the whole family; killing it first would leave them behind.
async fn reap(mut child: Child, told: watch::Sender<Option<ExitStatus>>, ending: Ending) {
    let Ending { stop, end, launcher, marker, let_go, left } = ending;
    let status = tokio::select! {
        status = child.wait() => status,
        () = stop.cancelled() => {
            if let_go.is_some_and(|let_go| let_go.load(Ordering::SeqCst)) {
                signal(&mut child, &launcher, Force::LetGo);
                return left.cancel();
            }
            finish(&mut child, end, &launcher).await
        }
    };
    let guard_killed = status.as_ref().is_ok_and(|status| status.code().is_none());
    if guard_killed && launcher != Launcher::None {
        guard::sweep_marked(&marker);
    }
    told.send_replace(Some(status.unwrap_or_default()));
}

/// What has to be known to end a program.
struct Ending {
    stop: CancellationToken,
    /// How long it may take.
    end: Duration,
    launcher: Launcher,
    marker: String,
    /// Set where its guard may go on without us once we end as we should.
    let_go: Option<Arc<AtomicBool>>,
    /// Then nobody here reads what it writes any more.
    left: CancellationToken,
}

/// The server's input.
pub(crate) struct Stdin {
    pipe: ChildStdin,
    bytes: Vec<u8>,
}

/// The same pipe, written to without waiting.
#[cfg(unix)]
struct WholeLines(io::PipeWriter);

#[cfg(unix)]
impl Shortcut for WholeLines {
    fn take(&mut self, line: &[u8]) -> bool {
        // Up to here a pipe takes all of it or, when it is full, nothing. Any trouble is the writer's to report.
        line.len() <= WHOLE && io::Write::write(&mut self.0, line).is_ok()
    }
}

impl Sink for Stdin {
    #[cfg(unix)]
    fn shortcut(&self) -> Option<Box<dyn Shortcut>> {
        let second = std::os::fd::AsFd::as_fd(&self.pipe).try_clone_to_owned().ok()?;
        Some(Box::new(WholeLines(second.into())))
    }

    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        lines::write(&mut self.pipe, &mut self.bytes, batch).await
    }
}

/// The server's output.
pub(crate) struct Stdout {
    lines: Lines<ChildStdout>,
    ended: watch::Receiver<Option<ExitStatus>>,
    last_words: LastWords,
    /// Comes when the program goes on without us.
    left: Option<CancellationToken>,
}

/// What a program's end is explained by.
struct LastWords {
    tail: Arc<Tail>,
    server: ServerName,
    /// Our own variables that it did not get.
    withheld: Vec<String>,
}

impl LineSource for Stdout {
    async fn next(&mut self) -> Incoming<'_> {
        let next = match &self.left {
            None => self.lines.next().await,
            Some(left) => tokio::select! {
                biased;
                () = left.cancelled() => return Incoming::Closed(Closed::by_us()),
                next = self.lines.next() => next,
            },
        };
        match next {
            Some(incoming) => incoming,
            None => Incoming::Closed(why_ended(self.ended.clone(), &self.last_words).await),
        }
    }
}

/// The end of output is mostly the end of the program; its code is known a moment later.
async fn why_ended(mut ended: watch::Receiver<Option<ExitStatus>>, last: &LastWords) -> Closed {
    let status = tokio::time::timeout(Duration::from_millis(500), ended.wait_for(Option::is_some)).await;
    let status = status.ok().and_then(Result::ok).and_then(|status| *status);
    match status {
        None => Reason::new(ReasonClass::Closed, "closed its output").into(),
        Some(status) => last.reason(status).into(),
    }
}

impl LastWords {
    /// Why a program ended, and what may help.
    fn reason(&self, status: ExitStatus) -> Reason {
        let lines = self.tail.last(stderr_line::LOOKED_AT);
        let reason = Reason::new(ReasonClass::Exited, describe_end(status, &lines));
        match stderr_line::missing_variable(&lines, &self.withheld) {
            Some(name) => reason.hint(format!(
                "{name} is set here and not passed to it: write env_pass = [\"{name}\"] under [servers.{}] in kitbag.toml",
                toml_key(self.server.as_str())
            )),
            None => reason,
        }
    }
}

/// A name as a part of a table's title.
fn toml_key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { name.to_owned() } else { format!("{name:?}") }
}

/// How a program ended, with its last words.
fn describe_end(status: ExitStatus, lines: &[String]) -> String {
    let how = match status.code() {
        Some(code @ 129..=192) => format!("signal {}", code - 128),
        Some(code) => format!("exit code {code}"),
        None => "killed".to_owned(),
    };
    match stderr_line::reason_in(lines) {
        Some(line) => format!("{how}; stderr: {line}"),
        None => how,
    }
}
