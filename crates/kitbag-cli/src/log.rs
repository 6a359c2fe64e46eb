//! The log of a command that goes on: one line for each event on stderr, as text or JSON. Whoever reads too slowly loses
//! lines, which are counted; nobody waits for them. What looks like a secret is masked, whoever wrote it.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kitbag_core::text::{looks_secret, redact_log, rfc3339, visible};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Lines that wait to be written.
const LINES: usize = 1024;
/// The most of one value that is shown.
const VALUE: usize = 1000;
/// During which lines are gathered once some were written: waking a thread for each costs more than the line.
const GATHER: Duration = Duration::from_millis(10);
/// How much is written at once.
const WRITE: usize = 256 << 10;
/// How long the last lines are waited for.
const END: Duration = Duration::from_secs(1);
/// Which log level there is, if a variable says so.
const VARIABLE: &str = "KITBAG_LOG";

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Log options")]
pub(crate) struct LogArgs {
    /// How the log on stderr is written; KITBAG_LOG says how much of it (error, warn, info, debug)
    #[arg(long, value_name = "FORM", default_value = "text", value_enum)]
    log_format: LogForm,
}

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogForm {
    Text,
    Json,
}

static WRITER: OnceLock<Writer> = OnceLock::new();

/// Begins to log; `usual` is the level unless a variable or `--quiet` says otherwise.
pub(crate) fn start(
    context: &Context,
    args: &LogArgs,
    said: Option<&str>,
    usual: LevelFilter,
) -> Result<(), Failure> {
    let level = match said.map(str::trim).filter(|said| !said.is_empty()) {
        Some(said) => said.parse().map_err(|_| {
            let failure = Failure::new(Exit::Usage, format!("{VARIABLE} is {said:?}, which is no level"));
            failure.hint("off, error, warn, info, debug or trace")
        })?,
        None if context.global.quiet => LevelFilter::WARN,
        None => usual,
    };
    let writer = WRITER.get_or_init(Writer::start);
    // Whoever logs already, goes on.
    let _ = tracing::subscriber::set_global_default(Log { level, form: args.log_format, writer });
    Ok(())
}

/// Writes what is left, for a moment.
pub(crate) fn finish() {
    if let Some(writer) = WRITER.get() {
        writer.finish();
    }
}

/// Takes events and hands over lines.
struct Log {
    level: LevelFilter,
    form: LogForm,
    writer: &'static Writer,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.level && metadata.target().starts_with("kitbag")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let level = match *metadata.level() {
            Level::ERROR => "error",
            Level::WARN => "warn",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        };
        self.writer.take(match self.form {
            LogForm::Text => as_text(level, &fields),
            LogForm::Json => as_json(level, metadata.target(), fields),
        });
    }

    // What happens inside of what is not told: each event says all by itself.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl Fields {
    fn text(&mut self, field: &Field, text: &str) {
        // The name of a call is made of digits that look like a key.
        let may_be_secret = field.name() != "call";
        let text = if is_word(text) && !(may_be_secret && looks_secret(text)) {
            text.to_owned()
        } else {
            let text = if may_be_secret { redact_log(text) } else { text.to_owned() };
            visible(&text).chars().take(VALUE).collect()
        };
        match field.name() {
            "message" => self.message = text,
            name => self.others.push((name, text.into())),
        }
    }
}

/// One plain word, as nearly every value is: unless it looks like a secret as a whole, nothing in it does.
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    text.len() <= VALUE && text.bytes().all(plain)
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.others.push((field.name(), value.into()));
    }
}

fn as_text(level: &str, fields: &Fields) -> String {
    let mut line = String::with_capacity(256);
    // Writing to a string does not fail.
    let _ = write!(line, "{} {level} {}", now(), fields.message);
    for (name, value) in &fields.others {
        line.push(' ');
        line.push_str(name);
        line.push('=');
        let plain = value.as_str().filter(|text| !text.is_empty() && !text.contains([' ', '"', '=']));
        match plain {
            Some(text) => line.push_str(text),
            None => drop(write!(line, "{value}")),
        }
    }
    line.push('\n');
    line
}

fn as_json(level: &str, target: &str, fields: Fields) -> String {
    let mut line = Map::new();
    line.insert("time".to_owned(), now().into());
    line.insert("level".to_owned(), level.into());
    line.insert("target".to_owned(), target.into());
    line.insert("message".to_owned(), fields.message.into());
    line.extend(fields.others.into_iter().map(|(name, value)| (name.to_owned(), value)));
    crate::json::line(&Value::Object(line)) + "\n"
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = rfc3339(since.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), since.subsec_millis())
}

/// Writes lines on a thread of its own: a reader of stderr may have stopped reading.
struct Writer {
    lines: SyncSender<Said>,
    lost: &'static AtomicU64,
}

enum Said {
    Line(String),
    /// To be told when everything before it is written.
    End(SyncSender<()>),
}

impl Writer {
    fn start() -> Self {
        static LOST: AtomicU64 = AtomicU64::new(0);
        let (lines, taken) = sync_channel(LINES);
        // Without a thread there is no log, and everything else goes on.
        let _ = std::thread::Builder::new().name("log".to_owned()).spawn(move || write(&taken, &LOST));
        Self { lines, lost: &LOST }
    }

    fn take(&self, line: String) {
        if self.lines.try_send(Said::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn finish(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Said::End(done)).is_ok() {
            let _ = written.recv_timeout(END);
        }
    }
}

fn write(lines: &Receiver<Said>, lost: &AtomicU64) {
    let mut text = String::new();
    while let Ok(first) = lines.recv() {
        let missing = lost.swap(0, Ordering::Relaxed);
        if 0 < missing {
            text += &format!("{} warn {missing} lines of the log are missing here\n", now());
        }
        let mut done = None;
        for said in std::iter::once(first).chain(lines.try_iter()) {
            match said {
                Said::Line(line) => text += &line,
                Said::End(end) => done = Some(end),
            }
            if done.is_some() || WRITE <= text.len() {
                break;
            }
        }
        let _ = io::stderr().lock().write_all(text.as_bytes());
        text.clear();
        match done {
            Some(done) => drop(done.send(())),
            None => std::thread::sleep(GATHER),
        }
    }
}

#[cfg(test)]
mod tests;
