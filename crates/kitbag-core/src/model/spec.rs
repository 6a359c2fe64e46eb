//! One server, fully described.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::rules::ServerRules;
use super::{Defaults, FallbackServer, InProcess, Template};
use crate::fault::SourceLocation;
use crate::names::{ServerName, hex};
use crate::text::{MASK, redact_words};

mod resolve;

pub use resolve::{Identity, ResolvedSpec, ResolvedTarget, input_variable};

/// The transport of a server: stdio, HTTP, HTTP+SSE or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A child process and its pipes.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older HTTP with server-sent events.
    Sse,
    /// Streamable HTTP first, then the older one.
    Auto,
    /// Memory: the server is inside this program.
    InProcess,
}

impl Transport {
    /// The word used in JSON output and Kitbag's own files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Auto => "auto",
            Self::InProcess => "in_process",
        }
    }
}

/// Where something was written, and by whose rules it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The dialect's id, such as `cursor`.
    pub dialect: &'static str,
    /// File and line.
    pub place: SourceLocation,
}

/// A program to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// What to start; never handed to a shell.
    pub command: Option<Template>,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Variables given to it.
    pub env: Vec<(String, Template)>,
    /// Variables passed on from Kitbag's own environment, by name.
    pub pass: Vec<String>,
    /// Whether all of Kitbag's own environment is passed on.
    pub pass_all: bool,
    /// A file of further variables.
    pub env_file: Option<Template>,
    /// Where it runs.
    pub cwd: Option<Template>,
}

/// An address to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `Http`, `Sse` or `Auto`.
    pub transport: Transport,
    /// The address, not validated here.
    pub url: Template,
    /// Headers sent with every request.
    pub headers: Vec<(String, Template)>,
    /// How we show who we are.
    pub auth: Auth,
}

/// How we show who we are to a remote server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Not at all, or by headers alone.
    None,
    /// `Authorization: Bearer …`.
    Bearer(Template),
    /// A header of the server's choice.
    Header {
        /// The header's name.
        name: String,
        /// Its whole value.
        value: Template,
    },
}

/// The way to reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTarget {
    /// Start it.
    Stdio(Program),
    /// Connect to it.
    Remote(Endpoint),
    /// It is inside this program.
    InProcess(InProcess),
}

/// Which of a server's tools are taken; globs over the server's own names, exclude wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, when there are any.
    pub include: Vec<String>,
    /// Never these.
    pub exclude: Vec<String>,
}

/// How long to wait for a server, where its file says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpecTimeouts {
    /// Until it is connected.
    pub connect: Option<Duration>,
    /// Until a call is answered.
    pub call: Option<Duration>,
}

/// A value the user is asked for once. Only its id prints: a default may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Input {
    /// The name used in `${input:…}`.
    pub id: String,
    /// What to ask.
    pub description: String,
    /// Whether typing is hidden.
    pub password: bool,
    /// The values to choose from, when only these will do.
    pub options: Vec<String>,
    /// What an empty answer means.
    pub default: Option<String>,
}

/// Which variables of Kitbag's own environment a program gets, besides those that every program gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvPass {
    /// These.
    Names(Vec<String>),
    /// All of them.
    All,
}

/// What `kitbag.toml` adds to a server or says differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Switched on or off.
    pub enabled: Option<bool>,
    /// Whether start-up fails without it.
    pub required: Option<bool>,
    /// Whether it is only started on first need.
    pub lazy: Option<bool>,
    /// Calls in flight at once.
    pub concurrency: Option<u32>,
    /// Which server takes its calls while it is not available.
    pub fallback: Option<FallbackServer>,
    /// Until a call is answered.
    pub call: Option<Duration>,
    /// Until it is connected.
    pub connect: Option<Duration>,
    /// Variables passed on from Kitbag's own environment, added to those its file names.
    pub env_pass: Option<EnvPass>,
    /// Whether each user has a connection of their own.
    pub per_user: Option<bool>,
    /// Whether its secrets are masked in results for models and hosts, too.
    pub mask_results: Option<bool>,
    /// Replaces the file's list.
    pub include: Option<Vec<String>>,
    /// Added to the file's list: what is excluded anywhere stays excluded.
    pub exclude: Option<Vec<String>>,
    /// What is said about its tools.
    pub rules: ServerRules,
}

