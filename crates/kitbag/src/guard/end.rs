//! How a child of ours is brought to its end. Its guard needs time of its own to end the whole family: killing it first would
//! leave the others behind.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::Child;

use super::Launcher;

/// Ends a child: it may end by itself first, then its guard is told, and only then comes force.
pub(crate) async fn finish(child: &mut Child, end: Duration, launcher: &Launcher) -> io::Result<ExitStatus> {
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

/// How a child is told to end.
pub(crate) enum Force {
    /// Its guard goes on alone.
    LetGo,
    /// A word to its guard.
    Word,
    /// At once.
    Kill,
}

/// Tells a child to end.
#[cfg(unix)]
pub(crate) fn signal(child: &mut Child, launcher: &Launcher, force: Force) {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    let Some(pid) = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) else { return };
    let signal = match force {
        Force::LetGo => Signal::USR1,
        Force::Word => Signal::TERM,
        Force::Kill => Signal::KILL,
    };
    let _ =
        if *launcher == Launcher::None { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}

/// Tells a child to end.
#[cfg(not(unix))]
pub(crate) fn signal(child: &mut Child, _launcher: &Launcher, _force: Force) {
    let _ = child.start_kill();
}
