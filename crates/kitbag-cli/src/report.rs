//! A fault as a person reads it: what, where, the line itself, and what to write instead.
//!
//! Drawn by hand: the line shown is masked and may be a window of the real one, so its columns are not the
//! file's, which is what a snippet library would print.

use std::fmt::Write as _;

use clap::builder::styling::{AnsiColor, Style};
use kitbag::{Fault, Severity};
use kitbag_core::text::{one_line, visible};

use crate::terminal::{BAD, DIM, ODD, styled};

const NOTE: Style = AnsiColor::Cyan.on_default();

/// A fault with its line, if it has one.
pub(crate) fn fault(fault: &Fault) -> String {
    let style = match fault.severity {
        Severity::Error => BAD,
        Severity::Warning => ODD,
        _ => NOTE,
    };
    let server =
        fault.server.as_ref().map(|server| format!("{}: ", visible(server.as_str()))).unwrap_or_default();
    let mut text = format!(
        "{}: {server}{}\n",
        styled(style, format!("{}[{}]", fault.severity.as_str(), fault.kind.as_str())),
        one_line(&fault.message)
    );
    let margin = fault.place.as_ref().map_or(1, |place| place.line.to_string().len());
    if let Some(place) = &fault.place {
        let _ = writeln!(text, "{:margin$}{} {}", "", styled(DIM, "-->"), visible(&place.to_string()));
    }
    if let (Some(place), Some(snippet)) = (&fault.place, &fault.snippet) {
        let (bar, mark) = (styled(DIM, "|"), styled(style, "^"));
        let _ = writeln!(text, "{:margin$} {bar}", "");
        let _ = writeln!(text, "{} {bar} {}", styled(DIM, place.line), snippet.text);
        let _ = writeln!(text, "{:margin$} {bar} {:indent$}{mark}", "", "", indent = snippet.start);
    }
    if let Some(hint) = &fault.hint {
        let _ = writeln!(text, "{:margin$} {} {}", "", styled(DIM, "= help:"), one_line(hint));
    }
    text
}
