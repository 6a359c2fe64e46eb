//! The pure part of Kitbag: what things are called, what a server's configuration says, and (later) what
//! one catalog of tools looks like to a model.
//!
//! Nothing here touches a file, a socket, the environment or a clock; all of that arrives as values. The
//! modules follow the data's way: each may use those before it, never one after it.

#![cfg_attr(
    not(all(feature = "files", feature = "present")),
    expect(dead_code, reason = "smaller builds leave out who needs it")
)]

pub mod catalog;
pub mod codes;
pub mod config;
pub mod fault;
pub mod model;
pub mod names;
#[cfg(feature = "present")]
pub mod present;
pub mod schema;
mod serialize;
pub mod shape;
pub mod text;

pub use fault::{Fault, FaultKind, Severity, Snippet, SourceLocation, Stage};
pub use model::{Auth, ErrorKind, Limits, Origin, Secret, ServerSpec, Transport};
pub use names::{InvalidName, ServerName, ShownName, ToolName, UserId};
