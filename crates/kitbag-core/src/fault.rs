//! One server's trouble, told so that a person can fix it: what, where, and what to write instead.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::names::{ServerName, ToolName};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $about:literal])+ $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name { $($(#[doc = $about])+ $variant),* }

        impl $name {
            /// All of them, in the order they are documented.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// What it means, in one sentence.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => concat!($($about),+).trim_ascii()),* }
            }

            /// The word used in JSON output and documentation.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}

words!(
    /// The part of the data's way where the trouble showed.
    Stage {
        /// Reading and merging configuration.
        Config = "config",
        /// Starting a server or reaching it.
        Connect = "connect",
        /// Taking over a server's tool list.
        Catalog = "catalog",
        /// Filtering and transforming tools.
        Shape = "shape",
        /// Showing tools to a model.
        Present = "present",
        /// Calling a tool.
        Execute = "execute",
    }
);

words!(
    /// The severity of a [`Fault`], least first.
    Severity {
        /// Worth knowing; nothing is lost.
        Note = "note",
        /// Works, but probably not as meant.
        Warning = "warning",
        /// The file, entry or server cannot be used.
        Error = "error",
    }
);

words!(
    /// The kind of a [`Fault`].
    FaultKind {
        /// The file cannot be read.
        Unreadable = "unreadable",
        /// The file is not text.
        Encoding = "encoding",
        /// The file breaks its format's grammar.
        Syntax = "syntax",
        /// A bound was reached (size, depth, count).
        TooLarge = "too_large",
        /// The servers stand under a key this program does not read.
        WrongWrapper = "wrong_wrapper",
        /// No server could be found in the file.
        NoServers = "no_servers",
        /// A key nobody reads, with a near miss that somebody does.
        UnknownKey = "unknown_key",
        /// A value of the wrong type.
        WrongType = "wrong_type",
        /// A value outside what is allowed.
        WrongValue = "wrong_value",
        /// A required key is missing.
        MissingField = "missing_field",
        /// Two things that exclude each other.
        Conflict = "conflict",
        /// One name twice in one file.
        Duplicate = "duplicate",
        /// A text that cannot be a name.
        BadName = "bad_name",
        /// A URL that cannot be one.
        BadUrl = "bad_url",
        /// A timeout whose unit was probably mistaken, or had to be guessed.
        Timeout = "timeout",
        /// A transport or launcher that exists elsewhere but not here.
        Unsupported = "unsupported",
        /// A variable without a value.
        MissingVariable = "missing_variable",
        /// An input without a value.
        MissingInput = "missing_input",
        /// A reference that this program's files do not expand.
        NotExpanded = "not_expanded",
        /// The program to start cannot be found.
        MissingProgram = "missing_program",
        /// A switch for a server that nobody defines.
        LooseToggle = "loose_toggle",
        /// A pattern or a name in the rules that matches no server or no tool.
        NoMatch = "no_match",
        /// A package or an image that is started without a version.
        Unpinned = "unpinned",
        /// A server from the working folder that nobody approved.
        Untrusted = "untrusted",
        /// A server that is not connected.
        Unavailable = "unavailable",
        /// A tool definition that cannot be used; the tool is left out.
        BadTool = "bad_tool",
        /// A tool list that was not read to its end; there may be more tools.
        ListCut = "list_cut",
        /// A tool list that is not confirmed: remembered from an earlier run, or kept because listing again failed.
        ListStale = "list_stale",
        /// A server that is connected and whose tools cannot be listed.
        ListFailed = "list_failed",
        /// A server that lists no tools.
        ListEmpty = "list_empty",
        /// Characters in a definition that nobody sees or a terminal obeys; they are not shown.
        HiddenCharacters = "hidden_characters",
        /// A definition that gives the model orders instead of describing its tool.
        InstructsModel = "instructs_model",
        /// A definition that speaks of secrets or private files.
        AsksForSecrets = "asks_for_secrets",
        /// A definition that wants to know the conversation, the system prompt or the model.
        AsksForContext = "asks_for_context",
        /// A definition that speaks of a tool of another server.
        NamesOtherTool = "names_other_tool",
        /// A definition with text that a person cannot read: base64 or hexadecimal digits.
        EncodedText = "encoded_text",
        /// Two tools, or two servers, whose names look alike.
        TwinNames = "twin_names",
        /// A tool whose arguments or results have another schema than when it was listed before.
        SchemaChanged = "schema_changed",
        /// A tool whose definition is not the one that was approved, or that nobody approved; it is held.
        DefinitionChanged = "definition_changed",
        /// A part of a schema that is not checked, or is read otherwise than it says.
        SchemaNotChecked = "schema_not_checked",
        /// A result that does not match the schema its tool promised.
        ResultMismatch = "result_mismatch",
        /// A description that is longer than the limit and was cut.
        DescriptionCut = "description_cut",
        /// A key of a definition that is missing or of the wrong type; the tool works without it.
        OddDefinition = "odd_definition",
        /// A rule that could not do its work.
        RuleFailed = "rule_failed",
        /// Tools of one view by which private data can be carried off: reading it, untrusted text and a way out.
        Trifecta = "trifecta",
        /// Two tools that want one name.
        Clash = "clash",
        /// A secret where others can read it.
        Exposed = "exposed",
        /// A restriction that cannot be read, so that everything it could have meant is restricted.
        Closed = "closed",
        /// The database that keeps pins, approvals and the audit log cannot be used.
        Store = "store",
        /// A setting that nothing obeys yet.
        NotYet = "not_yet",
    }
);

