//! What an operator says about tools: of one server, for one agent, and how tools are shown at all.

use serde_json::{Map, Value};

use super::{Mode, Overrides};
use crate::names::NameForm;

/// What is said about one server's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerRules {
    /// How its tools are shown.
    pub mode: Option<Mode>,
    /// Which form of name its tools have.
    pub names: Option<NameForm>,
    /// The heading its tools stand under.
    pub category: Option<String>,
    /// Put before its tools' descriptions.
    pub tag: Option<String>,
    /// Globs: tools that may be retried.
    pub idempotent: Vec<String>,
    /// Globs: tools that change nothing.
    pub read_only: Vec<String>,
    /// Rules: tools that need a person's approval.
    pub approve: Vec<String>,
    /// What its tools may do to the world: read, write, destructive, open.
    pub risk: Vec<String>,
    /// What is said about single tools, by the server's own names, in the order written.
    pub tools: Vec<(String, ToolRules)>,
    /// Why the server offers no tool at all: a restriction of it that cannot be read, with its place.
    pub closed: Option<String>,
}

impl ServerRules {
    /// Takes over what a later layer says; what it does not mention stays.
    pub(crate) fn apply(&mut self, over: &Self) {
        self.mode = over.mode.or(self.mode);
        self.names = over.names.or(self.names);
        self.category = over.category.clone().or(self.category.take());
        self.tag = over.tag.clone().or(self.tag.take());
        for (list, other) in [
            (&mut self.idempotent, &over.idempotent),
            (&mut self.read_only, &over.read_only),
            (&mut self.risk, &over.risk),
        ] {
            if !other.is_empty() {
                list.clone_from(other);
            }
        }
        // What one file wants a person asked about, no other lets through unasked.
        self.approve.extend_from_slice(&over.approve);
        merge(&mut self.tools, &over.tools, ToolRules::apply);
        // No later layer opens again what an earlier one may have meant to keep away.
        self.closed = self.closed.take().or_else(|| over.closed.clone());
    }

    /// Whether any of it keeps something away, or wants a person asked.
    fn restricts(&self) -> bool {
        let of_tool = |(_, rules): &(String, ToolRules)| {
            rules.closed.is_some() || rules.args.iter().any(|(_, arg)| arg.hide || arg.pin.is_some())
        };
        self.closed.is_some() || !self.approve.is_empty() || self.tools.iter().any(of_tool)
    }
}

impl Overrides {
    /// Whether any of it keeps something away, or wants a person asked.
    pub fn restricts(&self) -> bool {
        let is_switch = self.enabled == Some(false) || self.per_user == Some(true);
        is_switch || self.include.is_some() || self.exclude.is_some() || self.rules.restricts()
    }
}

/// Takes over what is said under each name; names that are known are merged, others added.
fn merge<T: Clone>(known: &mut Vec<(String, T)>, over: &[(String, T)], apply: fn(&mut T, &T)) {
    for (name, rules) in over {
        match known.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => apply(known, rules),
            None => known.push((name.clone(), rules.clone())),
        }
    }
}

/// What is said about one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// What the model calls it.
    pub name: Option<String>,
    /// What the model reads about it.
    pub description: Option<String>,
    /// The heading it stands under.
    pub category: Option<String>,
    /// What it may do to the world: read, write, destructive, open.
    pub risk: Vec<String>,
    /// Changes to single arguments, in the order written.
    pub args: Vec<(String, ArgRules)>,
    /// Arguments to show as examples.
    pub examples: Vec<Value>,
    /// Options for one provider's definition, by provider.
    pub options: Map<String, Value>,
    /// Why the tool is withheld: a restriction of it that cannot be read, with its place.
    pub closed: Option<String>,
}

