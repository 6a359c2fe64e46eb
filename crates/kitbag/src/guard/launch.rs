//! How a server is started: under our own guard, under a `kitbag` found elsewhere, or without one.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{GUARD, READY};

/// How surely a server's processes end with us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    /// All of them, also after SIGKILL.
    Exact,
    /// The server and its group, as long as we end in good order.
    BestEffort,
}

impl Containment {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::BestEffort => "best effort",
        }
    }
}

/// The way servers are started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Launcher {
    /// This binary guards; its `main` called [`super::init`].
    Own,
    /// Another binary guards.
    Other(PathBuf),
    /// Nobody does.
    None,
}

impl Launcher {
    /// The best way there is: our own guard, else a `kitbag` of the same version found by the caller.
    pub fn choose(other: Option<&Path>) -> Self {
        if cfg!(not(target_os = "linux")) {
            return Self::None;
        }
        if READY.get().is_some() {
            return Self::Own;
        }
        let is_ours = |path: &&Path| {
            version_of(path).as_deref()
                == Some(concat!("kitbag ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())
        };
        other.filter(is_ours).map_or(Self::None, |path| Self::Other(path.to_owned()))
    }

    /// How surely processes started this way end with us.
    pub fn containment(&self) -> Containment {
        if *self == Self::None { Containment::BestEffort } else { Containment::Exact }
    }

    /// The command that starts `program` with `args`. Its guard may be told to let it go on by itself for `linger`.
    pub(crate) fn command<'a>(
        &self,
        program: &Path,
        args: impl Iterator<Item = &'a str>,
        linger: Duration,
    ) -> Command {
        let guard = match self {
            Self::Own => Path::new("/proc/self/exe"),
            Self::Other(path) => path,
            Self::None => {
                let mut command = Command::new(program);
                command.args(args);
                #[cfg(unix)]
                std::os::unix::process::CommandExt::process_group(&mut command, 0);
                return command;
            }
        };
        let mut command = Command::new(guard);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut command, "mcp-guard");
        command.arg(GUARD).arg(std::process::id().to_string());
        #[cfg(target_os = "linux")]
        if !linger.is_zero() {
            command.arg(format!("{}{}", super::linger::FLAG, linger.as_millis()));
        }
        command.arg(program).args(args);
        command
    }
}

/// How long a program may take to say its version.
const VERSION_WAIT: Duration = Duration::from_secs(2);

/// What a program answers to `--version`, if it does so soon: something else of our name may never end.
fn version_of(path: &Path) -> Option<Vec<u8>> {
    let mut command = Command::new(path);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let end = Instant::now() + VERSION_WAIT;
    while child.try_wait().ok()?.is_none() {
        if end < Instant::now() {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut said = Vec::new();
    child.stdout.take()?.take(256).read_to_end(&mut said).ok()?;
    Some(said)
}
