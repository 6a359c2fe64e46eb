//! The tools of one run: the agent's own first, then those of the kit. What is listed, called and forced into a reply comes
//! from the same views.

use std::sync::Arc;

use kitbag::cli::READ_RESULT;
use kitbag::{
    AgentRules, CallOptions, Intent, IntentOutcome, Kitbag, Limits, Mode, OpenOptions, Presentation,
    Provider, ServerName, Setup, View,
};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::present::AgentServers;
use kitbag_core::present::native::Strict;
use kitbag_core::present::text::{CallsPerReply, WrittenCall};

use super::memory::{self, CREATE, LOOKUP};
use super::{Protocol, Servers, TextAgent};
use crate::agent::AgentError;
use crate::conversation::Masks;

/// Tools of one kit.
pub(super) struct Side {
    kit: Kitbag,
    /// What can be called.
    view: Arc<View>,
    /// What is listed of it, besides what reads on in long results.
    listed: Arc<View>,
    /// How it is called by lines.
    lines: Arc<Presentation>,
    /// How it is called by JSON.
    pub(super) forced: Option<Arc<Presentation>>,
}

/// The tools of one run.
pub(super) struct Belt {
    own: Option<Side>,
    shared: Side,
    pub(super) masks: Masks,
}

/// A call that is wanted, or what is wrong with it.
pub(super) struct Wanted<'a> {
    side: &'a Side,
    /// As the model called it.
    pub(super) tool: String,
    pub(super) intent: Intent,
    /// What the model should know beside the result.
    pub(super) notes: Vec<String>,
}

impl TextAgent {
    /// Its tools as they are now. Declared servers that are being started are waited for, as long as any agent waits.
    pub(super) async fn belt(&self) -> Result<Belt, AgentError> {
        let rules = self.rules_in_force();
        let own = match self.own_kit().await {
            // What reads on in long results stands among the tools of the other kit.
            Some(kit) => {
                let rules = AgentRules { servers: Vec::new(), ..rules.clone() };
                Some(self.side(kit, &rules, vec![READ_RESULT.to_owned()])?)
            }
            None => None,
        };
        match &self.servers {
            Servers::ByRules => self.kit.wait(self.limits.wait_agent).await,
            Servers::Declared(names) => {
                let names: Vec<ServerName> =
                    names.iter().filter_map(|name| ServerName::parse(name).ok()).collect();
                self.kit.wait_for_servers(&names, self.limits.wait_agent).await;
            }
        }
        let taken: Vec<String> = own.iter().flat_map(|side| side.names()).collect();
        let shared = self.side(&self.kit, &rules, taken)?;
        let masks = Masks::new(self.kit.links().iter().map(|link| self.kit.redactor(link.name())));
        Ok(Belt { own, shared, masks })
    }

    pub(super) fn rules_in_force(&self) -> AgentRules {
        let mut rules = self.rules.clone();
        if let Servers::Declared(names) = &self.servers {
            rules.servers = names.iter().map(|name| exactly(name)).collect();
            // An empty list would mean all of them, and no server is called so.
            if rules.servers.is_empty() {
                rules.servers.push(String::new());
            }
        }
        rules
    }

    /// A kit of its own tools alone; none where it has none. It keeps long results where the other one does.
    async fn own_kit(&self) -> Option<&Kitbag> {
        let remembered = self.memory.iter().flat_map(memory::tools);
        if self.tools.is_empty() && self.memory.is_none() {
            return None;
        }
        let start = || async {
            let mut setup =
                Setup::from_specs(self.kit.setup().env().clone(), Vec::<kitbag::ServerSpec>::new());
            setup.user = self.user.clone();
            let local = self.tools.iter().cloned().chain(remembered).collect();
            let limits = Some(Limits::clone(&self.limits));
            Kitbag::start(
                setup,
                OpenOptions { local, limits, only: Some(Vec::new()), ..OpenOptions::default() },
            )
        };
        Some(self.own.get_or_init(start).await)
    }

    /// The tools of one kit but those whose names are taken.
    fn side(&self, kit: &Kitbag, rules: &AgentRules, taken: Vec<String>) -> Result<Side, AgentError> {
        let (view, provider) = (kit.view(&self.user, rules)?, self.model.provider());
        let free = Arc::new(view.only(move |shown| taken.iter().all(|name| name != shown.name.as_str())));
        // A long result says by itself how it is read on.
        let listed = Arc::new(free.only(|shown| shown.name.as_str() != READ_RESULT));
        let lines = AgentRules { mode: Some(Mode::Text), ..rules.clone() };
        let options = kit.present_options(&lines, provider);
        // Made of all of them: a part of a view does not know which servers are not the agent's.
        let lines = match rules.servers.as_slice() {
            // Of an agent without servers a kit tells nothing, not even whose a tool is that it asks for.
            [none] if none.is_empty() => {
                let scene =
                    AgentServers { local: options.markdown.local.as_ref(), ..AgentServers::default() };
                Arc::new(Presentation::new(&view, &options, &scene))
            }
            _ => kit.present(&view, &options),
        };
        let forced = matches!(self.protocol, Protocol::Forced(_)).then(|| {
            let native = AgentRules { mode: Some(Mode::Native), ..rules.clone() };
            let form = if provider == Provider::Anthropic { provider } else { Provider::OpenAiChat };
            let mut options = kit.present_options(&native, form);
            options.native.strict = Strict::WithinBudget;
            kit.present(&free, &options)
        });
        Ok(Side { kit: kit.clone(), view, listed, lines, forced })
    }
}