impl ToolRules {
    fn apply(&mut self, over: &Self) {
        self.name = over.name.clone().or(self.name.take());
        self.description = over.description.clone().or(self.description.take());
        self.category = over.category.clone().or(self.category.take());
        if !over.risk.is_empty() {
            self.risk.clone_from(&over.risk);
        }
        merge(&mut self.args, &over.args, ArgRules::apply);
        if !over.examples.is_empty() {
            self.examples.clone_from(&over.examples);
        }
        self.options.extend(over.options.clone());
        self.closed = self.closed.take().or_else(|| over.closed.clone());
    }
}

/// What is said about one argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgRules {
    /// Always this value; the model does not see the argument.
    pub pin: Option<Value>,
    /// This value unless the model says otherwise.
    pub default: Option<Value>,
    /// What the model calls it.
    pub rename: Option<String>,
    /// What the model reads about it.
    pub describe: Option<String>,
    /// Whether the model does not see it.
    pub hide: bool,
}

impl ArgRules {
    fn apply(&mut self, over: &Self) {
        self.pin = over.pin.clone().or(self.pin.take());
        self.default = over.default.clone().or(self.default.take());
        self.rename = over.rename.clone().or(self.rename.take());
        self.describe = over.describe.clone().or(self.describe.take());
        self.hide |= over.hide;
    }
}

/// Who wins when a tool of a server and a local one want the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clash {
    /// Both stay: the server's tool gets its full name.
    #[default]
    Prefix,
    /// The server's tool takes the place of the local one.
    Mcp,
    /// The local one takes the place of the server's tool.
    Local,
    /// Neither: it is an error.
    Error,
}

impl Clash {
    /// By its word in `kitbag.toml`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "prefix" => Some(Self::Prefix),
            "mcp" => Some(Self::Mcp),
            "local" => Some(Self::Local),
            "error" => Some(Self::Error),
            _ => None,
        }
    }
}

/// What drives one agent of `kitbag.toml`, as far as the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRun {
    /// Its model, as `<provider>/<name>`.
    pub model: Option<String>,
    /// What it is told to be and to do.
    pub instruction: Option<String>,
    /// Replies of the model in one run.
    pub max_steps: Option<usize>,
    /// How its model is driven.
    pub kind: Option<AgentKind>,
}

/// How the model of an agent is driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentKind {
    /// It talks with a person.
    #[default]
    Chat,
    /// It works on a task until it is done.
    Autonomous,
    /// It calls tools by lines of text.
    Text,
    /// Its replies are forced into calls of tools, or an answer.
    Constrained,
}

impl AgentKind {
    /// The words for them, in their order.
    pub const WORDS: [&str; 4] = ["chat", "autonomous", "text", "constrained"];

    /// By its word in `kitbag.toml`, which is also the name of an agent that needs no entry there.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "chat" => Some(Self::Chat),
            "autonomous" => Some(Self::Autonomous),
            "text" => Some(Self::Text),
            "constrained" => Some(Self::Constrained),
            _ => None,
        }
    }
}

/// The rules of one agent: which servers and tools it sees, and how they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AgentRules {
    /// By which name files describe it, if they do: what they say by then holds as well, so that rules somebody
    /// keeps never show more than the files.
    pub name: Option<String>,
    /// Globs over server names; none means all.
    pub servers: Vec<String>,
    /// Rules for what it may see, such as globs over `server/tool`; none means all.
    pub allow: Vec<String>,
    /// Rules for what it may not see.
    pub deny: Vec<String>,
    /// Rules for what it may call only after a person's approval.
    pub approve: Vec<String>,
    /// Who wins when two tools want one name.
    pub clash: Clash,
    /// Which form of name tools have, if the agent has its own.
    pub names: Option<NameForm>,
    /// The most characters a name may have, if that is less than every provider takes: what is left beside what the
    /// program of the agent puts before it. Longer names are cut, each with a hash of its own.
    pub longest: Option<usize>,
    /// How tools are shown to it, if it has its own way.
    pub mode: Option<Mode>,
    /// Why it sees no tool of any server: a restriction of it that cannot be read, with its place. Local tools
    /// stay.
    pub closed: Option<String>,
}
