//! A link to a server, started, supervised, recovered and ended so that nothing above has to care.
//!
//! From the bottom: [`frame`] and [`message`] take bytes apart, [`channel`] is what a transport must do,
//! [`stdio`] is one, [`http`] holds two more, [`peer`] holds the conversation, [`era`] opens it, [`list`] pages through tools, and
//! [`link`] keeps it all alive.

mod ask;
mod carrier;
mod channel;
mod era;
mod frame;
mod http;
mod link;
mod list;
mod logs;
mod memory;
mod message;
mod news;
mod open;
mod peer;
mod plan;
mod pool;
mod reason;
mod secrets;
mod status;
mod stdio;
mod waits;
mod wire;

pub use ask::{Answer, Ask, Question, Responder};
pub use era::{Era, Greeting};
pub use link::{Call, CallError, Link, Reply};
pub use list::{RawTool, ToolList};
pub(crate) use logs::log_file;
pub use peer::Note;
pub use reason::{Reason, ReasonClass};
pub use status::{LinkState, Status};
pub use stdio::how_to_get;

pub(crate) use ask::Offers;
pub(crate) use plan::{LinkContext, Plan, link_limits, log_folder, reads_alike};
pub(crate) use pool::{Key, Lease};
