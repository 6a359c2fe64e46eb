//! Kitbag gives any agent the tools of any MCP server: it reads the configuration people already have, starts and
//! supervises the servers, lists their tools in one catalog, shows them to a model in the form its API takes, and calls
//! them.
//!
//! # Opening
//!
//! A [`Setup`] is everything known before a connection is made. [`Setup::discover`] reads configuration files as the
//! `kitbag` command does, [`Setup::from_specs`] takes servers described in code. [`Kitbag::open`] starts the servers and
//! returns a handle and the [`Fault`]s of servers that are not usable; late servers join by themselves.
//!
//! The environment is a value: nothing in here reads a variable or the working folder behind the caller's back. An [`Env`]
//! without a working folder, such as `Env::default()`, suits servers at a URL and in this process, not programs.
//!
//! ```no_run
//! use kitbag::{DiscoverOptions, Env, Kitbag, Setup};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! kitbag::guard::init(); // first in `main`: no server process outlives this program
//! let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
//! let setup = Setup::discover(&DiscoverOptions { env, ..DiscoverOptions::default() })?;
//! let (kit, faults) = Kitbag::open(setup).await?;
//! faults.iter().for_each(|fault| eprintln!("{fault}"));
//! # Ok(())
//! # }
//! ```
//!
//! # Calling a tool
//!
//! [`Kitbag::call`] takes the name of a tool and its arguments as JSON text. Names are `mcp_<server>_<tool>`, as models see
//! them; `server/tool` works too, and so does the tool's own name where only one server has it. Arguments are checked
//! against the tool's schema before anything is sent. [`Kitbag::call_tool`] takes [`CallOptions`] as well: timeout, `_meta`,
//! headers, progress, cancellation, and who answers questions.
//!
//! ```
//! use kitbag::{CallOptions, Env, Kitbag, LocalTool, OpenOptions, Setup, ToolCall};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let add = LocalTool::new("add", "Adds two numbers", async |add: Add, _| Ok(add.a + add.b));
//! let options = OpenOptions { local: vec![add], ..OpenOptions::default() };
//! let (kit, _) = Kitbag::open_with(Setup::empty(Env::default()), options).await?;
//!
//! let result = kit.call("add", r#"{"a": 2, "b": 40}"#).await?;
//! assert_eq!(result.content[0].as_text(), Some("42"));
//!
//! let timeout = Some(std::time::Duration::from_secs(5));
//! let call = ToolCall::new("add", r#"{"a": 1}"#).with(CallOptions { timeout, ..CallOptions::default() });
//! let error = kit.call_tool(&kit.own_view(), call).await.unwrap_err();
//! assert_eq!(error.kind.as_str(), "invalid_arguments");
//! kit.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Showing tools to a model
//!
//! A [`View`] is what one user's agent sees: [`Kitbag::own_view`], or [`Kitbag::view`] for another user or an agent with
//! rules. [`Kitbag::present`] writes it in the form of a [`Provider`]: [`Presentation::tools`] goes into the request,
//! [`Presentation::prompt`] into the system prompt. [`Kitbag::run_all`] does what the model's reply asks for and returns the
//! messages that answer it.
//!
//! ```no_run
//! use kitbag::{CallOptions, Kitbag, PresentOptions, Provider};
//! use serde_json::{Value, json};
//!
//! # async fn ask_model(tools: &Value, messages: &[Value]) -> Value { json!(null) }
//! # async fn example(kit: Kitbag) {
//! let view = kit.own_view();
//! let shown = kit.present(&view, &PresentOptions::native(Provider::Anthropic));
//! let mut messages = vec![json!({"role": "user", "content": "What time is it?"})];
//! loop {
//!     let reply = ask_model(&shown.tools, &messages).await;
//!     let answers = kit.run_all(&view, &shown, &reply, &CallOptions::default()).await;
//!     messages.push(json!({"role": "assistant", "content": reply["content"]}));
//!     if answers.is_empty() {
//!         break;
//!     }
//!     messages.extend(answers);
//! }
//! # }
//! ```
//!
//! [`Rule`]s change what is shown: filter, rename, describe, pin arguments. The server still gets its own names.
//! [`rules`] has ready-made ones.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kitbag::rules::{KeepIf, Only, Tag};
//! use kitbag::{OpenOptions, Shaper, Tool};
//!
//! let rules = Shaper::default()
//!     .with(KeepIf(|tool: &Tool| !tool.name.as_str().starts_with("delete_")))
//!     .with(Only::new("github", "*", Tag("[GitHub] ".to_owned()))?);
//! let options = OpenOptions { rules: Arc::new(rules), ..OpenOptions::default() };
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who shares what
//!
//! Clones of a [`Kitbag`] are one handle. Two handles in one process share the connection to a server when its
//! configuration, its values and its limits are equal, so a handle for each user ([`Setup::for_user`]) costs no further
//! process. A server is a user's own where its entry stands in the user's file, takes a value of the user's, or says
//! `per_user`. Records, stored results and answers always belong to one user. [`Authorize`] decides who sees and calls what;
//! what is denied is not listed and cannot be called.
//!
//! # Who answers
//!
//! - A [`Responder`] answers what a server asks during a call: sampling, elicitation, roots. Without one it is refused.
//! - An [`Approver`] is asked before a call whose tool needs approval. Without one the call is refused.
//! - A [`Hook`] sees every call before and after: it may change arguments, answer in the server's place, or refuse.
//!
//! All of this is code of the program. It may hang or panic: that costs its own call alone.
//!
//! # What is retried
//!
//! Connections are: a server that exits or is lost is started again with a growing delay, and calls wait for it. A call is
//! sent again only where the server certainly did not receive it, or where the operator marked the tool as `read_only` or
//! `idempotent`. A call that was sent and got no answer ends with [`ErrorKind::OutcomeUnknown`] and is never repeated.
//!
//! # Changing and ending
//!
//! [`Kitbag::apply`] puts another [`Setup`] in place, [`Kitbag::reload`] reads the files again, [`Kitbag::follow_files`] does
//! so whenever one changes. Servers that did not change keep their process. [`Kitbag::close`] refuses new calls, lets calls
//! in flight finish within [`Limits::drain`], and waits until no process is left. Dropping the last clone ends the servers
//! at once, without waiting.
//!
//! # Errors
//!
//! - [`Fault`]: one server, file or tool cannot be used, or not as meant. It never stops the others.
//! - [`OpenError`]: a server that the configuration calls `required` is missing.
//! - [`CallError`]: a call has no result. Its [`ErrorKind`] says whether the call may have been carried out, and
//!   [`CallError::for_model`] is a message that a model can act on.
//! - A tool that reports its own failure has a [`CallResult`] with `is_error`.
//!
//! # Cargo features
//!
//! | feature | brings | default |
//! |---|---|---|
//! | `files` | configuration files: finding, reading, editing (JSON, YAML, TOML) | yes |
//! | `http` | servers at a URL: streamable HTTP, HTTP+SSE, TLS | yes |
//! | `present` | definitions for providers, gateways, prompts, reading replies | yes |
//! | `schemars` | [`LocalTool::new`], with the schema of a Rust type | yes |
//! | `tokens` | `tokens::count`, with a table of two megabytes | no |
//!
//! Kitbag switches on `serde_json/preserve_order` and `serde_json/raw_value`. Cargo features hold for the whole program, so
//! `serde_json::Map` keeps insertion order everywhere in it: definitions must reach a model in the order their server wrote
//! them.
//!
//! # Tracing
//!
//! | span | level | fields |
//! |---|---|---|
//! | `mcp.open` | info | `server`, `outcome` (`ready`, or the class of the reason) |
//! | `mcp.list` | debug | `server`, `outcome` (`ok` or `failed`), `tools` |
//! | `mcp.call` | info | `call`, `user`, `server`, `tool`, `outcome` (`ok`, or the kind of the error) |
//!
//! Each call ends with one event, target `kitbag::call`, level info: `call`, `user`, `agent`, `server`, `tool`, `outcome`,
//! `took_ms`, `request_bytes`, `result_bytes`. `call` is its [`CallId`](offered::CallId), which is in its row of the audit log, too.
//!
//! No span or event has arguments or results.
//!
//! # Examples
//!
//! In `crates/kitbag/examples`: `ten_lines`, `agent_loop` (OpenAI, Anthropic, Gemini), `many_users`, `local_tools`, and
//! `unit_test` (an rmcp server inside the test).

