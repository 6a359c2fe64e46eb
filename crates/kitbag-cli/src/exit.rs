//! The exit codes, which scripts rely on, and failures that carry one.

use std::process::ExitCode;

use kitbag::files::{FileError, RegistryError};
use kitbag::{ErrorKind, FaultKind, OpenError, SetupError};
use kitbag_agent::{AgentError, ConversationError, ModelError};
use kitbag_core::codes::{MODEL, USAGE};
use kitbag_core::model::EXIT_CODES;

#[cfg(test)]
mod tests;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    ToolError = 1,
    Usage = 2,
    Config = 3,
    Unavailable = 4,
    NotFound = 5,
    Held = 6,
    InvalidArguments = 7,
    Timeout = 8,
    OutcomeUnknown = 9,
    Drift = 10,
    Model = 11,
    AuthRequired = 12,
    BadAnswer = 13,
    RateLimited = 14,
    Bug = 70,
    Interrupted = 130,
}

impl Exit {
    const ALL: [Self; 17] = [
        Self::Done,
        Self::ToolError,
        Self::Usage,
        Self::Config,
        Self::Unavailable,
        Self::NotFound,
        Self::Held,
        Self::InvalidArguments,
        Self::Timeout,
        Self::OutcomeUnknown,
        Self::Drift,
        Self::Model,
        Self::AuthRequired,
        Self::BadAnswer,
        Self::RateLimited,
        Self::Bug,
        Self::Interrupted,
    ];

    /// The code of a failure of which no more is known.
    fn code(self) -> &'static str {
        match self {
            Self::Done | Self::Usage => USAGE.0,
            Self::ToolError => ErrorKind::ToolError.as_str(),
            Self::Config => "config",
            Self::Unavailable => ErrorKind::Unavailable.as_str(),
            Self::NotFound => ErrorKind::NotFound.as_str(),
            Self::Held => ErrorKind::Held.as_str(),
            Self::InvalidArguments => ErrorKind::InvalidArguments.as_str(),
            Self::Timeout => ErrorKind::Timeout.as_str(),
            Self::OutcomeUnknown => ErrorKind::OutcomeUnknown.as_str(),
            Self::Drift => FaultKind::DefinitionChanged.as_str(),
            Self::Model => MODEL.0,
            Self::AuthRequired => ErrorKind::AuthRequired.as_str(),
            Self::BadAnswer => ErrorKind::BadAnswer.as_str(),
            Self::RateLimited => ErrorKind::RateLimited.as_str(),
            Self::Bug => ErrorKind::Internal.as_str(),
            Self::Interrupted => ErrorKind::Cancelled.as_str(),
        }
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        let fits = |exit: &Self| *exit as u8 == kind.exit_code();
        Self::ALL.into_iter().find(fits).unwrap_or(Self::Bug)
    }
}

/// What every code stands for, in one line.
pub(crate) fn meanings() -> String {
    let meanings: Vec<String> =
        EXIT_CODES.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
    meanings.join(" · ")
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what it was asked, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What kind of failure it is, where that is known more closely than by the exit code.
    pub(crate) kind: Option<ErrorKind>,
    pub(crate) message: String,
    /// Lines that show what would have been right; fit for a terminal.
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, kind: None, message: message.into(), detail: None, hint: None }
    }

    /// The same as the end of a call.
    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Its stable code, which has a page in `docs/errors/`.
    pub(crate) fn code(&self) -> &'static str {
        let fits = |kind: &ErrorKind| Exit::from(*kind) == self.exit;
        self.kind.filter(fits).map_or_else(|| self.exit.code(), ErrorKind::as_str)
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Says what is wrong with a command line, as JSON where JSON was asked for; help and version are no mistakes.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|arg| arg == "--json");
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        eprintln!(
            "{}",
            crate::json::line(
                &serde_json::json!({"error": message, "hint": "kitbag --help", "exit": Exit::Usage as u8, "code": USAGE.0})
            )
        );
    } else if error.use_stderr() {
        let text = error.render().ansi().to_string();
        anstream::eprint!("{}", text.replacen("error:", &format!("error[{}]:", USAGE.0), 1));
    } else {
        let _ = error.print();
    }
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let message = error.to_string();
        match error {
            SetupError::NoSuchFile(_) => {
                Self::new(Exit::Usage, message).hint("correct the path after --config")
            }
            SetupError::NoCatalog { .. } => {
                Self::new(Exit::Usage, message).hint("correct the path after --catalog")
            }
            SetupError::UnknownHost { .. } => Self::new(Exit::Usage, message),
            SetupError::UnknownUser { user, folder } => Self::new(Exit::NotFound, message).hint(format!(
                "`mkdir -p {}` makes the user known; so does [users.{user}] in kitbag.toml",
                crate::arguments::quoted(&folder.to_string_lossy())
            )),
        }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        let message = error.to_string();
        match error {
            RegistryError::NotFound { .. } => {
                Self::new(Exit::NotFound, message).hint("`kitbag servers list` shows all")
            }
            RegistryError::Duplicate { name, .. } => Self::new(Exit::Config, message)
                .hint(format!("choose another name, or `kitbag servers remove {name}` first")),
            RegistryError::NotOurs { name, .. } => Self::new(Exit::Config, message)
                .hint(format!("`kitbag servers disable {name}` switches it off for Kitbag")),
            RegistryError::NotSwitchable { .. } => {
                Self::new(Exit::Config, message).hint("unset the variable, or drop the flag")
            }
            RegistryError::Invalid { faults, .. } => {
                let hint = faults.into_iter().find_map(|fault| fault.hint);
                Self { hint, ..Self::new(Exit::Config, message) }
            }
            RegistryError::SwitchedElsewhere { name, .. } => Self::new(Exit::Config, message)
                .hint(format!("`kitbag servers remove {name}` removes the switch")),
            RegistryError::Link(_) => {
                Self::new(Exit::Config, message).hint("put a folder or file of the user's own in its place")
            }
            RegistryError::Edit { .. } => {
                Self::new(Exit::Config, message).hint("correct the file first; `kitbag doctor` shows where")
            }
            RegistryError::File(_) => Self::new(Exit::Config, message),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = error.reason.as_ref().map_or(Exit::Unavailable, |reason| reason.class.kind().into());
        let fix = error.reason.as_ref().and_then(|reason| reason.hint.as_ref());
        let message = fix.map_or(error.to_string(), |fix| format!("{error}; {fix}"));
        Self::new(exit, message).hint(format!("kitbag logs {}", error.server))
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::new(Exit::Model, error.to_string())
    }
}

impl From<ConversationError> for Failure {
    fn from(error: ConversationError) -> Self {
        let message = error.to_string();
        match error {
            ConversationError::NotFound { .. } => {
                Self::new(Exit::NotFound, message).hint("kitbag conversations")
            }
            ConversationError::InUse { .. } => Self::new(Exit::Unavailable, message),
            _ => Self::new(Exit::Config, message),
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Model(error) => error.into(),
            AgentError::Conversation(error) => error.into(),
            AgentError::Program(error) => error.into(),
            AgentError::Clash(_) => Self::new(Exit::Config, error.to_string())
                .hint("rename one of them, or set clash = \"prefix\" for the agent"),
            _ => Self::new(Exit::Bug, error.to_string()),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::new(Exit::Config, error.to_string())
    }
}
