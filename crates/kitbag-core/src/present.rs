//! How one view is shown to a model, and what the model's answer means. A presentation is pure: it writes
//! text or definitions from a view and reads replies into intents; it never calls anything.

mod delegate;
mod find;
pub mod gateway;
pub mod markdown;
pub mod native;
mod presentation;
pub mod signatures;
pub mod text;

#[cfg(test)]
mod tests;

pub use find::find;
pub use presentation::{AgentServers, PresentOptions, Presentation};

/// One tool call, or text, in a model's reply, with the id it is to be answered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRequest {
    /// What the model calls this call, if it does. A call that cannot be understood has one, too: providers
    /// want every call answered by its id.
    pub id: Option<String>,
    /// The name it called; empty for what is no call, or a call of nothing.
    pub tool: String,
    /// What it wants.
    pub intent: Intent,
}

impl ModelRequest {
    /// What is no call.
    pub(crate) fn besides(intent: Intent) -> Self {
        Self { id: None, tool: String::new(), intent }
    }
}

/// What a model asks for: call a tool, list or find tools, or say something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// To call a tool.
    Call {
        /// The tool, by a name the view finds.
        tool: String,
        /// The arguments, as JSON text.
        arguments: String,
    },
    /// To see the tools of a server.
    ListTools {
        /// The server, as its owner names it.
        server: String,
        /// Words that narrow the list.
        query: Option<String>,
        /// Which page; the first is 1.
        page: usize,
    },
    /// To have a task done with the tools of one server, by another model than the one that asks.
    Delegate {
        /// The server, as its owner names it.
        server: String,
        /// The task, in words.
        query: String,
    },
    /// To find tools by words.
    Find {
        /// The words.
        query: String,
    },
    /// To say something.
    Say(String),
    /// Something that cannot be done as it is written.
    Malformed {
        /// What is wrong and how it is done right, for the model.
        repair: String,
    },
}
