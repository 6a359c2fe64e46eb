//! One way to call a tool, whoever asks: resolve, authorize, coerce, validate, hooks, send, convert, bound,
//! record. It ends with a result or with an error of a closed list, each of which a model can read.

mod approve;
mod arguments;
mod call;
mod call_id;
mod convert;
mod failure;
mod guarded;
mod hook;
#[cfg(feature = "present")]
mod outcome;
mod plain;
mod record;
mod responder;
mod result;
mod results;
mod weight;

#[cfg(test)]
mod tests;

pub use approve::{ApprovalAnswer, ApprovalRequest, Approver, AskElsewhere};
pub use call::{CallOptions, ResultSize, ToolCall};
pub use call_id::CallId;
pub use convert::ContentBlock;
pub use failure::{CallError, Repair};
pub use hook::{Hook, HookAction, OutgoingCall};
#[cfg(feature = "present")]
pub use outcome::IntentOutcome;
pub use record::CallRecord;
pub use result::{CallInfo, CallResult};

pub(crate) use arguments::{Ready, Want, prepare};
pub(crate) use call::CallParts;
pub(crate) use convert::{Converted, convert, short};
pub(crate) use guarded::{guarded_now, troubled};
pub(crate) use record::{Kept, Records, Taken, masked_arguments};
pub(crate) use responder::{ANSWERER, Watched};
pub(crate) use results::{Remainder, Results, tool as read_result};

/// The tool that reads the rest of a result.
pub const READ_RESULT: &str = "kitbag_read_result";
