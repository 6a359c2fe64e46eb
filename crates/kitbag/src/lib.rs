//! Kitbag gives any agent the tools of any MCP server.
//!
//! This crate is the library: it finds and reads the configuration people already have ([`discover`]), keeps
//! Kitbag's own files ([`registry`]), and puts both together ([`Setup`]). Everything pure lives in
//! `kitbag-core` and is re-exported here.
//!
//! The environment is a value ([`Env`]): nothing in here reads a variable or the working folder behind the
//! caller's back.

pub mod connect;
pub mod discover;
pub mod env;
pub mod execute;
pub mod guard;
pub mod kit;
pub mod local;
pub mod registry;
mod roster;
pub mod setup;

/// How many inputs generated tests try; the full size is chosen when the tests are built.
#[cfg(test)]
pub(crate) const GENERATED: usize =
    if option_env!("KITBAG_FULL_TESTS").is_some() { 1_000_000 } else { 100_000 };

pub use env::Env;
pub use execute::{CallResult, Failure, Intent, Size};
pub use kit::{Kitbag, OpenError, Options, ServerStatus};
pub use kitbag_core::{
    Auth, ErrorKind, Fault, FaultKind, InvalidName, Limits, Origin, Place, Secret, ServerName, ServerSpec,
    Severity, ShownName, Snippet, Stage, ToolName, Transport, UserId,
};
pub use kitbag_core::{catalog, config, fault, model, names, schema, shape, text};
pub use setup::{Request, Setup, SetupError};
