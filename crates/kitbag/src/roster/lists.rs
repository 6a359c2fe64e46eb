//! Lists of tools remembered on disk, so that the next start lists at once. Each belongs to whoever may see it and
//! to the values its server ran with.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use kitbag_core::catalog::ServerTools;
use kitbag_core::text::Redactor;
use kitbag_core::{Limits, ServerName, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Setup;
use crate::connect::ToolList;
use crate::discover::text_within;
use crate::world::Server;

/// Where lists are remembered, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    folder: PathBuf,
    user: UserId,
}

/// A list from an earlier run.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) part: ServerTools,
    /// When it was written down, in seconds since 1970.
    pub(crate) since: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    /// A hash of the values the server ran with.
    values: String,
    tools: Vec<Box<RawValue>>,
}

impl Lists {
    /// In the cache folder of a setup, for its user.
    pub(crate) fn of(setup: &Setup) -> Self {
        Self { folder: setup.folders.cache.join("tools"), user: setup.user.clone() }
    }

    /// What is remembered of a server that ran with these values for this user, or for everybody.
    pub(crate) fn recall(&self, server: &Server, limits: &Limits) -> Option<Remembered> {
        let name = &server.spec().name;
        let values = server.plan.identity?.to_string();
        let files = match &server.plan.owner {
            Some(owner) => vec![self.own(owner, name)],
            None => vec![self.own(&self.user, name), self.shared(name)],
        };
        // As much as a server may list: one page may be as large as a message.
        let most = limits.list.max(limits.line);
        let (written, since) = files.into_iter().find_map(|file| {
            let text = text_within(&file, most).ok()??;
            let found: Written = serde_json::from_str(&text).ok()?;
            let changed = std::fs::metadata(&file).and_then(|about| about.modified()).ok();
            // A clock that was wrong once does not make it newer than now.
            let changed = changed.map(|changed| changed.min(SystemTime::now()));
            (found.values == values).then(|| (found, changed.and_then(super::seconds)))
        })?;
        let tools = written.tools.iter().take(limits.tools).map(|raw| raw.get());
        let mut part = ServerTools::parse(name, tools, limits);
        mask_notes(&mut part, server.plan.redactor());
        Some(Remembered { part, since })
    }

    /// Remembers a list. What cannot be written is no more than a slower start next time.
    pub(crate) fn remember(&self, server: &Server, list: &ToolList) {
        let name = &server.spec().name;
        let Some(values) = server.plan.identity else { return };
        let redactor = server.plan.redactor();
        let shown = |raw: &RawValue| RawValue::from_string(without_secrets(raw.get(), redactor).into_owned());
        let tools = list.tools.iter().filter_map(|tool| shown(&tool.raw).ok()).collect();
        let Ok(text) = serde_json::to_string(&Written { values: values.to_string(), tools }) else {
            return;
        };
        let own = server.plan.owner.as_ref().or_else(|| list.private.then_some(&self.user));
        let file = match own {
            Some(user) => {
                // What everybody could see is now for some.
                if server.plan.owner.is_none() {
                    let _ = std::fs::remove_file(self.shared(name));
                }
                self.own(user, name)
            }
            None => {
                // What was private is no longer.
                let _ = std::fs::remove_file(self.own(&self.user, name));
                self.shared(name)
            }
        };
        let _ = crate::registry::write_cache(&file, &text);
    }

    fn shared(&self, server: &ServerName) -> PathBuf {
        self.folder.join(format!("{}.json", server.slug()))
    }

    fn own(&self, user: &UserId, server: &ServerName) -> PathBuf {
        self.folder.join(user.state_folder()).join(format!("{}.json", server.slug()))
    }
}

/// A definition without the secrets of its server in what is read by people and models. Names and what is checked stay:
/// they are the server's own words on the wire.
pub(crate) fn without_secrets<'a>(raw: &'a str, redactor: &Redactor) -> Cow<'a, str> {
    if matches!(redactor.mask(raw), Cow::Borrowed(_)) {
        return Cow::Borrowed(raw);
    }
    fn walk(value: Value, redactor: &Redactor) -> Value {
        let is_read = |key: &str| matches!(key, "description" | "title" | "default" | "examples" | "_meta");
        match value {
            Value::Object(fields) => {
                let field = |(key, value): (String, Value)| {
                    let value = if is_read(&key) { redactor.mask_value(&value) } else { value };
                    (key, walk(value, redactor))
                };
                Value::Object(fields.into_iter().map(field).collect())
            }
            Value::Array(items) => items.into_iter().map(|item| walk(item, redactor)).collect(),
            other => other,
        }
    }
    match serde_json::from_str(raw) {
        Ok(value) => Cow::Owned(walk(value, redactor).to_string()),
        Err(_) => Cow::Borrowed(raw),
    }
}

/// Takes the secrets of a server out of what is told about its list: it may quote names and parts of schemas.
pub(super) fn mask_notes(part: &mut ServerTools, redactor: &Redactor) {
    let mask = |text: &mut String| {
        if let Cow::Owned(masked) = redactor.mask(text) {
            *text = masked;
        }
    };
    for rejected in &mut part.rejected {
        rejected.tool.iter_mut().for_each(mask);
        mask(&mut rejected.why);
    }
    for tool in part.tools.iter_mut().filter(|tool| !tool.notes.is_empty()) {
        Arc::make_mut(tool).notes.iter_mut().for_each(|note| mask(&mut note.message));
    }
}
