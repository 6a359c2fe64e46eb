//! A server as a child process: its pipes as a channel, its end in good order.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use kitbag_core::model::ResolvedLink;
use kitbag_core::{Secret, ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[cfg(unix)]
use super::channel::Shortcut;
use super::channel::{Closed, Incoming, Outgoing, Sink, Source, Unsent};
use super::frame::{Frame, Framer};
use super::logs::Tail;
use super::reason::{Reason, ReasonClass};
use crate::Env;
use crate::guard::{self, Launcher};

mod surroundings;

pub(crate) use surroundings::{fingerprint, folder};

/// One read at most.
const CHUNK: usize = 64 << 10;
/// What every system's pipes take in one piece; Linux takes more.
#[cfg(target_os = "linux")]
const WHOLE: usize = 4096;
#[cfg(all(unix, not(target_os = "linux")))]
const WHOLE: usize = 512;
/// What is needed to start a server.
pub(crate) struct Start<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) link: &'a ResolvedLink,
    /// Variables passed on by name.
    pub(crate) passed: &'a [(String, Secret)],
    pub(crate) env: &'a Env,
    pub(crate) launcher: &'a Launcher,
    pub(crate) line: usize,
    /// How long its end may take altogether.
    pub(crate) end: Duration,
}

/// A started server.
pub(crate) struct Process {
    pub(crate) sink: Stdin,
    pub(crate) source: Stdout,
    pub(crate) pid: Option<u32>,
    pub(crate) ear: Option<Ear>,
}

/// A second hold on a server's input, to learn when nobody reads it any more: what was written before that
/// would be waited for in vain. The server sees the end of its input only when this is dropped, too.
#[cfg(target_os = "linux")]
pub(crate) struct Ear(tokio::net::unix::pipe::Sender);

