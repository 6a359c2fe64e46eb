//! An agent for models without tool calling: its tools stand in its prompt, it calls one by a line `TOOL: name arguments`,
//! and reads the result in the next message. Or, for small models, each reply is forced into the form of a permitted call
//! or an answer.
//!
//! It takes a conversation and gives another one back; the caller's own is never changed.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use kitbag::{AgentRules, BoxFuture, Kitbag, Limits, LocalTool, UserId};
use kitbag_core::model::Clash;
use kitbag_core::names::NameForm;
use kitbag_core::present::text::CallsPerReply;
use tokio::sync::OnceCell;

use crate::agent::{AgentState, ConnectionState, Report};
use crate::model::Model;

mod belt;
mod constrained;
mod heat;
mod memory;
mod once;
mod prompt;
mod talk;
mod work;

pub use heat::RetryHeat;
pub use memory::{AgentMemory, NotedMemory};
pub use once::ToolRun;
pub use talk::{Talk, TalkError, TalkMessage, TalkRole};

/// What is done after each call of a tool.
type Thought = dyn Fn(Talk) -> BoxFuture<'static, Result<(), String>> + Send + Sync;

/// How the model says what it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    /// By a line of text.
    Lines,
    /// By JSON that its API forces into a form.
    Forced(FirstReply),
}

/// Whether the first reply of a constrained agent may be an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstReply {
    /// It may call or answer.
    #[default]
    Free,
    /// It must call a tool.
    Call,
}

/// Which servers its tools come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Servers {
    /// Whatever its rules say.
    ByRules,
    /// These, in this order.
    Declared(Vec<String>),
}

/// An agent that calls tools by text.
///
/// ```no_run
/// # async fn example(model: kitbag_agent::HttpModel, kit: kitbag::Kitbag) -> Result<(), kitbag_agent::AgentError> {
/// use kitbag_agent::{Talk, TextAgent};
///
/// let agent = TextAgent::new(model, kit).servers(["weather"]).system("Be brief. {tool_instruction}\n{tools}");
/// let done = agent.run(&Talk::question("Will it rain in Oslo?")).await?;
/// println!("{}", done.last_response);
/// # Ok(())
/// # }
/// ```
pub struct TextAgent {
    model: Arc<dyn Model>,
    kit: Kitbag,
    user: UserId,
    rules: AgentRules,
    servers: Servers,
    tools: Vec<LocalTool>,
    memory: Option<Arc<dyn AgentMemory>>,
    system: String,
    metadata: String,
    thoughts: usize,
    heat: RetryHeat,
    protocol: Protocol,
    calls: CallsPerReply,
    max_tokens: Option<usize>,
    on_thought: Option<Arc<Thought>>,
    limits: Arc<Limits>,
    /// The tools of its own, in a kit without servers.
    own: OnceCell<Kitbag>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOutcome {
    /// The conversation with all that was said since: the calls, their results, and the last response.
    pub conversation: Talk,
    /// What the model said last, never a tool.
    pub last_response: String,
    /// How it was found.
    pub report: Report,
}

impl TextAgent {
    /// An agent whose model calls tools by lines `TOOL: name arguments`.
    pub fn new(model: impl Model, kit: Kitbag) -> Self {
        Self::with(Arc::new(model), kit, Protocol::Lines)
    }

    /// An agent whose model's replies are forced into the form of a permitted call, or of an answer: for small models,
    /// behind an API that can force a JSON Schema.
    pub fn constrained(model: impl Model, kit: Kitbag) -> Self {
        Self::with(Arc::new(model), kit, Protocol::Forced(FirstReply::Free))
    }

    fn with(model: Arc<dyn Model>, kit: Kitbag, protocol: Protocol) -> Self {
        let limits = kit.limits();
        Self {
            user: kit.user().clone(),
            rules: AgentRules { clash: Clash::Local, names: Some(NameForm::Bare), ..AgentRules::default() },
            servers: Servers::ByRules,
            tools: Vec::new(),
            memory: None,
            system: prompt::USUAL.to_owned(),
            metadata: String::new(),
            thoughts: limits.agent_thoughts,
            heat: RetryHeat::default(),
            calls: CallsPerReply::First,
            max_tokens: None,
            on_thought: None,
            own: OnceCell::new(),
            model,
            kit,
            protocol,
            limits,
        }
    }

