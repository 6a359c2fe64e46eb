//! A link to a server, started, supervised, recovered and ended so that nothing above has to care.
//!
//! From the bottom: `frame` and `message` take bytes apart, `channel` is what a transport must do, `stdio` is one,
//! `http` holds two more, `peer` holds the conversation, `era` opens it, `list` pages through tools, and `link` keeps it all
//! alive.

mod ask;
mod carrier;
mod channel;
mod client;
mod era;
mod frame;
#[cfg(feature = "http")]
mod http;
#[cfg(not(feature = "http"))]
#[path = "connect/no_http.rs"]
mod http;
mod in_process;
mod lines;
mod link;
mod list;
mod log_level;
mod logs;
mod memory;
mod message;
mod news;
mod notification;
mod open;
mod peer;
mod plan;
mod pool;
mod reason;
mod roots;
mod secrets;
mod spans;
mod status;
mod stdio;
mod trace;
mod waits;
mod when;
mod wire;

pub use ask::{Answer, CallerInput, Question, QuestionKind, Responder};
pub use client::{ClientInfo, ProtocolVersion, UnknownVersion};
pub use era::{Era, Handshake, ServerFeatures};
pub use in_process::in_process;
pub use link::{Link, RawCall, RawCallError, RawReply, RawRequest, ReplyKind};
pub use list::{ItemList, RawItem, RawTool, ToolList};
pub use log_level::LogLevel;
pub(crate) use logs::log_file;
pub use notification::{Notification, Progress};
pub use reason::{Reason, ReasonClass};
pub use status::{LinkState, LinkStatus};
pub use stdio::{how_to_get, program_variables};
pub use trace::{Trace, TraceDirection, TraceLine};
pub use when::StartServers;

/// The connector for clients of other APIs, such as those of models. It may change at any time.
#[cfg(feature = "http")]
#[doc(hidden)]
pub mod api {
    pub use super::http::{ApiEvents, ApiHost, retry_time};
}

/// Messages of the protocol as bytes: what the other half of a conversation, an endpoint, is made of. It may change at any
/// time.
#[doc(hidden)]
pub mod raw {
    pub use super::frame::{Frame, Framer};
    pub use super::message::{Message, NotAMessage, decode, is_too_deep};
    pub use super::wire::{members, quoted};
}

kitbag_core::serialize_as_word!(Era, LinkState, QuestionKind, ReasonClass, TraceDirection);

pub(crate) use ask::{NOT_WAITING, Offers};
pub(crate) use client::{Greeting, Revision};
pub(crate) use link::{Items, Subscribed};
pub(crate) use list::{ListKind, bad_uri};
pub(crate) use plan::{LinkContext, Plan, link_limits, log_folder, reads_alike};
pub(crate) use pool::{Key, Lease};
pub(crate) use roots::{WithRoots, roots_answer};
pub(crate) use trace::Tracer;
