//! Kitbag as an MCP server: any program that speaks MCP gets everything its user may have from one address, or from one
//! child process.
//!
//! The mirror of the client half in `kitbag::connect`: raw JSON-RPC in, raw results out. A call is resolved, authorized and
//! checked by the [`Kitbag`](kitbag::Kitbag) of its user, like a call through any other door, and its result travels as the
//! bytes its server sent.
//!
//! [`serve_http`] speaks streamable HTTP, both eras of the protocol on one address; [`serve_stdio`] reads and writes lines,
//! as a host starts it.

mod access;
mod answer;
mod ask;
mod audience;
mod backlog;
mod call;
mod client;
mod counted;
mod endpoint;
mod flight;
mod follow;
mod gateway;
mod hosts;
mod http;
mod listen;
mod load;
mod metrics;
mod news;
mod offered;
mod older;
mod parked;
mod passes;
mod plan;
mod request_id;
mod rpc;
mod stdio;
mod token;
mod tools;

pub use audience::parse_mode;
pub use endpoint::{Endpoint, EndpointOptions, Kits, Scope};
pub use http::{BindError, HttpOptions, serve as serve_http};
pub use stdio::serve as serve_stdio;
pub use token::NewToken;
