//! Agents that have the tools of any MCP server, driven by any model.
//!
//! A [`Kitbag`](kitbag::Kitbag) has the tools, a [`Model`] decides, and an [`Agent`] is what goes on between them: it shows
//! the tools, asks the model, carries out what it wants, and tells it what came of that, until there is an answer.
//!
//! ```no_run
//! use kitbag::{Env, Kitbag, Limits, Setup};
//! use kitbag_agent::{Agent, AgentEvent, ModelChoice, choose};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
//! let model = choose(&ModelChoice::default(), &env, &Limits::default())?;
//! let (kit, _) = Kitbag::open(Setup::discover(&kitbag::DiscoverOptions { env, ..Default::default() })?).await?;
//! let mut agent = Agent::chat(model, kit);
//! let mut run = agent.send("What time is it in Tokyo?");
//! while let Some(event) = run.next().await {
//!     if let AgentEvent::Text(text) = event? {
//!         print!("{text}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Run::finish`] waits for the end and gives a [`Report`] of it. Dropping a [`Run`] cancels it: calls in flight are
//! cancelled at their servers, and the conversation goes on as if they had failed.
//!
//! Callers without a runtime use [`BlockingAgent`].

mod agent;
mod blocking;
mod conversation;
mod model;
mod program;
mod sampling;
mod text;

pub use agent::{
    Agent, AgentError, AgentEvent, AgentState, ConnectionState, Ended, Execution, Report, Run, ToolOutcome,
};
pub use blocking::{BlockingAgent, StartError};
pub use conversation::{
    ChatItem, Conversation, ConversationError, ConversationId, Conversations, InvalidId, KeptConversation,
    Memory, Transcript, TranscriptCall, TranscriptMessage, TranscriptResult,
};
pub use model::{
    Effort, HttpModel, Model, ModelAt, ModelChoice, ModelError, ModelEvent, ModelId, Prompt, Reply,
    ReplyOptions, ReplySchema, Said, Stop, Usage, Vendor, choose,
};
pub use program::{DeniedTool, ProgramAgent, ProgramEndpoint, ProgramError, ProgramKind, ProgramOptions};
pub use sampling::Sampling;
pub use text::{
    AgentMemory, FirstReply, NotedMemory, RetryHeat, Talk, TalkError, TalkMessage, TalkRole, TextAgent,
    TextOutcome, ToolRun,
};
