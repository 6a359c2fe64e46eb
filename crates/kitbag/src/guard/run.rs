//! The guard itself: single-threaded, without a runtime, all safe calls.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process_group, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setsid, waitpid,
};

use super::linger::{self, Linger, Over};
use super::{SHIM, family};

/// What a shell says when a program cannot be run.
const CANNOT_RUN: i32 = 126;
/// How long the server has after its input ended, and again after it was asked to end.
const POLITE: Duration = Duration::from_millis(500);
/// How long everything may take to be gone.
const PATIENCE: Duration = Duration::from_secs(4);

/// Runs as a guard: `<pid of Kitbag> [--linger=<ms>] <program> <args…>`.
pub(super) fn guard(args: Vec<OsString>) -> ! {
    let code = match watch(args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("kitbag guard: {error}");
            CANNOT_RUN
        }
    };
    std::process::exit(code);
}

/// Runs in the moment before the server: dies with the guard, then becomes the server.
pub(super) fn shim(args: Vec<OsString>) -> ! {
    let mut args = args.into_iter();
    let guard = args.next().and_then(|text| parse_pid(&text));
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    if tied.is_err() || guard.is_none() || getppid() != guard {
        std::process::exit(CANNOT_RUN);
    }
    let Some(program) = args.next() else { std::process::exit(CANNOT_RUN) };
    // What Kitbag itself was handed by its parent is none of the server's business.
    close_fds::set_fds_cloexec(3, &[]);
    let error = Command::new(&program).args(args).exec();
    eprintln!("cannot start {}: {error}", program.to_string_lossy());
    std::process::exit(CANNOT_RUN);
}

fn parse_pid(text: &OsString) -> Option<Pid> {
    text.to_str()?.parse().ok().and_then(Pid::from_raw)
}

fn watch(args: Vec<OsString>) -> io::Result<i32> {
    let mut args = args.into_iter().peekable();
    let parent = args.next().and_then(|text| parse_pid(&text)).ok_or(io::ErrorKind::InvalidInput)?;
    let most = args.next_if(|text| text.to_str().is_some_and(|text| text.starts_with(linger::FLAG)));
    let most = most.as_ref().and_then(|text| text.to_str()?.strip_prefix(linger::FLAG)?.parse().ok());
    let _ = setsid();
    let _ = rustix::thread::set_name(super::NAME);
    set_child_subreaper(Some(getpid()))?;
    let watched = pidfd_open(parent, PidfdFlags::empty())?;
    // Only now: had Kitbag ended before, its number could already belong to somebody else.
    if getppid() != Some(parent) {
        return Ok(CANNOT_RUN);
    }
    let signals = signals()?;
    let linger = most.map(|most| Linger::new(Duration::from_millis(most))).transpose()?;
    let child = Command::new("/proc/self/exe")
        .arg(SHIM)
        .arg(getpid().as_raw_nonzero().to_string())
        .args(args)
        .process_group(0)
        .spawn()?;
    let server = Pid::from_child(&child);
    let alive = pidfd_open(server, PidfdFlags::empty())?;
    // The server has the pipes; while we held them too, nobody would see their end.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let let_go = linger.as_ref().map_or(signals.as_fd(), |linger| linger.let_go.as_fd());
    let asked = wait_for_any(&[alive.as_fd(), signals.as_fd(), let_go, watched.as_fd()], None)?;
    let has_ended = match (asked, linger) {
        (Some(0), _) => true,
        // Kitbag lets go right before it ends, and its end may show before the signal was taken.
        (Some(2..), Some(linger)) if linger.is_let_go() => {
            matches!(linger.watch(&alive, &signals), Over::Ended)
        }
        _ => false,
    };
    let code = if has_ended { exit_code(server) } else { end(server, &alive) };
    clear();
    Ok(code)
}

/// A stream on which every signal to end shows.
fn signals() -> io::Result<OwnedFd> {
    let (ours, theirs) = UnixStream::pair()?;
    for signal in [
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGQUIT,
        signal_hook::consts::SIGTERM,
    ] {
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    Ok(ours.into())
}

/// Which of the descriptors is ready, the first of several; none when time runs out.
pub(super) fn wait_for_any(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Option<usize>> {
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    loop {
        let mut polled: Vec<PollFd<'_>> =
            fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let spec = left
            .map(|left| Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) });
        match poll(&mut polled, spec.as_ref()) {
            Ok(0) => return Ok(None),
            Ok(_) => {
                let ready = polled.iter().position(|fd| !fd.revents().is_empty());
                if ready.is_some() {
                    return Ok(ready);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Input has ended; then a word, then no more words.
fn end(server: Pid, alive: &OwnedFd) -> i32 {
    let gone = || wait_for_any(&[alive.as_fd()], Some(POLITE)).ok().flatten().is_some();
    if !gone() {
        let _ = kill_process_group(server, Signal::TERM);
        if !gone() {
            let _ = kill_process_group(server, Signal::KILL);
            family::kill_all(server);
            gone();
        }
    }
    exit_code(server)
}

/// How the server ended, as a shell would say it.
fn exit_code(server: Pid) -> i32 {
    let status: Option<WaitStatus> =
        waitpid(Some(server), WaitOptions::NOHANG).ok().flatten().map(|(_, status)| status);
    match status {
        Some(status) => status
            .exit_status()
            .or_else(|| status.terminating_signal().map(|signal| 128 + signal))
            .unwrap_or(0),
        None => 128 + 9,
    }
}

/// Kills what is left until the system says that nothing is: whoever lost its parent is our child by now.
fn clear() {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        family::kill_children();
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return,
            Ok(Some(_)) => {}
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
