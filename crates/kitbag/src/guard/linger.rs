//! A first download that goes on after Kitbag has ended as it should: the guard takes the other ends of the program's
//! pipes, so that its writes do not fail, and ends it once it answers, once it is told to, or when its time is over.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::run::wait_for_any;

/// What stands before the time that a download may go on, in a guard's arguments.
pub(super) const FLAG: &str = "--linger=";
/// What a guard calls itself meanwhile.
pub(super) const NAME: &std::ffi::CStr = c"mcp-linger";

/// What is needed to let a download go on.
pub(super) struct Linger {
    most: Duration,
    /// Shows when Kitbag lets go.
    pub(super) let_go: OwnedFd,
    output: Option<File>,
    errors: Option<File>,
}

/// Why a download no longer goes on.
pub(super) enum Over {
    /// The program has ended by itself.
    Ended,
    /// It has to be ended.
    End,
}

impl Linger {
    /// To be called while this process still has the program's own ends of the pipes.
    pub(super) fn new(most: Duration) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGUSR1, theirs)?;
        // A pipe that is opened by its name under /proc gives its other end.
        let other_end = |number: u32| {
            let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            File::options().read(true).custom_flags(nonblocking).open(format!("/proc/self/fd/{number}")).ok()
        };
        Ok(Self { most, let_go: ours.into(), output: other_end(1), errors: other_end(2) })
    }

    /// Whether Kitbag has let go.
    pub(super) fn is_let_go(&self) -> bool {
        matches!(wait_for_any(&[self.let_go.as_fd()], Some(Duration::ZERO)), Ok(Some(_)))
    }

    /// Reads what the program writes, and throws it away, until it is over.
    pub(super) fn watch(mut self, alive: &OwnedFd, signals: &OwnedFd) -> Over {
        let _ = rustix::thread::set_name(NAME);
        let end = Instant::now() + self.most;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let pipes = [&self.output, &self.errors];
            let open = pipes.into_iter().flatten().map(|pipe| pipe.as_fd());
            let fds: Vec<_> = [alive.as_fd(), signals.as_fd()].into_iter().chain(open).collect();
            match wait_for_any(&fds, Some(left)) {
                Ok(Some(0)) => return Over::Ended,
                Ok(Some(2..)) => {}
                _ => return Over::End,
            }
            // Its first answer, to what was asked while it was fetched: the download is done.
            if drained(&mut self.output) {
                return Over::End;
            }
            drained(&mut self.errors);
        }
    }
}

/// Whether there was something to read; a pipe that has come to its end is let go of.
fn drained(pipe: &mut Option<File>) -> bool {
    let Some(file) = pipe else { return false };
    let mut bytes = [0; 4096];
    match file.read(&mut bytes) {
        Ok(0) => *pipe = None,
        Ok(_) => return true,
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
        Err(_) => *pipe = None,
    }
    false
}
