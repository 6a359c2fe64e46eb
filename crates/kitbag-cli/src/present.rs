//! Ways to show tools, as they are typed and as they are printed.

use std::fmt;
use std::sync::Arc;

use clap::ValueEnum;
use kitbag::{Fault, FaultKind, Kitbag, Mode, PresentOptions, Presentation, Provider, Setup, View, ViewTool};
use kitbag_core::Stage;
use kitbag_core::present::native::{CompileNote, Quarantined, Slim, Strict, compile_tool};
use kitbag_core::text::{nearest, visible};

use crate::exit::{Exit, Failure};

/// A way to show tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    mode: Mode,
    /// Whose definitions; nobody's in particular where it is not said.
    provider: Option<Provider>,
}

impl Form {
    /// All that can be asked for, in the order they are told.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let native = Provider::ALL.map(|provider| Self { mode: Mode::Native, provider: Some(provider) });
        let plain = |mode| Self { mode, provider: None };
        native.into_iter().chain([Mode::Gateway, Mode::Markdown, Mode::Signatures, Mode::Text].map(plain))
    }

    /// By its name.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(found) = Self::all().find(|form| form.to_string() == text) {
            return Ok(found);
        }
        if let Some(provider) = text.strip_prefix("gateway:") {
            let provider = Provider::parse(provider).map_err(|unknown| unknown.to_string())?;
            return Ok(Self { mode: Mode::Gateway, provider: Some(provider) });
        }
        let names: Vec<String> = Self::all().map(|form| form.to_string()).collect();
        let near = nearest(text, names.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        Err(format!("{near}there are {}", names.join(", ")))
    }

    /// The text forms among them.
    pub(crate) fn parse_text(text: &str) -> Result<Self, String> {
        match Self::parse(text) {
            Ok(form) if !form.has_definitions() => Ok(form),
            _ => Err("there are markdown, signatures, text".to_owned()),
        }
    }

    /// Whether tools are shown as definitions rather than as words.
    pub(crate) fn has_definitions(self) -> bool {
        !Self::is_text(self.mode)
    }

    /// Whether a way to show tools is a text for a prompt.
    pub(crate) fn is_text(mode: Mode) -> bool {
        matches!(mode, Mode::Markdown | Mode::Signatures | Mode::Text)
    }

    /// Whether it is the gateway as MCP itself would define it.
    pub(crate) fn is_plain_gateway(self) -> bool {
        self.mode == Mode::Gateway && self.provider.is_none()
    }

    /// Whether the vendor counts its tokens by another encoding than ours.
    pub(crate) fn is_estimated(self) -> bool {
        matches!(self.provider, Some(Provider::Anthropic | Provider::Gemini | Provider::GeminiOpenApi))
    }

    /// Whoever reads all tools in this way.
    pub(crate) fn present_options(self, kit: &Kitbag, view: &View, way: Way) -> PresentOptions {
        let provider = self.provider.unwrap_or(Provider::OpenAiChat);
        let mut audience = kit.present_options(view.agent(), provider);
        audience.mode = self.mode;
        audience.servers.clear();
        if way.strict {
            audience.native.strict = Strict::WithinBudget;
        }
        if way.whole {
            audience.native.slim = Slim::Off;
        }
        audience
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.provider {
            Some(provider) => write!(f, "{}:{provider}", self.mode.as_str()),
            None => f.write_str(self.mode.as_str()),
        }
    }
}

/// How definitions are written.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Way {
    /// Compile strict definitions, where the provider supports them and up to its limits
    #[arg(long)]
    pub(crate) strict: bool,
    /// Keep definitions as servers wrote them
    #[arg(long)]
    pub(crate) whole: bool,
}

impl Way {
    /// A failure where nothing that is shown would obey these flags.
    pub(crate) fn check(self, forms: &[Form]) -> Result<(), Failure> {
        let flags = [("--strict", self.strict), ("--whole", self.whole)];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) if !forms.iter().any(|form| form.has_definitions()) => {
                let message = format!("{flag} needs a form with definitions, such as --as native:openai");
                Err(Failure::new(Exit::Usage, message))
            }
            _ => Ok(()),
        }
    }
}

/// What a text is put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wrapper {
    /// A system prompt
    System,
    /// The end of a user's prompt
    User,
}

/// What a provider would not take, and what had to be said otherwise.
pub(crate) fn faults(shown: &Presentation) -> Vec<Fault> {
    let quarantined = shown.quarantined.iter().map(|quarantined: &Quarantined| {
        let message = format!("the tool {} is not shown: {}", quarantined.tool, quarantined.why);
        let fault = Fault::warning(FaultKind::BadTool, message).of(&quarantined.server);
        Fault { stage: Stage::Present, tool: Some(quarantined.tool.clone()), ..fault }
    });
    let notes = shown.notes.iter().map(|note: &CompileNote| {
        let (kind, text) = (FaultKind::BadTool, visible(&note.text));
        let fault = match &note.tool {
            Some(tool) => Fault::note(kind, format!("{tool}: {text}")),
            None => Fault::warning(kind, text),
        };
        Fault { stage: Stage::Present, hint: note.hint.clone(), ..fault }
    });
    quarantined.chain(notes).collect()
}

/// What is shown otherwise where clients bring their own model: who says that a server is one tool that takes a query.
pub(crate) fn without_a_model(setup: &Setup) -> Vec<Fault> {
    let fault = |what: String| {
        let message =
            format!("\"agent\" for \"mode\" {what} has no effect for clients: they see its tools one by one");
        Fault::warning(FaultKind::NotYet, message).hint("it works in kitbag run and kitbag chat")
    };
    let all = setup.mode().filter(|mode| *mode == Mode::Agent).map(|_| fault("in [present]".to_owned()));
    let servers = setup.used().filter(|spec| spec.rules.mode == Some(Mode::Agent));
    all.into_iter().chain(servers.map(|spec| fault(format!("in [servers.{}]", spec.name)))).collect()
}

/// What every provider's definition of one tool leaves out or says otherwise, and why it is not strict. A note that
/// several share stands once, with all their names.
pub(crate) fn definition_notes(
    kit: &Kitbag,
    view: &View,
    shown: &ViewTool,
) -> Vec<(Vec<&'static str>, String)> {
    let mut all: Vec<(Vec<&'static str>, String)> = Vec::new();
    for provider in Provider::ALL {
        let mut request = kit.present_options(view.agent(), provider).native;
        request.strict = Strict::WithinBudget;
        let notes = match compile_tool(&shown.name, &shown.tool, &request) {
            Ok(compiled) => compiled.notes,
            Err(why) => vec![format!("is not shown: {why}")],
        };
        for note in notes {
            match all.iter_mut().find(|(_, text)| *text == note) {
                Some((names, _)) => names.push(provider.as_str()),
                None => all.push((vec![provider.as_str()], note)),
            }
        }
    }
    all
}

/// A view as one way shows it.
pub(crate) fn show(kit: &Kitbag, view: &Arc<View>, form: Form, way: Way) -> Arc<Presentation> {
    kit.present(view, &form.present_options(kit, view, way))
}
