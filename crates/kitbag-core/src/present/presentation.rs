//! One view for one audience: definitions for its API and a text for its prompt, each server in the way that
//! suits it, and the way back from what the model answers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::gateway::{self, GatewayDefinition, GatewayServer};
use super::native::{self, CompileNote, Native, NativeRequest, Provider, Quarantined, Reversals, ToolAnswer};
use super::text::{self, DeclaredServer, DeclaredState, Toolbelt};
use super::{Intent, ModelRequest, markdown, signatures};
use crate::catalog::Tool;
use crate::model::Mode;
use crate::names::lookup::NameMatch;
use crate::names::{ServerName, ShownName};
use crate::shape::{View, ViewTool};

/// Options of a [`Presentation`]: the provider, and how tools are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentOptions {
    /// The API that takes definitions, and how they are written for it.
    pub native: NativeRequest,
    /// How tools are shown.
    pub mode: Mode,
    /// Servers whose tools are shown in another way.
    pub servers: BTreeMap<ServerName, Mode>,
    /// How the text in Markdown is written.
    pub markdown: markdown::MarkdownOptions,
}

impl PresentOptions {
    /// Whoever speaks to this provider and reads in this way.
    pub fn new(provider: Provider, mode: Mode) -> Self {
        let (servers, markdown) = (BTreeMap::new(), markdown::MarkdownOptions::default());
        Self { native: NativeRequest::new(provider), mode, servers, markdown }
    }

    /// Definitions for this provider's API.
    pub fn native(provider: Provider) -> Self {
        Self::new(provider, Mode::Native)
    }

    /// How the tools of a server are shown.
    pub fn mode_of(&self, server: &ServerName) -> Mode {
        match self.servers.get(server).copied().unwrap_or(self.mode) {
            Mode::Auto | Mode::Search => Mode::Native,
            mode => mode,
        }
    }

    /// How the program's own tools are shown: as all are, but that no server stands behind them whose gateway
    /// they could be called through.
    fn mode_of_local(&self, local: &ServerName) -> Mode {
        match self.mode_of(local) {
            Mode::Gateway => Mode::Native,
            mode => mode,
        }
    }
}

/// The servers an agent asks for, whatever is known of their tools.
#[derive(Clone, Debug, Default)]
pub struct AgentServers<'a> {
    /// Those that are configured, in the order asked for.
    pub servers: Vec<GatewayServer<'a>>,
    /// Names nobody configured a server under.
    pub unknown: Vec<&'a str>,
    /// Under which name the program's own tools stand in the view.
    pub local: Option<&'a ServerName>,
    /// The one of them that reads on in results. It is of no use by itself: it stands where models call tools,
    /// and no text is about it but that of the text protocol.
    pub reader: Option<&'a str>,
}

impl AgentServers<'_> {
    /// How a tool is shown to an audience.
    fn mode_of(&self, audience: &PresentOptions, tool: &Tool) -> Mode {
        let Some(local) = self.local.filter(|local| **local == tool.server) else {
            return audience.mode_of(&tool.server);
        };
        match audience.mode_of_local(local) {
            Mode::Markdown | Mode::Signatures if self.reader == Some(tool.name.as_str()) => Mode::Native,
            mode => mode,
        }
    }
}

/// The tools of a view in the form a model's API takes, and the way back from its replies.
#[derive(Clone, Debug, PartialEq)]
pub struct Presentation {
    /// Definitions as the provider takes them.
    pub tools: Value,
    /// What belongs into the prompt; empty when there is nothing to tell.
    pub prompt: String,
    /// The gateways among the definitions.
    pub gateways: Vec<GatewayDefinition>,
    /// Tools the provider would not take.
    pub quarantined: Vec<Quarantined>,
    /// What else is worth knowing.
    pub notes: Vec<CompileNote>,
    provider: Provider,
    back: Reversals,
    belt: Belt,
}

/// What the text protocol needs to know when a reply comes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Belt {
    local: Option<ServerName>,
    declared: Vec<(String, Stands)>,
    others: Vec<(String, String)>,
}