    /// The servers it may use, by their exact names, in this order; of none, it has only tools of the program. They need
    /// not be there, nor be configured: the model is told which are not.
    #[must_use]
    pub fn servers<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        let mut declared: Vec<String> = Vec::new();
        for name in names.into_iter().map(Into::into) {
            if !declared.contains(&name) {
                declared.push(name);
            }
        }
        Self { servers: Servers::Declared(declared), ..self }
    }

    /// Tools of its own, besides those of the kit. One takes the place of any other tool of its name, which is then called
    /// by its full name.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = LocalTool>) -> Self {
        Self { tools: tools.into_iter().collect(), own: OnceCell::new(), ..self }
    }

    /// What it remembers beyond one conversation; it gets the tools `lookup_memory` and `create_memory`.
    #[must_use]
    pub fn memory(self, memory: Arc<dyn AgentMemory>) -> Self {
        Self { memory: Some(memory), own: OnceCell::new(), ..self }
    }

    /// Its system prompt. `{tools}`, `{tool_instruction}`, `{memory}`, `{lookup_memory}`, `{create_memory}`, `{metadata}`
    /// and `{provided_system}` (the system message of the conversation) are replaced; other braces stay as they are. After
    /// a prompt without any of them stands what the model must know of its tools.
    #[must_use]
    pub fn system(self, prompt: impl Into<String>) -> Self {
        Self { system: prompt.into(), ..self }
    }

    /// What stands for `{metadata}` in the prompt.
    #[must_use]
    pub fn metadata(self, text: impl Into<String>) -> Self {
        Self { metadata: text.into(), ..self }
    }

    /// Replies of the model in one run; at least one, and no more than the limit `agent_steps`. In the last one it can
    /// call nothing, and is told so before.
    #[must_use]
    pub fn max_thoughts(self, thoughts: usize) -> Self {
        Self { thoughts: thoughts.clamp(1, self.limits.agent_steps.max(1)), ..self }
    }

    /// What changes after calls that failed.
    #[must_use]
    pub fn heat(self, heat: RetryHeat) -> Self {
        Self { heat, ..self }
    }

    /// How many calls of one reply are made; the first, unless this says otherwise.
    #[must_use]
    pub fn calls_per_reply(self, calls: CallsPerReply) -> Self {
        Self { calls, ..self }
    }

    /// Tokens of each reply, at most.
    #[must_use]
    pub fn max_tokens(self, tokens: usize) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Whether the first reply may be an answer, for a constrained agent. Others cannot be held to it.
    #[must_use]
    pub fn first_reply(self, first: FirstReply) -> Self {
        let protocol = match self.protocol {
            Protocol::Forced(_) => Protocol::Forced(first),
            lines => lines,
        };
        Self { protocol, ..self }
    }

    /// What it sees of the kit, as [`Kitbag::agent`] gives it for an agent of `kitbag.toml`.
    #[must_use]
    pub fn rules(self, rules: AgentRules) -> Self {
        Self { rules, ..self }
    }

    /// For whom it works, where that is not whoever the kit was opened for.
    #[must_use]
    pub fn user(self, user: UserId) -> Self {
        Self { user, ..self }
    }

    /// What is done after each call of a tool, given the conversation with its result. An error ends the run.
    #[must_use]
    pub fn on_thought<F>(self, thought: impl Fn(Talk) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let thought = move |talk| Box::pin(thought(talk)) as BoxFuture<'static, _>;
        Self { on_thought: Some(Arc::new(thought)), ..self }
    }

    /// Whether it has the tools of servers.
    pub fn state(&self) -> AgentState {
        AgentState::of(&self.kit, self.kit.view(&self.user, &self.rules_in_force()).ok().as_deref())
    }

    /// How its servers are, all of them together.
    pub fn connection(&self) -> ConnectionState {
        ConnectionState::of(&self.kit)
    }

    /// Its model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// The kit its tools come from.
    pub fn kit(&self) -> &Kitbag {
        &self.kit
    }
}

impl fmt::Debug for TextAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextAgent")
            .field("model", self.model.id())
            .field("user", &self.user)
            .field("servers", &self.servers)
            .field("protocol", &self.protocol)
            .field("thoughts", &self.thoughts)
            .finish_non_exhaustive()
    }
}
