//! A process tree of the kind that survives its client.

use std::io;
use std::process::{self, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use testkit::proc;

use super::{Entry, Fault, live_on};
use crate::events::Events;
use crate::options::{Child, Options};
use crate::server::Server;
use crate::signals::{self, Obedience};

pub(super) const FAULTS: &[Entry] = &[Entry {
    label: "s13",
    modes: &["stubborn", "hold", "bare"],
    about: "starts a child and an orphaned, setsid'ed grandchild deaf to TERM; stubborn: deaf itself; \
            hold: they keep stdout and stderr open; bare: the grandchild has no environment",
    make: |modes| {
        Arc::new(Tree {
            obedience: if modes.has("stubborn") { Obedience::Stubborn } else { Obedience::Dies },
            ways: Ways { hold: modes.has("hold"), bare: modes.has("bare") },
        })
    },
}];

struct Tree {
    obedience: Obedience,
    ways: Ways,
}

/// How children are started.
#[derive(Clone, Copy)]
struct Ways {
    hold: bool,
    bare: bool,
}

impl Fault for Tree {
    /// Returns when the whole tree stands.
    fn start(&self, server: &Arc<Server>) {
        let started = self.plain(&server.options).and_then(|()| self.stray(&server.options));
        if let Err(error) = started {
            eprintln!("fake-mcp: cannot start a child: {error}");
            process::exit(2);
        }
    }

    fn obedience(&self) -> Obedience {
        self.obedience
    }
}

impl Tree {
    fn plain(&self, options: &Options) -> io::Result<()> {
        let child = command("plain", options, self.ways)?.spawn()?;
        wait_ready(child.id());
        Ok(())
    }

    fn stray(&self, options: &Options) -> io::Result<()> {
        let mut middle = command("middle", options, self.ways)?;
        if self.ways.bare {
            middle.env_clear();
        }
        middle.status().map(|_| ())
    }
}

/// The life of a process that s13 started.
pub(crate) fn child(kind: Child, options: &Options) -> ExitCode {
    match kind {
        Child::Middle => {
            let hold = Ways { hold: true, bare: false };
            match command("stray", options, hold).and_then(|mut stray| stray.spawn()) {
                Ok(stray) => wait_ready(stray.id()),
                Err(error) => eprintln!("fake-mcp: cannot start a grandchild: {error}"),
            }
            return ExitCode::SUCCESS;
        }
        Child::Stray => {
            let _ = rustix::process::setsid();
            signals::turn_deaf();
        }
        Child::Plain => {}
    }
    Events::open(options.events.as_deref()).note(&["child", &process::id().to_string()]);
    signals::show_ready();
    live_on()
}

fn command(kind: &str, options: &Options, ways: Ways) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--child", kind]).stdin(Stdio::null());
    if let Some(events) = &options.events {
        command.arg("--events").arg(events);
    }
    if !ways.hold {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    Ok(command)
}

fn wait_ready(pid: u32) {
    while proc::alive(pid) && !proc::catches(pid, signals::READY) {
        thread::sleep(Duration::from_millis(1));
    }
}
