//! Kitbag gives any agent the tools of any MCP server.
//!
//! This crate is the library: it finds and reads the configuration people already have ([`discover`]), keeps
//! Kitbag's own files ([`registry`]), puts both together ([`Setup`]), keeps every server alive ([`connect`]), shows
//! one catalog ([`Kitbag::view`]) and calls its tools one way ([`Kitbag::run`]). Everything pure lives in
//! `kitbag-core` and is re-exported here.
//!
//! ```no_run
//! use kitbag::{Env, Kitbag, Request, Setup};
//!
//! # async fn example(env: Env) -> Result<(), Box<dyn std::error::Error>> {
//! let (kit, faults) = Kitbag::open(Setup::discover(&Request { env, ..Request::default() })?).await?;
//! for fault in &faults {
//!     eprintln!("{fault}");
//! }
//! for tool in kit.own_view().tools() {
//!     println!("{}: {}", tool.name, tool.tool.description);
//! }
//! let result = kit.call("mcp_time_get_current_time", r#"{"timezone": "UTC"}"#).await?;
//! println!("{:?}", result.for_model());
//! kit.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! Rules, hooks and tools of your own go into [`Options`]:
//!
//! ```
//! use std::sync::Arc;
//!
//! use kitbag::Options;
//! use kitbag::local::LocalTool;
//! use kitbag::shape::{KeepIf, Shaper, Tag};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     /// Who
//!     name: String,
//! }
//!
//! let greet = LocalTool::new("greet", "Says hello", async |greet: Greet, _| Ok(format!("Hello, {}", greet.name)));
//! let rules = Shaper::default()
//!     .with(KeepIf(|tool: &kitbag::catalog::Tool| !tool.name.as_str().starts_with("delete_")))
//!     .with(Tag("[mine] ".to_owned()));
//! let options = Options { local: vec![greet], rules: Arc::new(rules), ..Options::default() };
//! # let _ = options;
//! ```
//!
//! The environment is a value ([`Env`]): nothing in here reads a variable or the working folder behind the
//! caller's back.

mod code;
pub mod connect;
pub mod discover;
pub mod env;
pub mod execute;
pub mod guard;
mod held;
pub mod kit;
pub mod local;
pub mod registry;
mod roster;
pub mod setup;
#[cfg(feature = "tokens")]
pub mod tokens;
mod watch;
mod world;

/// How many inputs generated tests try; the full size is chosen when the tests are built.
#[cfg(test)]
pub(crate) const GENERATED: usize =
    if option_env!("KITBAG_FULL_TESTS").is_some() { 1_000_000 } else { 100_000 };

pub use env::Env;
pub use execute::{CallOptions, CallResult, Failure, Outcome, Size, ToolCall};
pub use held::{HeldName, HeldNames, NamesFiles};
pub use kit::{ApplyError, Kitbag, OpenError, Options};
pub use kitbag_core::{
    Auth, ErrorKind, Fault, FaultKind, InvalidName, Limits, Origin, Place, Secret, ServerName, ServerSpec,
    Severity, ShownName, Snippet, Stage, ToolName, Transport, UserId,
};
pub use kitbag_core::{catalog, config, fault, model, names, present, schema, shape, text};
pub use setup::{Request, Setup, SetupError};
pub use world::{ServerStatus, log_file};