/// The description of one server: how to reach it, which tools to take, timeouts, rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name.
    pub name: ServerName,
    /// Where it was written.
    pub origin: Origin,
    /// Whether it is switched on.
    pub enabled: bool,
    /// How to reach it.
    pub link: ServerTarget,
    /// Which of its tools are taken.
    pub filter: ToolFilter,
    /// How long to wait for it.
    pub waits: SpecTimeouts,
    /// Whether start-up fails without it.
    pub required: bool,
    /// Whether it is only started on first need.
    pub lazy: bool,
    /// Calls in flight at once, when limited.
    pub concurrency: Option<u32>,
    /// Which server takes its calls while it is not available.
    pub fallback: Option<FallbackServer>,
    /// Whether each user has a connection of their own.
    pub per_user: bool,
    /// Whether its secrets are masked in results for models and hosts, too.
    pub mask_results: bool,
    /// What is said about its tools.
    pub rules: ServerRules,
    /// What its owner says about it.
    pub description: Option<String>,
    /// Values its texts ask for.
    pub inputs: Vec<Input>,
    /// Keys we do not read, kept for a rewrite and for later stages.
    pub extra: Extra,
    /// Where each value stands, by Kitbag's own key.
    pub places: BTreeMap<&'static str, SourceLocation>,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Input").field(&self.id).finish()
    }
}

/// Keys with their values as written; any of them may be a secret, so only the keys print.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extra(pub serde_json::Map<String, Value>);

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What other files than its own give to a server: part of what an approval covers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Variables of the working folder's `.env` that its references take.
    pub variables: Vec<(String, String)>,
    /// The text of its file of variables.
    pub env_file: Option<String>,
}

impl ServerTarget {
    /// Every text with references, with Kitbag's own key for it.
    pub fn templates(&self) -> Vec<(&'static str, &Template)> {
        match self {
            ServerTarget::Stdio(program) => {
                let command = program.command.iter().map(|text| ("command", text));
                command
                    .chain(program.args.iter().map(|text| ("args", text)))
                    .chain(program.env.iter().map(|(_, text)| ("env", text)))
                    .chain(program.env_file.iter().map(|text| ("env_file", text)))
                    .chain(program.cwd.iter().map(|text| ("cwd", text)))
                    .collect()
            }
            ServerTarget::Remote(endpoint) => {
                let auth = match &endpoint.auth {
                    Auth::None => None,
                    Auth::Bearer(text) | Auth::Header { value: text, .. } => Some(("auth", text)),
                };
                std::iter::once(("url", &endpoint.url))
                    .chain(endpoint.headers.iter().map(|(_, text)| ("headers", text)))
                    .chain(auth)
                    .collect()
            }
            ServerTarget::InProcess(_) => Vec::new(),
        }
    }
}

impl ServerSpec {
    /// A server that is reached this way, described in code.
    pub fn new(name: ServerName, link: ServerTarget) -> Self {
        let place = SourceLocation::file(std::path::Path::new("code"));
        Self {
            name,
            origin: Origin { dialect: "code", place },
            enabled: true,
            link,
            filter: ToolFilter::default(),
            waits: SpecTimeouts::default(),
            required: false,
            lazy: false,
            concurrency: None,
            fallback: None,
            per_user: false,
            mask_results: false,
            rules: ServerRules::default(),
            description: None,
            inputs: Vec::new(),
            extra: Extra::default(),
            places: BTreeMap::new(),
        }
    }

