//! One way to call a tool, whoever asks: resolve, authorize, coerce, validate, hooks, send, convert, bound,
//! record. It ends with a result or with an error of a closed list, each of which a model can read.

use std::sync::Arc;
use std::time::Duration;

use kitbag_core::present::gateway::Status;
use kitbag_core::schema::Coercion;
use kitbag_core::text::Redactor;
use kitbag_core::{ErrorKind, ServerName, Transport};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::connect::{Note, Responder};

mod approve;
mod arguments;
mod convert;
mod failure;
mod guarded;
mod hook;
mod outcome;
mod plain;
mod record;
mod responder;
mod results;
mod weight;

#[cfg(test)]
mod tests;

pub use approve::{Approval, ApprovalFuture, Approver};
pub use convert::Block;
pub use failure::{Failure, Repair};
pub use hook::{Flow, Hook, HookFuture, Outgoing};
pub use outcome::Outcome;
pub use record::Record;

pub(crate) use arguments::{Ready, Want, prepare};
pub(crate) use convert::{Converted, convert, short};
pub(crate) use guarded::{guarded_now, troubled};
pub(crate) use record::{Kept, Records, Taken};
pub(crate) use responder::{ANSWERER, Watched};
pub(crate) use results::{Results, tool as read_result};

/// The tool that reads the rest of a result.
pub const READ_RESULT: &str = "kitbag_read_result";

/// One call of one tool.
pub struct ToolCall<'a> {
    /// The tool, by the name it is listed under or any other that means it without doubt.
    pub tool: &'a str,
    /// Its arguments, as JSON text; nothing means none.
    pub arguments: &'a str,
    /// What goes with it.
    pub options: CallOptions<'a>,
}

/// What goes with a call, whoever makes it.
#[derive(Clone, Default)]
pub struct CallOptions<'a> {
    /// What goes into `_meta`.
    pub meta: Option<&'a RawValue>,
    /// Where notes go while it runs.
    pub notes: Option<mpsc::Sender<Note>>,
    /// Who answers when the server asks something in return. Newer servers are told with the call what that is; older
    /// ones are told when they are connected, by [`crate::Options::answers`], and ask for nothing else.
    pub responder: Option<Arc<dyn Responder>>,
    /// How long it may take, within the limits; as long as its server's file says otherwise.
    pub timeout: Option<Duration>,
    /// How much of the result is handed over at once.
    pub size: Size,
    /// Who hears of slow work before it is done.
    pub status: Option<Arc<dyn Fn(Status) + Send + Sync>>,
}

impl CallOptions<'_> {
    pub(crate) fn say(&self, status: impl FnOnce() -> Status) {
        if let Some(listener) = &self.status {
            let status = status();
            guarded_now(|| listener(status));
        }
    }
}

/// How much of a result is handed over at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// As much as the limits say; the rest can be read by page.
    #[default]
    Bounded,
    /// The same, but images, sounds and embedded files all of them: for whoever puts those elsewhere.
    Texts,
    /// All of it.
    Whole,
}

impl<'a> ToolCall<'a> {
    /// A call with arguments as JSON text.
    pub fn new(tool: &'a str, arguments: &'a str) -> Self {
        Self { tool, arguments, options: CallOptions::default() }
    }
}

/// What a call came back with. A tool that says it failed has a result, too.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// Its content, each block with its type.
    pub content: Vec<Block>,
    /// Its structured content; copies of binary content in it are left out.
    pub structured: Option<Value>,
    /// Whether the tool says it failed.
    pub is_error: bool,
    /// How it went.
    pub meta: Meta,
}

/// How a call went.
#[derive(Clone, Debug)]
pub struct Meta {
    /// Whose tool it was.
    pub server: ServerName,
    /// What the server calls it.
    pub tool: String,
    /// How the server is spoken to; none for a local tool.
    pub transport: Option<Transport>,
    /// How long it took.
    pub took: Duration,
    /// How often it had to be sent again.
    pub retries: u32,
    /// Whether a hook answered instead of the server.
    pub cache_hit: bool,
    /// Arguments that were brought into the type the schema asks for.
    pub coerced: Vec<Coercion>,
    /// The handle to read the rest by, when only the beginning is here.
    pub handle: Option<String>,
    /// Worth knowing about the result; nothing was lost by it.
    pub notes: Vec<String>,
}

impl CallResult {
    /// What a model is given: the content, or the structured content when there is no other.
    pub fn for_model(&self) -> Vec<Block> {
        match (&self.structured, self.content.is_empty()) {
            (Some(structured), true) => vec![Block::text(convert::neutral_json(structured))],
            _ => self.content.iter().map(Block::neutral).collect(),
        }
    }

    /// The same without these secrets: for whoever shows it to a person or writes it to a file.
    pub fn masked(&self, redactor: &Redactor) -> Self {
        let mut result = self.clone();
        if !redactor.is_empty() {
            result.content.iter_mut().for_each(|block| *block = block.masked(redactor));
            result.structured = self.structured.as_ref().map(|value| redactor.mask_value(value));
            result.meta.notes.iter_mut().for_each(|note| *note = redactor.mask(note).into_owned());
        }
        result
    }

    /// The word for how it ended, when that is not well.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.is_error.then_some(ErrorKind::ToolError)
    }
}