#![cfg_attr(
    not(all(feature = "files", feature = "http", feature = "present")),
    expect(dead_code, reason = "smaller builds leave out who needs it")
)]

mod code;
pub mod connect;
mod discover;
mod env;
mod execute;
pub mod guard;
mod held;
mod kit;
mod local;
mod pins;
mod registry;
mod roster;
mod setup;
pub mod store;
#[cfg(feature = "tokens")]
pub mod tokens;
mod watch;
mod world;

/// How many inputs generated tests try; the full size is chosen when the tests are built.
#[cfg(test)]
pub(crate) const GENERATED: usize =
    if option_env!("KITBAG_FULL_TESTS").is_some() { 1_000_000 } else { 100_000 };

pub use connect::{
    Answer, LinkState, Notification, Progress, ProtocolVersion, Question, QuestionKind, Reason, Responder,
    in_process,
};
pub use env::Env;
#[cfg(feature = "present")]
pub use execute::IntentOutcome;
pub use execute::{
    ApprovalAnswer, ApprovalRequest, Approver, CallError, CallInfo, CallOptions, CallRecord, CallResult,
    ContentBlock, Hook, HookAction, OutgoingCall, Repair, ResultSize, ToolCall,
};
pub use kit::{ApplyError, Kitbag, OpenError, OpenOptions};
pub use local::{IntoToolOutput, LocalTool, ToolContext, ToolOutput};
pub use setup::{DiscoverOptions, Setup, SetupError};
pub use world::ServerStatus;