    /// A program to start, with its arguments as they are.
    pub fn program<'a>(name: ServerName, command: &str, args: impl IntoIterator<Item = &'a str>) -> Self {
        let args = args.into_iter().map(Template::literal).collect();
        let program = Program { command: Some(Template::literal(command)), args, ..Program::default() };
        Self::new(name, ServerTarget::Stdio(program))
    }

    /// An address to connect to, as it is; which of the web's transports it speaks is found out.
    pub fn url(name: ServerName, url: &str) -> Self {
        let url = Template::literal(url);
        let endpoint = Endpoint { transport: Transport::Auto, url, headers: Vec::new(), auth: Auth::None };
        Self::new(name, ServerTarget::Remote(endpoint))
    }

    /// How it is spoken to.
    pub fn transport(&self) -> Transport {
        match &self.link {
            ServerTarget::Stdio(_) => Transport::Stdio,
            ServerTarget::Remote(endpoint) => endpoint.transport,
            ServerTarget::InProcess(_) => Transport::InProcess,
        }
    }

    /// Applies what `kitbag.toml` says about this server.
    pub fn apply(&mut self, over: &Overrides) {
        let take = |slot: &mut bool, value: Option<bool>| *slot = value.unwrap_or(*slot);
        take(&mut self.enabled, over.enabled);
        take(&mut self.required, over.required);
        take(&mut self.lazy, over.lazy);
        take(&mut self.per_user, over.per_user);
        take(&mut self.mask_results, over.mask_results);
        self.concurrency = over.concurrency.or(self.concurrency);
        self.fallback = over.fallback.clone().or(self.fallback.take());
        self.waits.call = over.call.or(self.waits.call);
        self.waits.connect = over.connect.or(self.waits.connect);
        if let Some(include) = &over.include {
            self.filter.include.clone_from(include);
        }
        if let ServerTarget::Stdio(program) = &mut self.link {
            match &over.env_pass {
                Some(EnvPass::Names(names)) => program.pass.extend(names.iter().cloned()),
                Some(EnvPass::All) => program.pass_all = true,
                None => {}
            }
        }
        // What one file keeps away no other brings back.
        self.filter.exclude.extend(over.exclude.iter().flatten().cloned());
        self.rules.apply(&over.rules);
    }

    /// Equal for two entries that start or reach the same thing in the same way, however each spells its
    /// references.
    pub fn fingerprint(&self) -> String {
        hex(&self.digest(Sha256::new(), Template::in_our_words).finalize()[..16])
    }

    /// What an approval is bound to: the file and everything that decides what runs, as written.
    ///
    /// `seen` is what other files give to it; whoever can write those must not be able to change what was
    /// approved behind a reference.
    pub fn trust_hash(&self, seen: &Seen) -> String {
        let mut sha = Sha256::new();
        put(&mut sha, "file", &self.origin.place.file.to_string_lossy());
        for (name, value) in &seen.variables {
            put(&mut sha, &format!("seen {name}"), value);
        }
        seen.env_file.iter().for_each(|text| put(&mut sha, "seen-env-file", text));
        hex(&self.digest(sha, |text| text.written().to_owned()).finalize())
    }

    /// Names of the file's choice stand behind a blank, so that none can pass for one of ours: a variable
    /// called `arg` must not equal an argument.
    fn digest(&self, mut sha: Sha256, text_of: impl Fn(&Template) -> String) -> Sha256 {
        match &self.link {
            ServerTarget::Stdio(program) => {
                program.command.iter().for_each(|text| put(&mut sha, "command", &text_of(text)));
                program.args.iter().for_each(|text| put(&mut sha, "arg", &text_of(text)));
                let mut env: Vec<_> = program.env.iter().collect();
                env.sort_by_key(|(name, _)| name);
                env.iter().for_each(|(name, text)| put(&mut sha, &format!("env {name}"), &text_of(text)));
                let mut pass = program.pass.clone();
                pass.sort();
                pass.iter().for_each(|name| put(&mut sha, "pass", name));
                if program.pass_all {
                    put(&mut sha, "pass_all", "");
                }
                program.env_file.iter().for_each(|text| put(&mut sha, "env_file", &text_of(text)));
                program.cwd.iter().for_each(|text| put(&mut sha, "cwd", &text_of(text)));
            }
            ServerTarget::Remote(endpoint) => {
                put(&mut sha, "transport", endpoint.transport.as_str());
                put(&mut sha, "url", &text_of(&endpoint.url));
                let mut headers: Vec<_> =
                    endpoint.headers.iter().map(|(n, v)| (n.to_ascii_lowercase(), v)).collect();
                headers.sort_by(|a, b| a.0.cmp(&b.0));
                headers
                    .iter()
                    .for_each(|(name, text)| put(&mut sha, &format!("header {name}"), &text_of(text)));
                match &endpoint.auth {
                    Auth::None => {}
                    Auth::Bearer(text) => put(&mut sha, "bearer", &text_of(text)),
                    Auth::Header { name, value } => put(&mut sha, &format!("auth {name}"), &text_of(value)),
                }
            }
            ServerTarget::InProcess(server) => put(&mut sha, "in process", &server.id()),
        }
        sha
    }

    /// Every text with references, with Kitbag's own key for it.
    pub fn templates(&self) -> Vec<(&'static str, &Template)> {
        self.link.templates()
    }

    /// Arguments as they may be shown; the one after `--token` is masked as a whole.
    pub fn shown_args(&self, defaults: Defaults) -> Vec<String> {
        let ServerTarget::Stdio(program) = &self.link else { return Vec::new() };
        // A reference is no secret, also behind `--token`; the text around it is.
        let veiled = |arg: &Template| arg.veiled().unwrap_or_else(|| MASK.to_owned());
        let words: Vec<String> = program.command.iter().chain(&program.args).map(veiled).collect();
        let masked = redact_words(words.iter().map(String::as_str));
        let masked = masked.into_iter().skip(program.command.iter().len());
        program.args.iter().zip(masked).map(|(arg, masked)| arg.unveiled(&masked, defaults)).collect()
    }
}

/// Length-prefixed, so that no two lists of fields give the same bytes.
fn put(sha: &mut Sha256, key: &str, value: &str) {
    for text in [key, value] {
        sha.update((text.len() as u64).to_be_bytes());
        sha.update(text.as_bytes());
    }
}