/// A place in a file; line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The file, or a stand-in such as `$MCP_URL`.
    pub file: Arc<Path>,
    /// Line, 0 when only the file is known.
    pub line: u32,
    /// Column, 0 when only the file is known.
    pub column: u32,
}

impl SourceLocation {
    /// A whole file.
    pub fn file(file: impl Into<Arc<Path>>) -> Self {
        Self { file: file.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            _ => write!(f, "{}:{}:{}", self.file.display(), self.line, self.column),
        }
    }
}

/// The offending line, already free of secrets, with the column that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The line, or a window of it when it is long.
    pub text: String,
    /// Where in `text` the trouble begins, in characters from 0.
    pub start: usize,
}

/// One thing that is wrong with a server, file or tool: what, where, and what to write instead. It never stops another
/// server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where on the data's way.
    pub stage: Stage,
    /// What kind.
    pub kind: FaultKind,
    /// How much is lost.
    pub severity: Severity,
    /// Whose, when it is one server's.
    pub server: Option<ServerName>,
    /// Which tool's, when it is one tool's.
    pub tool: Option<ToolName>,
    /// What happened, in lower case without a full stop, never with a secret in it.
    pub message: String,
    /// What to write or do instead.
    pub hint: Option<String>,
    /// Where it stands.
    pub place: Option<SourceLocation>,
    /// The line it stands in.
    pub snippet: Option<Snippet>,
}

impl Fault {
    /// A fault of the config stage that makes its subject unusable.
    pub fn error(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            stage: Stage::Config,
            kind,
            severity: Severity::Error,
            server: None,
            tool: None,
            message: message.into(),
            hint: None,
            place: None,
            snippet: None,
        }
    }

    /// The same, for what works but probably not as meant.
    pub fn warning(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(kind, message) }
    }

    /// The same, for what is only worth knowing.
    pub fn note(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(kind, message) }
    }

    /// Says what to write or do instead.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says whose trouble it is.
    pub fn of(mut self, server: &ServerName) -> Self {
        self.server = Some(server.clone());
        self
    }

    /// Says whose tool it is about.
    pub fn on(mut self, server: &ServerName, tool: &ToolName) -> Self {
        self.tool = Some(tool.clone());
        self.of(server)
    }

    /// Says where it stands.
    pub fn at(mut self, place: SourceLocation) -> Self {
        self.place = Some(place);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if let Some(server) = &self.server {
            write!(f, "{server}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}