pub use kitbag_core::catalog::Tool;
pub use kitbag_core::model::{Activity, AgentRules, Mode};
#[cfg(feature = "present")]
pub use kitbag_core::present::native::Provider;
#[cfg(feature = "present")]
pub use kitbag_core::present::{Intent, ModelRequest, PresentOptions, Presentation};
pub use kitbag_core::shape::{Authorize, Decision, Rule, RuleError, Shaper, Verdict, View, ViewTool};
pub use kitbag_core::{
    ErrorKind, Fault, FaultKind, InvalidName, Limits, Secret, ServerName, ServerSpec, Severity, ShownName,
    ToolName, Transport, UserId,
};

pub use futures_util::future::BoxFuture;
#[doc(no_inline)]
pub use kitbag_core;
pub use tokio_util::sync::CancellationToken;

/// Rules that come with Kitbag: filter, rename, describe, tag and change the arguments of tools.
pub mod rules {
    pub use crate::kit::UnknownAgent;
    pub use kitbag_core::shape::{
        AllowAll, ArgumentChange, ArgumentChanges, Categorize, Describe, EditSchema, Filter, KeepIf, MarkAs,
        Only, Order, ProviderOptions, Rename, Tag, UseNameForm, WithExamples,
    };
}

/// What servers offer beside tools: resources, prompts, completion, and what belongs to asking for them.
pub mod offered {
    pub use crate::connect::LogLevel;
    pub use crate::execute::CallId;
    pub use crate::kit::{
        CompletionReference, Prompt, PromptArgument, PromptMessage, Resource, ResourceContents,
        ResourceTemplate, ResourceUpdates, ServerResult,
    };
}

/// What a [`ServerSpec`] is made of: a program with its arguments and variables, or an address with its headers.
pub mod spec {
    pub use kitbag_core::model::{Auth, Endpoint, FallbackServer, Program, ServerTarget, Template};
}

/// Kitbag's own files and those of other programs: where they are, and changing them without losing anything.
pub mod files {
    pub use crate::discover::{
        FolderOwner, Folders, HostFile, ReferenceValues, host_files, project_files, project_folders,
        read_file, read_folder, user_folders,
    };
    pub use crate::registry::{FileError, SecretStore, TrustEntry, TrustStore, write};
    #[cfg(feature = "files")]
    pub use crate::registry::{Registry, RegistryError, export_into};
}

/// Approving calls in another process than the one that makes them, and the definitions that tools are held to.
pub mod approvals {
    pub use crate::execute::AskElsewhere;
    pub use crate::pins::{PinStatus, PinnedTool};
}

/// What the command line of this workspace needs beyond the API. It may change at any time.
#[doc(hidden)]
pub mod cli {
    pub use crate::connect::how_to_get;
    pub use crate::execute::READ_RESULT;
    pub use crate::held::{HeldName, HeldNames, NamesFiles};
    pub use crate::kit::{absent, could_have, speaks_of, unique_uri};
    #[cfg(feature = "schemars")]
    pub use crate::local::demo;
    pub use crate::setup::{Fallbacks, HeldSettings, known_hosts};
    pub use crate::world::log_file;
}
