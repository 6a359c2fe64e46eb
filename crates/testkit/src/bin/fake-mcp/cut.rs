//! Ends the process at one chosen step of its life, for tests of what a client makes of that.

use std::fs::File;
use std::path::PathBuf;
use std::process;

use rustix::process::{Signal, getpid, kill_process};

use crate::stdout;

/// Where the life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Before anything is written.
    Start,
    /// The handshake request has been read.
    Handshake,
    /// `tools/list` has been read.
    List,
    /// `tools/call` has been read and not executed.
    Request,
    /// The call was executed; over HTTP the head of its answer was written.
    Head,
    /// The call was executed and half of its answer written.
    Half,
    /// The whole answer was written.
    Answer,
    /// A stream of notifications was opened.
    Listen,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    Kill,
    Eof,
    /// Only the HTTP connection ends, by a reset.
    Reset,
    /// Only the HTTP connection ends, as if all had been said.
    Close,
}

/// The cut that `--cut` and `--once` ask for.
pub(crate) struct Cut {
    at: Option<(Step, How)>,
    once: Option<PathBuf>,
}

pub(crate) fn parse(text: &str) -> Result<(Step, How), String> {
    let (step, how) = text.split_once(':').ok_or_else(|| format!("{text} is not step:how"))?;
    let step = match step {
        "start" => Step::Start,
        "handshake" => Step::Handshake,
        "list" => Step::List,
        "request" => Step::Request,
        "head" => Step::Head,
        "half" => Step::Half,
        "answer" => Step::Answer,
        "listen" => Step::Listen,
        _ => return Err(format!("unknown step {step}")),
    };
    match how {
        "kill" => Ok((step, How::Kill)),
        "eof" => Ok((step, How::Eof)),
        "rst" => Ok((step, How::Reset)),
        "fin" => Ok((step, How::Close)),
        _ => Err(format!("unknown way to end {how}")),
    }
}

impl Cut {
    pub(crate) fn new(at: Option<(Step, How)>, once: Option<PathBuf>) -> Self {
        Self { at, once }
    }

    /// Whether only a connection ends.
    pub(crate) fn spares_the_process(&self) -> bool {
        matches!(self.at, Some((_, How::Reset | How::Close)))
    }

    /// How to end now, if this is the step. Creating the file decides, so two calls cannot both be cut.
    pub(crate) fn due(&self, step: Step) -> Option<How> {
        let (_, how) = self.at.filter(|(at, _)| *at == step)?;
        match &self.once {
            Some(file) => File::create_new(file).ok().map(|_| how),
            None => Some(how),
        }
    }

    pub(crate) fn at(&self, step: Step) {
        if let Some(how) = self.due(step) {
            end(how);
        }
    }
}

/// Ends the process; what was not written yet never will be.
pub(crate) fn end(how: How) -> ! {
    match how {
        How::Kill => {
            let _ = kill_process(getpid(), Signal::KILL);
            // Between the signal and the end nothing may happen.
            loop {
                std::thread::park();
            }
        }
        How::Eof | How::Reset | How::Close => {
            stdout::close();
            process::exit(0);
        }
    }
}