/// A pattern that fits this name alone.
fn exactly(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => pattern.extend(['[', c, ']']),
            c => pattern.push(c),
        }
    }
    pattern
}

impl Side {
    fn names(&self) -> Vec<String> {
        self.listed.tools().iter().map(|shown| shown.name.to_string()).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.listed.tools().iter().any(|shown| shown.name.as_str() == name)
    }

    fn list(&self, keep: impl Fn(&str) -> bool + Send + Sync + 'static) -> String {
        self.lines.text_listing(&self.listed.only(move |shown| keep(shown.name.as_str())))
    }
}

impl Belt {
    fn sides(&self) -> impl Iterator<Item = &Side> {
        self.own.iter().chain([&self.shared])
    }

    pub(super) fn has_tools(&self) -> bool {
        self.sides().any(|side| !side.listed.tools().is_empty())
    }

    /// The tools, a line each, and a line for each declared server that has none to offer. Those of a memory may stand
    /// elsewhere in the prompt.
    pub(super) fn listing(&self, is_memory_elsewhere: bool) -> String {
        let is_listed = move |name: &str| !is_memory_elsewhere || ![LOOKUP, CREATE].contains(&name);
        let own = self.own.as_ref().map(|side| side.list(is_listed)).unwrap_or_default();
        let shared = self.shared.lines.text_listing(&self.shared.listed);
        [own, shared].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The line of one of its own tools.
    pub(super) fn line(&self, name: &'static str) -> String {
        self.own.as_ref().map(|side| side.list(move |own| own == name)).unwrap_or_default()
    }

    /// How tools are called by lines.
    pub(super) fn instruction(&self) -> String {
        let of = |side: &Side| side.lines.text_instruction(&side.listed);
        self.sides().map(of).find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// What is forced into replies.
    pub(super) fn forced(&self) -> impl Iterator<Item = &Presentation> {
        self.sides().filter_map(|side| side.forced.as_deref())
    }

    /// A call written as a line.
    pub(super) fn written(&self, call: &WrittenCall) -> Wanted<'_> {
        let side = self.side_of(&call.name);
        let decoded = side.lines.decode_text(&side.view, &call.text, CallsPerReply::First);
        let intent = decoded.intents.into_iter().rev().find(|intent| !matches!(intent, Intent::Say(_)));
        let intent = intent.unwrap_or(Intent::Malformed { repair: "the call could not be read".to_owned() });
        let intent = self.with_own_names(&call.name, side, intent);
        Wanted { side, tool: call.name.clone(), intent, notes: decoded.notes }
    }

    /// A call in JSON, as it stands in a reply of the API for which the tools were compiled.
    pub(super) fn forced_call(&self, tool: &str, reply: &str) -> Wanted<'_> {
        let side = self.side_of(tool);
        let shown = side.forced.as_ref().unwrap_or(&side.lines);
        let asked = shown.decode_str(&side.view, reply).unwrap_or_default();
        let intent =
            asked.into_iter().map(|request| request.intent).find(|intent| !matches!(intent, Intent::Say(_)));
        let intent = intent.unwrap_or(Intent::Malformed { repair: "the call could not be read".to_owned() });
        Wanted { side, tool: tool.to_owned(), intent, notes: Vec::new() }
    }

    /// Whose tool a name means: by its exact name its own, then any of the kit's, then its own by a similar one.
    fn side_of(&self, name: &str) -> &Side {
        let Some(own) = &self.own else { return &self.shared };
        let is_own = own.has(name)
            || matches!(self.shared.view.find(name), NameMatch::None { .. })
                && matches!(own.listed.find(name), NameMatch::One(_));
        if is_own { own } else { &self.shared }
    }

    /// Where no tool is meant, the names of its own stand beside those of the kit.
    fn with_own_names(&self, name: &str, side: &Side, intent: Intent) -> Intent {
        let is_missing =
            std::ptr::eq(side, &self.shared) && matches!(side.view.find(name), NameMatch::None { .. });
        match (intent, &self.own) {
            (Intent::Malformed { repair }, Some(own)) if is_missing => Intent::Malformed {
                repair: format!("{repair} Tools of the program: {}.", own.names().join(", ")),
            },
            (intent, _) => intent,
        }
    }
}

impl Wanted<'_> {
    /// Does it, or says why that cannot be done.
    pub(super) async fn carry_out(&self) -> IntentOutcome {
        self.side.kit.run(&self.side.view, &self.intent, &CallOptions::default()).await
    }
}
