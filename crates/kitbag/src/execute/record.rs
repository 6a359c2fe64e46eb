//! What was called lately. Arguments lose their secrets and are cut before anyone reads them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use kitbag_core::text::{MASK, Redactor, looks_secret, names_secret, redact_log, visible};
use kitbag_core::{ErrorKind, ServerName, UserId};
use serde_json::{Map, Value};

use super::call_id::CallId;

/// The most of the arguments that is kept.
const ARGUMENTS: usize = 200;
/// The most calls that are kept.
const CALLS: usize = 256;

/// The record of one call, see [`crate::Kitbag::recent_calls`].
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// What it is called in logs.
    pub id: CallId,
    /// When it ended.
    pub at: SystemTime,
    /// For whom.
    pub user: UserId,
    /// Whose tool; none when the call meant none.
    pub server: Option<ServerName>,
    /// What the server calls it, or what was asked for.
    pub tool: String,
    /// The beginning of its arguments, without secrets.
    pub arguments: String,
    /// How it ended, when not well.
    pub kind: Option<ErrorKind>,
    /// How long it took.
    pub took: Duration,
}

impl CallRecord {
    /// As one line of a log. Others may read that, so its arguments are left out.
    pub fn line(&self) -> String {
        let how = self.kind.map_or("ok", ErrorKind::as_str);
        format!("call {} {how} {} ms", visible(&self.tool), self.took.as_millis())
    }
}

/// The last calls.
#[derive(Default)]
pub(crate) struct Records(Mutex<VecDeque<Taken>>);

/// A call as it was taken down: its arguments still whole, unless they are long.
pub(crate) struct Taken {
    pub(crate) record: CallRecord,
    pub(crate) arguments: Kept,
    /// Hides the secrets its server had at that moment.
    pub(crate) redactor: Redactor,
}

/// What is kept of the arguments of a call.
#[derive(Clone)]
pub(crate) enum Kept {
    /// As they were given, to be read when somebody wants to see them.
    Text(Box<str>),
    /// As they were sent.
    Values(Map<String, Value>),
    /// Nothing: they are long.
    Nothing,
}

impl Kept {
    pub(crate) fn shown(&self, redactor: &Redactor) -> String {
        match self {
            Self::Text(text) => shown(serde_json::from_str(text).unwrap_or_default(), redactor),
            Self::Values(arguments) => shown(arguments.clone(), redactor),
            Self::Nothing => "{…}".to_owned(),
        }
    }
}

impl Records {
    /// Takes a call down. Cheap: secrets are looked for only when somebody reads.
    pub(crate) fn push(&self, taken: Taken) {
        let mut records = self.lock();
        if CALLS <= records.len() {
            records.pop_front();
        }
        records.push_back(taken);
    }

    /// The last calls of a user, oldest first.
    pub(crate) fn recent(&self, user: &UserId) -> Vec<CallRecord> {
        let shown = |taken: &Taken| {
            let arguments = taken.arguments.shown(&taken.redactor);
            CallRecord { arguments, ..taken.record.clone() }
        };
        self.lock().iter().filter(|taken| taken.record.user == *user).map(shown).collect()
    }

    /// The last calls of everybody, without their arguments.
    pub(crate) fn all(&self) -> Vec<CallRecord> {
        self.lock().iter().map(|taken| taken.record.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Taken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All arguments of a call, without secrets: for whoever decides about it.
pub(crate) fn masked_arguments(arguments: &Map<String, Value>, redactor: &Redactor) -> String {
    visible(&masked(&redactor.mask_value(&Value::Object(arguments.clone()))).to_string())
}

/// Masked first and cut afterwards: half a secret would no longer look like one.
fn shown(arguments: Map<String, Value>, redactor: &Redactor) -> String {
    let text = masked_arguments(&arguments, redactor);
    match text.char_indices().nth(ARGUMENTS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if looks_secret(text) => MASK.into(),
        Value::String(text) => redact_log(text).into(),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let hide = names_secret(key) && !value.is_boolean();
                (key.clone(), if hide { MASK.into() } else { masked(value) })
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}