/// How it stands with a server, to be kept.
#[derive(Clone, Debug, PartialEq)]
enum Stands {
    Ready,
    Away(String),
    Unknown,
}

impl Presentation {
    /// Shows a view. Equal views and audiences give equal bytes.
    pub fn new(view: &View, audience: &PresentOptions, scene: &AgentServers<'_>) -> Self {
        let of = |mode: Mode| {
            let is_so = move |shown: &&ViewTool| scene.mode_of(audience, &shown.tool) == mode;
            view.tools().iter().map(|shown| &**shown).filter(is_so)
        };
        let is_a = |mode: Mode| move |server: &&GatewayServer<'_>| audience.mode_of(server.name) == mode;
        let with_gateway: Vec<GatewayServer<'_>> =
            scene.servers.iter().filter(is_a(Mode::Gateway)).copied().collect();
        let gateways = gateway::definitions(view, &with_gateway);
        let own = as_tools(&gateways, audience);
        let plain = of(Mode::Native).map(|shown| (&shown.name, &shown.tool));
        let all = plain.chain(own.iter().map(|(name, tool)| (name, tool)));
        let Native { tools, back, quarantined, mut notes } = native::compile_tools(all, &audience.native);
        if audience.servers.values().chain([&audience.mode]).any(|mode| *mode == Mode::Search) {
            let text = "tools cannot be searched for yet; they are shown as native ones".to_owned();
            notes.push(CompileNote { tool: None, text, hint: None });
        }
        // A call by a line is understood whatever text told of the tool; its own listing has only what no other
        // text tells of.
        let is_text = |mode: Mode| matches!(mode, Mode::Text | Mode::Markdown | Mode::Signatures);
        let belt = Belt::new(view, audience, scene, is_text);
        let listed = Belt::new(view, audience, scene, |mode| mode == Mode::Text);
        let markdown = markdown::of(of(Mode::Markdown), scene.local, &audience.markdown);
        let signatures = signatures::of(of(Mode::Signatures));
        let text = listed.with(view, |belt| joined([text::instruction(belt), text::listing(belt)]));
        let text = if is_used(audience) { text } else { String::new() };
        let prompt = joined([markdown, signatures, text]);
        let provider = audience.native.provider;
        Self { tools, prompt, gateways, quarantined, notes, provider, back, belt }
    }

    /// What a model wants by a reply of its API. A [`Value`] holds numbers as 64 bits: see [`Self::decode_str`].
    pub fn decode(&self, view: &View, reply: &Value) -> Vec<ModelRequest> {
        native::decode(self.provider, reply).into_iter().map(|asked| self.in_words_of(view, asked)).collect()
    }

    /// The same for a reply as it was received, as JSON text: numbers in arguments keep all their digits.
    pub fn decode_str(&self, view: &View, reply: &str) -> serde_json::Result<Vec<ModelRequest>> {
        Ok(self.decode(view, &native::reply_value(reply)?))
    }

    /// The messages that tell the model what came of its requests, in its provider's form: to be appended to the
    /// conversation. See [`Self::decode`].
    pub fn encode(&self, answers: &[ToolAnswer]) -> Vec<Value> {
        native::encode(self.provider, answers)
    }

    /// What a model wants by a reply in the text protocol.
    pub fn decode_text(&self, view: &View, reply: &str, calls: text::CallsPerReply) -> text::DecodedReply {
        self.belt.with(view, |belt| text::decode(belt, reply, calls))
    }

    /// The tools of a view as the text protocol lists them, a line each, and a line for each server without any. The view
    /// may be a narrowed one.
    pub fn text_listing(&self, view: &View) -> String {
        self.belt.with(view, text::listing)
    }

    /// How the tools of a view are called by lines of text; empty when there are none.
    pub fn text_instruction(&self, view: &View) -> String {
        self.belt.with(view, text::instruction)
    }

