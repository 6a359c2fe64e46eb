//! Configuration written for other programs: Kitbag's own endpoint as one server, or the servers
//! themselves, in the shape and with the references each program reads, and a remark on all that it cannot say.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::dialect::words::{self, ExportWords};
use super::dialect::{ALL, ContainerShape, Dialect};
use super::edit::{self, Home};
use super::tree::Format;
use crate::model::{Auth, Endpoint, Program, ServerSpec, ServerTarget, Template, Transport};
use crate::names::ServerName;

mod entry;

/// Whose file the configuration is for: a program whose words we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportTarget {
    dialect: &'static Dialect,
    words: &'static ExportWords,
}

impl ExportTarget {
    /// All of them, in the order of the dialects.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().filter_map(|dialect| Some(Self { dialect, words: dialect.words? }))
    }

    /// By a name people use; of two programs with one name the first.
    pub fn by_word(word: &str) -> Option<Self> {
        Dialect::by_word(word).into_iter().find_map(|dialect| Some(Self { dialect, words: dialect.words? }))
    }

    /// A project's `.mcp.json`.
    pub fn project() -> Self {
        Self { dialect: Dialect::by_id("claude-code").unwrap_or(&ALL[0]), words: &words::PROJECT }
    }

    /// The rules by which this program reads its file.
    pub fn dialect(self) -> &'static Dialect {
        self.dialect
    }

    /// How its file is written.
    pub fn format(self) -> Format {
        self.words.format
    }

    /// Where its first entry goes.
    pub fn home(self) -> Home<'static> {
        match self.words.home {
            ContainerShape::List(way) => Home::List(way),
            ContainerShape::Map(way) => Home::Map(way),
            ContainerShape::Bare | ContainerShape::Single => Home::Whole,
        }
    }
}

/// Whether values that may be secrets are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportSecrets {
    /// Literal values of variables and headers become `***`.
    Masked,
    /// They stand as written.
    Written,
}

/// What was exported.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// The entries by name.
    pub entries: Vec<(String, Value)>,
    /// What the other program's file cannot say, a line each.
    pub remarks: Vec<String>,
}

impl Exported {
    /// As text to put into the other program's file.
    pub fn text(&self, target: ExportTarget) -> String {
        match (target.format(), target.words.home) {
            (Format::Toml, ContainerShape::Map(way)) => edit::toml_text(way, &self.entries),
            _ => format!("{:#}\n", self.document(target)),
        }
    }

    /// As the other program's file holds it.
    pub fn document(&self, target: ExportTarget) -> Value {
        let entries = self.entries.iter().cloned();
        match target.words.home {
            ContainerShape::List(way) => {
                let named = |(name, entry): (String, Value)| {
                    let mut all = Map::from_iter([("name".to_owned(), Value::from(name))]);
                    all.extend(entry.as_object().cloned().unwrap_or_default());
                    Value::Object(all)
                };
                let mut root = under(way, entries.map(named).collect());
                // Such a list has a switch beside it.
                if let Some(Value::Object(map)) = way.first().and_then(|key| root.get_mut(*key)) {
                    map.shift_insert(0, "enabled".to_owned(), true.into());
                }
                root
            }
            ContainerShape::Map(way) => under(way, Value::Object(entries.collect())),
            ContainerShape::Bare | ContainerShape::Single => Value::Object(entries.collect()),
        }
    }
}

fn under(way: &[&str], value: Value) -> Value {
    way.iter().rev().fold(value, |inner, key| json!({ *key: inner }))
}

/// How another program reaches Kitbag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointReach {
    /// At an address, without a token.
    Address(String),
    /// At an address, with the token that a variable of this name holds.
    AddressWithToken {
        /// The address.
        url: String,
        /// The variable.
        variable: String,
    },
    /// As a process that the program starts.
    Process {
        /// Kitbag's own program.
        command: String,
        /// What it is started with.
        args: Vec<String>,
    },
}

impl EndpointReach {
    fn link(&self) -> ServerTarget {
        let (url, auth) = match self {
            Self::Address(url) => (url, Auth::None),
            Self::AddressWithToken { url, variable } => (url, Auth::Bearer(Template::var(variable))),
            Self::Process { command, args } => {
                let args = args.iter().map(Template::literal).collect();
                let command = Some(Template::literal(command));
                return ServerTarget::Stdio(Program { command, args, ..Program::default() });
            }
        };
        let url = Template::literal(url);
        ServerTarget::Remote(Endpoint { transport: Transport::Http, url, headers: Vec::new(), auth })
    }
}

/// Kitbag itself, as the one server of another program.
pub fn endpoint(target: ExportTarget, name: &ServerName, reach: &EndpointReach) -> Exported {
    let mut spec = ServerSpec::new(name.clone(), reach.link());
    let bare = servers(target, [&spec], ExportSecrets::Written);
    // Where the program can be told: a call may take as long as any of Kitbag's servers takes.
    spec.waits.call = Some(Duration::from_secs(600));
    spec.description = Some("All tools of Kitbag".to_owned());
    Exported { remarks: bare.remarks, ..servers(target, [&spec], ExportSecrets::Written) }
}

/// The servers themselves.
pub fn servers<'a>(
    target: ExportTarget,
    specs: impl IntoIterator<Item = &'a ServerSpec>,
    secrets: ExportSecrets,
) -> Exported {
    let mut exported = Exported { entries: Vec::new(), remarks: Vec::new() };
    for spec in specs {
        let (entry, remarks) = entry::write(target, spec, secrets);
        exported.entries.extend(entry.map(|entry| (spec.name.as_str().to_owned(), entry)));
        exported.remarks.extend(remarks);
    }
    exported
}
