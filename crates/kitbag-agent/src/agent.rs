//! An agent: a model, the tools of a kit, and a conversation between them.

use std::fmt;
use std::sync::Arc;

use kitbag::{AgentRules, Kitbag, Limits, UserId};
use kitbag_core::model::Clash;
use kitbag_core::names::NameForm;

use crate::conversation::{Conversation, ConversationError, Memory};
use crate::model::{Model, ModelError};

mod calls;
mod event;
mod prompt;
mod repeats;
mod report;
mod run;
mod state;

pub use event::{AgentEvent, ToolOutcome};
pub use report::{Ended, Execution, Report};
pub use run::Run;
pub use state::{AgentState, ConnectionState};

/// What an agent is for: it decides what its system prompt says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Talks with a person.
    Chat,
    /// Works on a task until it is done.
    Autonomous,
}

/// Why a run came to nothing. The conversation is kept as it was, and can go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What was said could not be written down.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// The agent was not started, or was ended.
    #[error("the agent is not running: {why}")]
    NotRunning {
        /// Why.
        why: String,
    },
    /// What was to be done after a call failed.
    #[error("what follows a call of a tool failed: {why}")]
    Thought {
        /// Why.
        why: String,
    },
    /// Two tools want one name, and the agent's rules make that an error.
    #[error("{0}")]
    Clash(#[from] kitbag_core::shape::ClashError),
}

/// An agent: a model, the tools of a kit, and a conversation.
pub struct Agent {
    kit: Kitbag,
    model: Arc<dyn Model>,
    user: UserId,
    rules: AgentRules,
    purpose: Purpose,
    instruction: String,
    memory: Memory,
    steps: usize,
    limits: Arc<Limits>,
    conversation: Conversation,
}

impl Agent {
    /// An agent that talks with a person: a tool of a server takes the place of one of the program itself that has the
    /// same name.
    pub fn chat(model: impl Model, kit: Kitbag) -> Self {
        let rules = AgentRules { clash: Clash::Mcp, names: Some(NameForm::Bare), ..AgentRules::default() };
        Self { rules, ..Self::new(Arc::new(model), kit, Purpose::Chat) }
    }

    /// An agent that works on a task until it is done: its system prompt is the instruction, a blank line, and the
    /// description of its tools.
    pub fn autonomous(model: impl Model, kit: Kitbag) -> Self {
        Self::new(Arc::new(model), kit, Purpose::Autonomous)
    }

    fn new(model: Arc<dyn Model>, kit: Kitbag, purpose: Purpose) -> Self {
        let limits = kit.limits();
        Self {
            user: kit.user().clone(),
            conversation: Conversation::new(limits.conversation),
            rules: AgentRules::default(),
            instruction: prompt::usual(purpose).to_owned(),
            memory: Memory::default(),
            steps: limits.agent_steps,
            kit,
            model,
            purpose,
            limits,
        }
    }

    /// What the agent is told to be and to do, in place of the usual sentence.
    #[must_use]
    pub fn instruction(self, text: impl Into<String>) -> Self {
        Self { instruction: text.into(), ..self }
    }

    /// What it sees, as [`Kitbag::agent`] gives it for an agent of `kitbag.toml`.
    #[must_use]
    pub fn rules(self, rules: AgentRules) -> Self {
        Self { rules, ..self }
    }

    /// For whom it works, where that is not whoever the kit was opened for.
    #[must_use]
    pub fn user(self, user: UserId) -> Self {
        Self { user, ..self }
    }

    /// How much of the conversation the model is sent.
    #[must_use]
    pub fn memory(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// Replies of the model in one run, at most; at least one, and no more than the limit `agent_steps`.
    #[must_use]
    pub fn max_steps(self, steps: usize) -> Self {
        Self { steps: steps.clamp(1, self.limits.agent_steps.max(1)), ..self }
    }

    /// The conversation it goes on with: one of [`Conversations`](crate::Conversations), so that it is kept.
    #[must_use]
    pub fn conversation(self, conversation: Conversation) -> Self {
        Self { conversation, ..self }
    }

    /// Says something. Nothing happens until the run is read; dropping it cancels it.
    pub fn send(&mut self, text: impl Into<String>) -> Run<'_> {
        Run::new(self, text.into())
    }

    /// Forgets what was said.
    pub fn clear(&mut self) -> Result<(), ConversationError> {
        self.conversation.clear()
    }

    /// What was said so far.
    pub fn talk(&self) -> &Conversation {
        &self.conversation
    }

    /// Its model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// From now on another model; the conversation stays.
    pub fn use_model(&mut self, model: impl Model) {
        self.model = Arc::new(model);
    }

    /// The kit its tools come from. It may be changed meanwhile: what is new is seen from the next run on.
    pub fn kit(&self) -> &Kitbag {
        &self.kit
    }

    /// The tools it has now.
    pub fn view(&self) -> Result<Arc<kitbag::View>, AgentError> {
        Ok(self.kit.view(&self.user, &self.rules)?)
    }

    /// Whether it has the tools of servers.
    pub fn state(&self) -> AgentState {
        AgentState::of(&self.kit, self.view().ok().as_deref())
    }

    /// How its servers are, all of them together.
    pub fn connection(&self) -> ConnectionState {
        ConnectionState::of(&self.kit)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", self.model.id())
            .field("user", &self.user)
            .field("purpose", &self.purpose)
            .field("conversation", self.conversation.id())
            .finish_non_exhaustive()
    }
}