    /// The same in the words of the view: through the gateway it goes through, with arguments as the view's
    /// schema has them.
    fn in_words_of(&self, view: &View, asked: ModelRequest) -> ModelRequest {
        let ModelRequest { id, tool, intent: Intent::Call { arguments, .. } } = asked else { return asked };
        let gateway = self.gateway(view, &tool);
        let intent = match gateway {
            Some(gateway) => gateway::decode(view, gateway.server.as_str(), &arguments),
            None => {
                let arguments = self.restored(view, &tool, arguments);
                Intent::Call { tool: tool.clone(), arguments }
            }
        };
        ModelRequest { id, tool, intent }
    }

    /// The gateway a name means: by its name, or without regard to `-`, `_` and case if no tool is meant.
    fn gateway(&self, view: &View, name: &str) -> Option<&GatewayDefinition> {
        let exact = self.gateways.iter().find(|gateway| gateway.name.as_str() == name);
        let is_like =
            |gateway: &&GatewayDefinition| gateway::loosely(gateway.name.as_str()).eq(gateway::loosely(name));
        exact.or_else(|| match view.find(name) {
            NameMatch::None { .. } => self.gateways.iter().find(is_like),
            _ => None,
        })
    }

    fn restored(&self, view: &View, tool: &str, arguments: String) -> String {
        let NameMatch::One(place) = view.find(tool) else { return arguments };
        let back = view.at(place).and_then(|shown| self.back.get(shown.name.as_str()));
        // What is no object is told so by whoever checks it.
        back.and_then(|back| back.restore_text(&arguments)).unwrap_or(arguments)
    }
}

impl Belt {
    /// What is told in one of these ways.
    fn new(
        view: &View,
        audience: &PresentOptions,
        scene: &AgentServers<'_>,
        is_told: fn(Mode) -> bool,
    ) -> Self {
        let is_one = |server: &&GatewayServer<'_>| is_told(audience.mode_of(server.name));
        let declared = scene.servers.iter().filter(is_one).map(|server| {
            let away = view.snapshot().away(server.name).map(|away| Stands::Away(away.why.clone()));
            (server.name.to_string(), away.unwrap_or(Stands::Ready))
        });
        let unknown = scene.unknown.iter().map(|name| ((*name).to_owned(), Stands::Unknown));
        // Whatever the agent's own wishes keep from it, its user may know of.
        let is_others =
            |left: &&crate::shape::HiddenTool| left.trail.last().is_some_and(|step| step.rule == "agent");
        let others = view.left_out().iter().filter(is_others);
        Self {
            local: scene.local.filter(|local| is_told(audience.mode_of_local(local))).cloned(),
            declared: declared.chain(unknown).collect(),
            others: others.map(|left| (left.server.to_string(), left.tool.clone())).collect(),
        }
    }

    fn with<T>(&self, view: &View, work: impl FnOnce(&Toolbelt<'_>) -> T) -> T {
        let servers: Vec<DeclaredServer<'_>> = self
            .declared
            .iter()
            .map(|(name, stands)| DeclaredServer {
                name,
                standing: match stands {
                    Stands::Ready => DeclaredState::Ready,
                    Stands::Away(why) => DeclaredState::Away(why),
                    Stands::Unknown => DeclaredState::Unknown,
                },
            })
            .collect();
        let others: Vec<(&str, &str)> =
            self.others.iter().map(|(server, tool)| (server.as_str(), tool.as_str())).collect();
        work(&Toolbelt { view, local: self.local.as_ref(), servers: &servers, others: &others })
    }
}

/// Whether the text protocol is used at all.
fn is_used(audience: &PresentOptions) -> bool {
    audience.mode == Mode::Text || audience.servers.values().any(|mode| *mode == Mode::Text)
}

/// Gateways as tools that can be compiled like any other.
fn as_tools(gateways: &[GatewayDefinition], audience: &PresentOptions) -> Vec<(ShownName, Tool)> {
    let tool = |gateway: &GatewayDefinition| {
        let parsed = Tool::parse(&gateway.server, gateway.to_model_value(), &audience.native.limits);
        Some((gateway.name.clone(), parsed.ok()?))
    };
    gateways.iter().filter_map(tool).collect()
}

fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
