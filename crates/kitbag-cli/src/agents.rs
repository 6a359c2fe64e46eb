//! What `run` and `chat` share: which agent is meant, which model drives it, and its conversation.

use kitbag::{Env, Kitbag, Mode, OpenOptions, Setup};
use kitbag_agent::{
    Agent, Conversation, ConversationId, Conversations, HttpModel, Memory, ModelChoice, TextAgent, choose,
};
use kitbag_core::model::{AgentKind, AgentRun};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::live;

/// What is said of models in the help of both commands.
pub(crate) const MODELS: &str = "\
The model is <provider>/<name>, such as openai/gpt-5-mini, openai-responses/…, anthropic/…, gemini/… or ollama/qwen3.
Without --model it is KITBAG_MODEL, \"model\" of the agent in kitbag.toml, or that of whichever is set:
  OPENAI_API_KEY (OPENAI_MODEL, OPENAI_BASE_URL), ANTHROPIC_API_KEY, GEMINI_API_KEY (GEMINI_MODEL),
  OLLAMA_MODEL (OLLAMA_BASE_URL); any OpenAI-compatible server works by OPENAI_BASE_URL and OPENAI_MODEL.";

/// Flags of both commands.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The model to use, as <provider>/<name>
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Stop after this many replies of the model to one message
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_steps: Option<usize>,
}

/// The agent that is meant: its kind, and what the files say about it.
pub(crate) struct Meant {
    kind: AgentKind,
    name: Option<String>,
    run: AgentRun,
}

/// An agent with all that it needs, and the setup to open.
pub(crate) struct Prepared {
    pub(crate) setup: Setup,
    pub(crate) model: HttpModel,
    meant: Meant,
    max_steps: Option<usize>,
    memory: Memory,
}

/// Everything the flags ask for. No server is started before it is known that there is a model.
pub(crate) fn prepare(context: &mut Context, args: &AgentArgs, link: &LinkArgs) -> Result<Prepared, Failure> {
    // A name that needs no entry is taken out of the flags while they are checked.
    let asked = context.global.agent.take();
    let built_in = asked.as_deref().map_or(Some(AgentKind::Chat), AgentKind::parse);
    if built_in.is_none() {
        context.global.agent = asked.clone();
    }
    let setup = link_args::setup_in_use(context, link)?;
    let run = asked.as_deref().map(|name| setup.agent_run(name)).unwrap_or_default();
    let choice = ModelChoice { flag: args.model.clone(), agent: run.model.clone() };
    let model = choose(&choice, setup.env(), &setup.limits)?;
    let memory = memory(setup.env())?;
    let meant = Meant { kind: run.kind.or(built_in).unwrap_or_default(), name: asked, run };
    Ok(Prepared { setup, model, meant, max_steps: args.max_steps, memory })
}

impl Prepared {
    /// How its servers are opened.
    pub(crate) fn options(&self, context: &Context) -> Result<OpenOptions, Failure> {
        let (wait, local) = (context.global.wait, live::demo(context, &self.setup));
        Ok(OpenOptions { wait, local, ..link_args::options(context, &self.setup)? })
    }

    /// Where the conversations of its user are.
    pub(crate) fn conversations(&self) -> Conversations {
        Conversations::of(&self.setup.user, &self.setup.folders.state, &self.setup.limits)
    }

    /// What must be known of it once the setup is given away.
    pub(crate) fn into_parts(self) -> (Setup, Driver) {
        let Self { setup, model, meant, max_steps, memory } = self;
        (setup, Driver { model, meant, max_steps, memory })
    }
}

/// What makes an agent of a kit.
pub(crate) struct Driver {
    model: HttpModel,
    meant: Meant,
    max_steps: Option<usize>,
    memory: Memory,
}

impl Driver {
    /// Of what kind it is: an agent whose tools are shown as text calls them by text.
    fn kind(&self, kit: &Kitbag) -> AgentKind {
        let rules = self.meant.name.as_ref().and_then(|name| kit.agent(name).ok());
        let is_text = rules.is_some_and(|rules| rules.mode == Some(Mode::Text));
        if is_text && self.meant.kind != AgentKind::Constrained { AgentKind::Text } else { self.meant.kind }
    }

    /// The agent, where it calls tools by text.
    pub(crate) fn text_agent(&self, kit: &Kitbag) -> Option<TextAgent> {
        let mut agent = match self.kind(kit) {
            AgentKind::Text => TextAgent::new(self.model.clone(), kit.clone()),
            AgentKind::Constrained => TextAgent::constrained(self.model.clone(), kit.clone()),
            AgentKind::Chat | AgentKind::Autonomous => return None,
        };
        if let Some(rules) = self.meant.name.as_ref().and_then(|name| kit.agent(name).ok()) {
            agent = agent.rules(rules);
        }
        if let Some(instruction) = &self.meant.run.instruction {
            agent = agent.system(instruction);
        }
        if let Some(steps) = self.max_steps.or(self.meant.run.max_steps) {
            agent = agent.max_thoughts(steps);
        }
        Some(agent)
    }

    pub(crate) fn agent(self, kit: &Kitbag, conversation: Option<Conversation>) -> Result<Agent, Failure> {
        let agent = match self.kind(kit) {
            AgentKind::Chat => Agent::chat(self.model, kit.clone()),
            AgentKind::Autonomous => Agent::autonomous(self.model, kit.clone()),
            AgentKind::Text | AgentKind::Constrained => {
                let message =
                    "an agent that calls tools by text takes one message, and keeps no conversation";
                return Err(Failure::new(Exit::Usage, message).hint("kitbag run --agent text \"…\""));
            }
        };
        let mut agent = agent.memory(self.memory);
        // Where files say something about an agent of this name, that holds.
        if let Some(rules) = self.meant.name.and_then(|name| kit.agent(&name).ok()) {
            agent = agent.rules(rules);
        }
        if let Some(instruction) = self.meant.run.instruction {
            agent = agent.instruction(instruction);
        }
        if let Some(steps) = self.max_steps.or(self.meant.run.max_steps) {
            agent = agent.max_steps(steps);
        }
        Ok(match conversation {
            Some(conversation) => agent.conversation(conversation),
            None => agent,
        })
    }
}

/// A conversation by its id, or a new one that is kept.
pub(crate) fn conversation(all: &Conversations, asked: &str) -> Result<Conversation, Failure> {
    if asked == "new" {
        return Ok(all.create()?);
    }
    let id =
        ConversationId::parse(asked).map_err(|invalid| Failure::new(Exit::Usage, invalid.to_string()))?;
    Ok(all.resume(&id)?)
}

/// How much of a conversation the model is sent, by the variable for it.
fn memory(env: &Env) -> Result<Memory, Failure> {
    let Some(text) = env.filled("MODEL_MEMORY_LIMIT") else { return Ok(Memory::All) };
    text.trim().parse().map(Memory::Last).map_err(|_| {
        Failure::new(Exit::Config, format!("MODEL_MEMORY_LIMIT is not a number of messages: {text:?}"))
            .hint("MODEL_MEMORY_LIMIT=20")
    })
}
