//! What happens in a run, as it happens.

use std::time::Duration;

use crate::model::{ModelError, Usage};

use super::Report;

/// Something that happened in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The next piece of what the model says. It may still make calls after it.
    Text(String),
    /// The next piece of its reasoning.
    Reasoning(String),
    /// The host of the model is busy or away, and will be asked again.
    Retrying {
        /// Why.
        error: ModelError,
    },
    /// One reply of the model is complete.
    Step {
        /// Which; the first is 1.
        number: usize,
        /// What it cost.
        usage: Usage,
        /// How many calls it makes.
        calls: usize,
    },
    /// A call begins.
    Call {
        /// Its place among the calls of the reply.
        place: usize,
        /// The tool, as the model called it.
        tool: String,
        /// Its arguments, as JSON text. They may be private.
        arguments: String,
    },
    /// A call has ended.
    Result(ToolOutcome),
    /// Something happened to an agent that does a task for this one: a tool in agent mode was called.
    Delegated {
        /// The place of that call among the calls of the reply.
        place: usize,
        /// What happened.
        event: Box<AgentEvent>,
    },
    /// The run is over; always the last event.
    Done(Report),
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct ToolOutcome {
    /// Its place among the calls of the reply.
    pub place: usize,
    /// The tool, as the model called it.
    pub tool: String,
    /// What the model is told, as text.
    pub text: String,
    /// Whether that is an error.
    pub is_error: bool,
    /// How long it took.
    pub took: Duration,
}