#[cfg(target_os = "linux")]
impl Ear {
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
pub(crate) struct Ear;

#[cfg(not(target_os = "linux"))]
impl Ear {
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
    let marker = guard::marker(start.server.as_str());
    let mut command = command(start, &marker)?;
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
    tasks.spawn(drain(stderr, tail.clone()));
    tasks.spawn(reap(child, told, stop.clone(), start.end, start.launcher.clone(), marker));
    let source = Stdout { pipe: stdout, framer: Framer::new(start.line), ended, tail, over: false };
    let ear = Ear::of(&stdin);
    Ok(Process { sink: Stdin { pipe: stdin, bytes: Vec::new() }, source, pid, ear })
}

fn command(start: &Start<'_>, marker: &str) -> Result<Command, Reason> {
    let ResolvedLink::Stdio { command, args, env, file_env, cwd } = start.link else {
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
    let mut built = start.launcher.command(&program, args.iter().map(Secret::expose));
    built.env_clear().current_dir(&folder);
    built.envs(surroundings::variables(start.env));
    built.envs(start.passed.iter().map(|(name, value)| (name.as_str(), value.expose())));
    built.envs(file_env.iter().map(|(name, value)| (name.as_str(), value.expose())));
    built.envs(env.iter().map(|(name, value)| (name.as_str(), value.expose())));
    built.env(guard::MARKER, marker);
    Ok(Command::from(built))
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
async fn reap(
    mut child: Child,
    told: watch::Sender<Option<ExitStatus>>,
    stop: CancellationToken,
    end: Duration,
    launcher: Launcher,
    marker: String,
) {
    let status = tokio::select! {
        status = child.wait() => status,
        () = stop.cancelled() => finish(&mut child, end, &launcher).await,
    };
    let guard_killed = status.as_ref().is_ok_and(|status| status.code().is_none());
    if guard_killed && launcher != Launcher::None {
        guard::sweep_marked(&marker);
    }
    told.send_replace(Some(status.unwrap_or_default()));
}

async fn finish(child: &mut Child, end: Duration, launcher: &Launcher) -> io::Result<ExitStatus> {
    let polite = end / 10;
    if let Ok(status) = tokio::time::timeout(polite, child.wait()).await {
        return status;
    }
    signal(child, launcher, Force::Word);
    if let Ok(status) = tokio::time::timeout(end - 2 * polite, child.wait()).await {
        return status;
    }
    signal(child, launcher, Force::Kill);
    child.wait().await
}

enum Force {
    Word,
    Kill,
}

#[cfg(unix)]
fn signal(child: &Child, launcher: &Launcher, force: Force) {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    let Some(pid) = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) else { return };
    let signal = match force {
        Force::Word => Signal::TERM,
        Force::Kill => Signal::KILL,
    };
    let _ =
        if *launcher == Launcher::None { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}

#[cfg(not(unix))]
fn signal(child: &mut Child, _launcher: &Launcher, _force: Force) {
    let _ = child.start_kill();
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
        let mut starts = Vec::new();
        let bytes = match batch.as_slice() {
            [one] => &one.line.0,
            many => {
                self.bytes.clear();
                for outgoing in many {
                    starts.push(self.bytes.len());
                    self.bytes.extend_from_slice(&outgoing.line.0);
                }
                &self.bytes
            }
        };
        let mut written = 0;
        while written < bytes.len() {
            match self.pipe.write(&bytes[written..]).await {
                Ok(more) if 0 < more => written += more,
                failed => {
                    let why = failed.err().map_or_else(no_longer_reads, |error| input_closed(&error));
                    let starts = starts.into_iter().chain([0]);
                    let unsent = batch
                        .iter()
                        .zip(starts)
                        .filter(|(_, start)| written <= *start)
                        .filter_map(|(out, _)| out.id);
                    return Err(Unsent { ids: unsent.collect(), closed: why.into() });
                }
            }
        }
        if CHUNK * 4 < self.bytes.capacity() {
            self.bytes = Vec::new();
        }
        Ok(())
    }
}

/// The server closed its input.
pub(crate) fn no_longer_reads() -> Reason {
    Reason::new(ReasonClass::Closed, "closed its input")
}

fn input_closed(error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::BrokenPipe => no_longer_reads(),
        _ => Reason::new(ReasonClass::Closed, format!("cannot be written to: {error}")).caused_by(error),
    }
}

/// The server's output.
pub(crate) struct Stdout {
    pipe: ChildStdout,
    framer: Framer,
    ended: watch::Receiver<Option<ExitStatus>>,
    tail: Arc<Tail>,
    over: bool,
}

impl Source for Stdout {
    async fn next(&mut self) -> Incoming<'_> {
        let mut rest = false;
        while !self.framer.advance() {
            if self.over {
                let ended = self.ended.clone();
                return Incoming::Closed(why_ended(ended, &self.tail).await);
            }
            let read = self.pipe.read_buf(self.framer.room(CHUNK)).await;
            if !matches!(read, Ok(1..)) {
                self.over = true;
                rest = self.framer.finish();
                if rest {
                    break;
                }
            }
        }
        match self.framer.frame() {
            Frame::Line(line) if rest => Incoming::Rest(line),
            Frame::Line(line) => Incoming::Line(line),
            Frame::Oversized(head) => Incoming::Oversized(head),
        }
    }
}

/// The end of output is mostly the end of the program; its code is known a moment later.
async fn why_ended(mut ended: watch::Receiver<Option<ExitStatus>>, tail: &Tail) -> Closed {
    let status = tokio::time::timeout(Duration::from_millis(500), ended.wait_for(Option::is_some)).await;
    let status = status.ok().and_then(Result::ok).and_then(|status| *status);
    match status {
        None => Reason::new(ReasonClass::Closed, "closed its output").into(),
        Some(status) => Reason::new(ReasonClass::Exited, describe_end(status, tail)).into(),
    }
}

/// How a program ended, with its last words.
pub(crate) fn describe_end(status: ExitStatus, tail: &Tail) -> String {
    let how = match status.code() {
        Some(code @ 129..=192) => format!("was ended by signal {}", code - 128),
        Some(code) => format!("ended with exit code {code}"),
        None => "was killed".to_owned(),
    };
    let last = tail.last(3);
    if last.is_empty() { how } else { format!("{how}; stderr: {}", last.join(" / ")) }
}
