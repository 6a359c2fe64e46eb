//! What the server can do wrong: one label per behaviour, one file per family. Labels with `s` spoil the wire
//! or the process, labels with `c` the catalog or a result, labels with `h` what is only in HTTP. Whatever a fault leaves alone the good server does.

use std::sync::Arc;
use std::time::Duration;
use std::{process, thread};

use crate::http::HttpFault;
use crate::options::Wire;
use crate::out::{Kind, Pipe};
use crate::server::{Answer, Server};
use crate::signals::Obedience;
use crate::wire::Request;

mod asks;
mod broken;
mod bulk;
mod catalog;
mod hidden;
mod http_delivery;
mod http_lists;
mod http_probes;
mod http_refusals;
mod life;
mod names;
mod noise;
mod pages;
mod refresh;
mod results;
mod schemas;
mod shape;
mod size;
mod stderr;
mod storm;
pub(crate) mod tree;
mod version;

/// Whether the good server still has to deal with something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    Mine,
    Leave,
}

pub(crate) trait Fault: Send + Sync {
    /// Before anything is read.
    fn start(&self, _: &Arc<Server>) {}

    /// A request was read.
    fn request(&self, _: &Arc<Server>, _: &Request<'_>) -> Take {
        Take::Leave
    }

    /// A request was answered by the good server (or will be), and nothing flushed yet.
    fn after(&self, _: &Arc<Server>, _: &Request<'_>) {}

    /// The client answered a request of ours.
    fn response(&self, _: &Arc<Server>, _id: &str, _: Answer<'_>) -> Take {
        Take::Leave
    }

    /// What the server says of itself when a conversation opens: a JSON string.
    fn instructions(&self) -> Option<&str> {
        None
    }

    /// A message on its way out.
    fn emit(&self, pipe: &mut Pipe, _: Kind, line: &[u8]) {
        pipe.hold(line);
    }

    /// The definition of a tool of its own.
    fn definition(&self, _name: &str) -> Option<&str> {
        None
    }

    /// What it does over HTTP alone.
    fn http(&self) -> Option<&dyn HttpFault> {
        None
    }

    fn obedience(&self) -> Obedience {
        Obedience::Dies
    }
}

/// One row of `--list-faults`.
struct Entry {
    label: &'static str,
    /// The words allowed after the label; [`N`] stands for a number.
    modes: &'static [&'static str],
    about: &'static str,
    make: fn(&Modes<'_>) -> Arc<dyn Fault>,
}

const N: &str = "N";

/// What stood after the label, checked against the row.
struct Modes<'a>(Vec<&'a str>);

impl Modes<'_> {
    fn has(&self, word: &str) -> bool {
        self.0.contains(&word)
    }

    fn number(&self, default: usize) -> usize {
        self.0.iter().find_map(|mode| mode.parse().ok()).unwrap_or(default)
    }

    fn second_number(&self, default: usize) -> usize {
        self.0.iter().filter_map(|mode| mode.parse().ok()).nth(1).unwrap_or(default)
    }
}

/// Faults of a pipe and its process, which HTTP has nothing like.
const PIPES_ONLY: &[&str] = &["s04", "s06", "s10", "s11", "s12", "s13", "s31"];

/// What can go wrong on this wire.
fn entries(wire: Wire) -> Vec<&'static Entry> {
    let families: [&[Entry]; 21] = [
        noise::FAULTS,
        size::FAULTS,
        stderr::FAULTS,
        shape::FAULTS,
        life::FAULTS,
        tree::FAULTS,
        version::FAULTS,
        pages::FAULTS,
        storm::FAULTS,
        asks::FAULTS,
        hidden::FAULTS,
        names::FAULTS,
        broken::FAULTS,
        schemas::FAULTS,
        results::FAULTS,
        refresh::FAULTS,
        bulk::FAULTS,
        http_delivery::FAULTS,
        http_refusals::FAULTS,
        http_lists::FAULTS,
        http_probes::FAULTS,
    ];
    let fits = |entry: &&Entry| match wire {
        Wire::Stdio => !entry.label.starts_with('h'),
        Wire::Http => !PIPES_ONLY.contains(&entry.label),
    };
    let mut entries: Vec<_> = families.into_iter().flatten().filter(fits).collect();
    entries.sort_unstable_by_key(|entry| entry.label);
    entries
}

/// `label` or `label:mode,mode`.
pub(crate) fn named(spec: Option<&str>, wire: Wire) -> Result<Option<Arc<dyn Fault>>, String> {
    let Some(spec) = spec else { return Ok(None) };
    let (label, modes) = spec.split_once(':').unwrap_or((spec, ""));
    let entries = entries(wire);
    let entry = entries.iter().find(|entry| entry.label == label);
    let entry = entry
        .ok_or_else(|| format!("no fault {label} here; --list-faults and --list-http-faults show all"))?;
    let modes: Vec<_> = modes.split(',').filter(|mode| !mode.is_empty()).collect();
    let known =
        |mode: &str| entry.modes.contains(&mode) || entry.modes.contains(&N) && mode.parse::<usize>().is_ok();
    match modes.iter().find(|mode| !known(mode)) {
        Some(mode) => Err(format!("{label} has no mode {mode}; it has {}", entry.modes.join(", "))),
        None => Ok(Some((entry.make)(&Modes(modes)))),
    }
}

pub(crate) fn listed(wire: Wire) -> String {
    let row = |entry: &&Entry| format!("{}  [{}]  {}", entry.label, entry.modes.join(","), entry.about);
    entries(wire).iter().map(row).collect::<Vec<_>>().join("\n")
}

/// Calls of these tools stay good under the faults that spoil single answers, to show that the server can
/// still be used.
fn spared(request: &Request<'_>) -> bool {
    matches!(&*request.params.name, "add" | "pid")
}

fn spoils(request: &Request<'_>) -> bool {
    request.method == "tools/call" && !spared(request)
}

/// Lives on without reading, until a signal; not for ever, in case a test forgets us.
fn live_on() -> ! {
    thread::sleep(Duration::from_secs(600));
    process::exit(0)
}
