//! Nothing outlives us. Every server is started under a guard: a small process of this same binary that
//! watches both Kitbag and the server, adopts every descendant the server leaves behind, and when either
//! ends, ends them all, also after a SIGKILL of Kitbag.
//!
//! The host program calls [`init`] first in `main`. A program that does not gets the guard of a `kitbag` on
//! its `PATH`, or, without one, the best that can be done from inside ([`Launcher`] says which).

mod end;
#[cfg(target_os = "linux")]
mod family;
mod launch;
#[cfg(target_os = "linux")]
mod linger;
mod program;
#[cfg(target_os = "linux")]
mod run;
mod sweep;

use std::sync::OnceLock;

pub(crate) use end::{Force, finish, signal};
pub use launch::{Containment, Launcher};
pub use program::{GuardedProgram, Pipes, ProgramStart};
pub use sweep::{LingeringDownload, lingering, sweep};
pub(crate) use sweep::{marker, sweep_marked};

/// The variable that marks every process of a server:
/// `<pid>/<start time>/<pid namespace>/<server>/<identity>/<number>`.
pub const MARKER: &str = "KITBAG_OWNER";

/// The first argument that turns this binary into a guard, and the one for the moment before the server.
const GUARD: &str = "__guard";
#[cfg(target_os = "linux")]
const SHIM: &str = "__shim";
/// What a guard calls itself, so that `pkill kitbag` does not mean it.
#[cfg(target_os = "linux")]
const NAME: &std::ffi::CStr = c"mcp-guard";

static READY: OnceLock<()> = OnceLock::new();

/// To be called first in `main`, before arguments are parsed or a runtime is started. When this process was
/// started as a guard it never returns.
pub fn init() {
    #[cfg(target_os = "linux")]
    {
        let mut args = std::env::args_os().skip(1);
        let first = args.next();
        if first.as_deref() == Some(GUARD.as_ref()) {
            run::guard(args.collect());
        }
        if first.as_deref() == Some(SHIM.as_ref()) {
            run::shim(args.collect());
        }
    }
    READY.get_or_init(|| ());
}
