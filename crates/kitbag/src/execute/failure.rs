//! Why a call has no result, in words a model can act on.

use std::fmt;
use std::sync::Arc;

use kitbag_core::schema::Problem;
use kitbag_core::{ErrorKind, ServerName};
use serde::Serialize;
use serde_json::Value;

use crate::connect::{RawCallError, Reason};

/// The error of a tool call: why it has no result.
#[derive(Clone, Debug, thiserror::Error, Serialize)]
pub struct CallError {
    /// Which way it went wrong.
    pub kind: ErrorKind,
    /// Whose tool, when that is known.
    pub server: Option<ServerName>,
    /// What its server calls it, when that is known.
    pub tool: Option<String>,
    /// The cause, in one line without secrets.
    pub message: String,
    /// The server's own code, when it answered with an error.
    pub code: Option<i64>,
    /// What its server said beside (`data`), without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<Value>>,
    /// Why its server could not be used, where that is why.
    #[source]
    #[serde(skip)]
    pub reason: Option<Arc<Reason>>,
    /// What helps to do better.
    pub repair: Option<Box<Repair>>,
}

/// What a model can use to repair a failed call: similar names, or the schema of the arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Names that may have been meant.
    Names(Vec<String>),
    /// What the arguments must be.
    Schema(Value),
}

/// The most of a schema that is put into an error.
const SCHEMA: usize = 4_000;

impl CallError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            server: None,
            tool: None,
            message: message.into(),
            code: None,
            data: None,
            reason: None,
            repair: None,
        }
    }

    pub(crate) fn of(mut self, server: &ServerName, tool: &str) -> Self {
        self.server = Some(server.clone());
        self.tool = Some(tool.to_owned());
        self
    }

    pub(crate) fn repair(mut self, repair: Repair) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }

    /// Arguments that do not fit, each with what is wrong about it.
    pub(crate) fn invalid(problems: &[Problem], schema: &Value) -> Self {
        let list: Vec<String> = problems.iter().map(Problem::to_string).collect();
        let failure =
            Self::new(ErrorKind::InvalidArguments, format!("the arguments do not fit: {}", list.join("; ")));
        failure.repair(Repair::Schema(schema.clone()))
    }

    /// All of it as one text for a model: what, why, and what to do instead.
    pub fn for_model(&self) -> String {
        let who = match (&self.server, &self.tool) {
            (Some(server), Some(tool)) => format!("{server}/{tool}: "),
            (Some(server), None) => format!("{server}: "),
            _ => String::new(),
        };
        let advice = match self.kind {
            ErrorKind::OutcomeUnknown => " It may have been carried out; check before you call it again.",
            ErrorKind::Unavailable | ErrorKind::Timeout => " Nothing was done; it may work later.",
            _ => "",
        };
        let repair = match self.repair.as_deref() {
            Some(Repair::Names(names)) if !names.is_empty() => {
                format!(" Did you mean: {}?", names.join(", "))
            }
            Some(Repair::Schema(schema)) => {
                let text = schema.to_string();
                let end = (0..=SCHEMA.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
                let cut = &text[..end.unwrap_or(0)];
                format!(
                    " The arguments must match this schema: {cut}{}",
                    if cut.len() < text.len() { "…" } else { "" }
                )
            }
            _ => String::new(),
        };
        let text = format!("{} ({who}{}).{advice}{repair}", self.kind.as_str(), self.message);
        kitbag_core::text::neutral(&text).into_owned()
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.server {
            write!(f, "{server}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl From<RawCallError> for CallError {
    fn from(error: RawCallError) -> Self {
        let RawCallError { kind, server, tool, message, code, data, reason } = error;
        Self { kind, server: Some(server), tool: Some(tool), message, code, data, reason, repair: None }
    }
}
