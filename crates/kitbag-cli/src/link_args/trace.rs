//! `--trace`: every message of the protocol as a line, for whoever looks for a fault.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use kitbag::connect::{Trace, TraceDirection, TraceLine};
use kitbag_core::text::rfc3339_millis;
use serde_json::json;

use crate::exit::{Exit, Failure};

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
}

pub(super) struct Writer {
    to: Mutex<Box<dyn Write + Send>>,
    form: Form,
}

/// Writes to stderr for `-`, else into a file, which is made anew.
pub(super) fn open(file: &Path, cwd: &Path, form: Form) -> Result<Writer, Failure> {
    if file == Path::new("-") {
        return Ok(Writer { to: Mutex::new(Box::new(io::stderr())), form });
    }
    let made = File::create(cwd.join(file)).map_err(|error| {
        let message = format!("the trace cannot be written into {}: {error}", file.display());
        Failure::new(Exit::Usage, message).hint("correct the path after --trace=")
    })?;
    Ok(Writer { to: Mutex::new(Box::new(made)), form })
}

impl Trace for Writer {
    fn trace(&self, line: &TraceLine) {
        let text = written(line, self.form) + "\n";
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        // A trace that cannot be written changes nothing about the call.
        let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    }
}

fn written(line: &TraceLine, form: Form) -> String {
    let time = rfc3339_millis(line.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
    let (server, text) = (line.server.as_str(), &line.text);
    match (form, line.direction) {
        (Form::Json, direction) => crate::json::line(
            &json!({"trace": {"time": time, "server": server, "direction": direction.as_str(), "text": text}}),
        ),
        (Form::Text, TraceDirection::Sent) => format!("{time} {server} --> {text}"),
        (Form::Text, TraceDirection::Received) => format!("{time} {server} <-- {text}"),
        (Form::Text, TraceDirection::Event) => format!("{time} {server} --- {text}"),
    }
}
