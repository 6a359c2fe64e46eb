//! What is said while a call runs: how far it is, on a terminal; log messages for those who want to know more.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use kitbag::Notification;
use kitbag_core::text::visible;
use serde_json::Value;

use super::Hide;
use crate::context::Context;
use crate::terminal::width;

/// The shortest time between two looks of the line; a server may report as often as it likes.
const PAUSE: Duration = Duration::from_millis(50);
const BAR: usize = 24;

/// One line on stderr that is written over and over, and gone at the end.
pub(super) struct ProgressLine {
    tool: String,
    hide: Hide,
    /// Whether there is a terminal to draw on.
    shows: bool,
    /// How much of the line is filled.
    drawn: usize,
    last: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new(context: &Context, tool: &str, hide: &Hide) -> Self {
        let shows = std::io::stderr().is_terminal() && !context.global.quiet && !context.global.json;
        Self { tool: visible(tool), hide: hide.clone(), shows, drawn: 0, last: None }
    }

    pub(super) fn take(&mut self, context: &mut Context, note: &Notification) {
        let Ok(params) = serde_json::from_str::<Value>(note.params.get()) else { return };
        let params = self.hide.value(&params);
        match &*note.method {
            "notifications/progress" => self.draw(context, &params),
            "notifications/message" if context.global.verbose => {
                self.end(context);
                context.aside(&message(&params));
            }
            _ => {}
        }
    }

    /// Wipes the line.
    pub(super) fn end(&mut self, context: &mut Context) {
        if 0 < self.drawn {
            context.overwrite(&format!("{:1$}\r", "", self.drawn));
            self.drawn = 0;
            self.last = None;
        }
    }

    fn draw(&mut self, context: &mut Context, params: &Value) {
        let early = self.last.is_some_and(|last| last.elapsed() < PAUSE);
        if !self.shows || early {
            return;
        }
        let room = width().unwrap_or(80).saturating_sub(1);
        let line: String = line(&self.tool, params).chars().take(room).collect();
        let (before, now) = (self.drawn, line.chars().count());
        context.overwrite(&format!("{line}{:1$}", "", before.saturating_sub(now)));
        self.drawn = now.max(before);
        self.last = Some(Instant::now());
    }
}

/// A bar where the end is known, else a counter.
fn line(tool: &str, params: &Value) -> String {
    let number = |key: &str| params.get(key).and_then(Value::as_f64).filter(|number| number.is_finite());
    let done = number("progress").unwrap_or(0.0).max(0.0);
    let message = params.get("message").and_then(Value::as_str).map(visible).unwrap_or_default();
    let how_far = match number("total").filter(|total| 0.0 < *total) {
        Some(total) => {
            let full = ((done / total).clamp(0.0, 1.0) * BAR as f64) as usize;
            format!("[{}{}] {done}/{total}", "#".repeat(full), "-".repeat(BAR - full))
        }
        None => done.to_string(),
    };
    format!("{tool} {how_far} {message}").trim_end().to_owned()
}

fn message(params: &Value) -> String {
    let word = |key: &str| params.get(key).and_then(Value::as_str);
    let data = params.get("data").unwrap_or(&Value::Null);
    let data = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
    let level = word("level").unwrap_or("log");
    let logger = word("logger").map(|logger| format!(" {logger}")).unwrap_or_default();
    format!("[{level}{logger}] {data}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(params: &Value, expected: &str) {
        assert_eq!(line("t", params), expected, "{params}");
    }

    #[test]
    fn lines() {
        check(&json!({"progress": 1, "total": 2}), "t [############------------] 1/2");
        check(&json!({"progress": 3, "total": 2, "message": "on"}), "t [########################] 3/2 on");
        check(&json!({"progress": 7}), "t 7");
        check(&json!({"progress": 0.5, "total": 0}), "t 0.5");
        check(&json!({"progress": -1, "total": 4}), "t [------------------------] 0/4");
        check(&json!({"progress": "x"}), "t 0");
        check(&json!({"progress": 1, "message": "a\u{1b}[2J"}), "t 1 a\\u{1b}[2J");
    }
}
