//! A configured text with references in it, kept as written until somebody needs its value.
//!
//! Trust and fingerprints look at the text as written, so it is never expanded in place; and a reference is
//! expanded once, so a variable's value cannot bring in further references.

use std::fmt;

use super::Secret;
use crate::text::{MASK, STAND_INS, names_secret, redact_url, redact_words};

/// A part of a [`Template`]; its texts do not print, they may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that stands for itself.
    Text(String),
    /// An environment variable, with the text to use when it is unset or empty.
    Var {
        /// The variable's name.
        name: String,
        /// What to use instead.
        default: Option<String>,
    },
    /// A value the user is asked for once.
    Input(String),
    /// A folder the host program knows.
    Folder(ConfigFolder),
}

/// The folders that configuration files refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFolder {
    /// Where the user works.
    Workspace,
    /// The last part of the workspace's path.
    WorkspaceName,
    /// The user's home.
    Home,
    /// The folder of the plugin that ships the file, taken to be the file's own.
    Plugin,
}

/// Where the values of references come from.
pub trait ValueSource {
    /// The value of an environment variable.
    fn var(&self, name: &str) -> Option<String>;
    /// The value given for an input.
    fn input(&self, id: &str) -> Option<Secret>;
    /// A folder's path.
    fn folder(&self, folder: ConfigFolder) -> Option<String>;
    /// The variables of a file, or why they cannot be had. Read once by whoever gives the values, so that what
    /// was approved is what runs.
    fn env_file(&self, path: &str) -> Result<Vec<(String, Secret)>, String>;
}

/// A reference without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No such variable.
    Var(String),
    /// Nobody gave this input.
    Input(String),
    /// The folder is not known here.
    Folder(ConfigFolder),
}

/// What is shown of the texts that stand in for variables that are not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// Nothing: people put secrets there.
    Masked,
    /// All but what looks like a secret: they may be what runs.
    Shown,
}

/// A configured text, as written and taken apart.
#[derive(Clone)]
pub struct Template {
    written: String,
    pieces: Vec<Piece>,
    /// Whether it means just what is written.
    plain: bool,
}

/// Most texts mean what is written; then their pieces need not be looked at. Whole configurations are compared.
impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        let is_plain = self.plain && other.plain;
        self.written == other.written && (is_plain || self.pieces == other.pieces)
    }
}

impl Eq for Template {}

impl Template {
    /// A text and its pieces, as some dialect reads them.
    pub fn new(written: impl Into<String>, pieces: Vec<Piece>) -> Self {
        let written = written.into();
        let plain = matches!(pieces.as_slice(), [Piece::Text(text)] if *text == written);
        Self { written, pieces, plain }
    }

    /// A text without references.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { pieces: vec![Piece::Text(text.clone())], written: text, plain: true }
    }

    /// A reference to one variable.
    pub fn var(name: &str) -> Self {
        Self::new(format!("${{{name}}}"), vec![Piece::Var { name: name.into(), default: None }])
    }

    /// `before`, then this text.
    pub fn after(self, before: &str) -> Self {
        let pieces = std::iter::once(Piece::Text(before.into())).chain(self.pieces).collect();
        Self::new(format!("{before}{}", self.written), pieces)
    }

    /// The text as it stands in the file. It may hold a secret.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Its parts.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether it holds no reference.
    pub fn is_literal(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// The value, with every reference replaced, or all references that have none.
    pub fn resolve(&self, lookup: &dyn ValueSource) -> Result<String, Vec<Missing>> {
        let mut value = String::new();
        let mut missing = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => value.push_str(text),
                Piece::Var { name, default } => match (lookup.var(name).filter(|v| !v.is_empty()), default) {
                    (Some(found), _) => value.push_str(&found),
                    (None, Some(default)) => value.push_str(default),
                    // Set but empty is a value when nothing else was offered.
                    (None, None) if lookup.var(name).is_some() => {}
                    (None, None) => missing.push(Missing::Var(name.clone())),
                },
                Piece::Input(id) => match lookup.input(id) {
                    Some(found) => value.push_str(found.expose()),
                    None => missing.push(Missing::Input(id.clone())),
                },
                Piece::Folder(folder) => match lookup.folder(*folder) {
                    Some(found) => value.push_str(&found),
                    None => missing.push(Missing::Folder(*folder)),
                },
            }
        }
        if missing.is_empty() { Ok(value) } else { Err(missing) }
    }

    /// Fit to be shown where every literal may be a secret (variables, headers): references stay, text goes.
    pub fn shown_as_value(&self) -> String {
        self.show(|text| if is_scheme(text) { text.to_owned() } else { MASK.to_owned() })
    }

    /// Fit to be shown to somebody who decides whether this may run: a value named like a secret, or looking
    /// like one, is masked; anything else must be seen.
    pub fn shown_for_review(&self, name: &str) -> String {
        if names_secret(name) { self.shown_as_value() } else { self.shown_as_text(Defaults::Shown) }
    }

    /// Spelt by another program's rules for references, with every literal masked.
    pub fn masked_in(&self, spell: impl Fn(&Piece) -> String) -> String {
        self.spelt(|piece| match piece {
            Piece::Text(text) if is_scheme(text) => text.clone(),
            Piece::Text(_) => MASK.to_owned(),
            Piece::Var { name, default: Some(_) } => spell(&Piece::Var { name: name.clone(), default: None }),
            piece => spell(piece),
        })
    }

    /// Fit to be shown where literals are ordinary (commands, folders), secrets among them apart.
    pub fn shown_as_text(&self, defaults: Defaults) -> String {
        self.shown_by(|text| redact_words([text]).concat(), defaults)
    }

    /// Fit to be shown where it is a URL.
    pub fn shown_as_url(&self, defaults: Defaults) -> String {
        self.shown_by(redact_url, defaults)
    }

    /// Spelt as Kitbag's own files spell it.
    pub fn in_our_words(&self) -> String {
        self.spelt(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Var { name, default: None } => format!("${{{name}}}"),
            Piece::Var { name, default: Some(default) } => format!("${{{name}:-{default}}}"),
            Piece::Input(id) => format!("${{input:{id}}}"),
            Piece::Folder(folder) => format!("${{{}}}", folder.as_str()),
        })
    }

    /// Put together anew, piece by piece, as another program would spell it.
    pub fn spelt(&self, spell: impl Fn(&Piece) -> String) -> String {
        self.pieces.iter().map(spell).collect()
    }

    /// By a rule for whole texts: what stands before and behind a reference decides together what is secret.
    fn shown_by(&self, rule: impl Fn(&str) -> String, defaults: Defaults) -> String {
        match self.veiled() {
            Some(text) => self.unveiled(&rule(&text), defaults),
            None => MASK.to_owned(),
        }
    }

    /// The text with one character in place of each reference; none when there are more than such characters.
    pub(super) fn veiled(&self) -> Option<String> {
        let mut stand_ins = STAND_INS;
        let mut text = String::with_capacity(self.written.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => {
                    text.extend(piece.chars().map(|c| if STAND_INS.contains(&c) { '\u{fffd}' } else { c }))
                }
                _ => text.push(stand_ins.next()?),
            }
        }
        Some(text)
    }

    /// A veiled text with its references back in their places.
    pub(super) fn unveiled(&self, text: &str, defaults: Defaults) -> String {
        let references: Vec<&Piece> =
            self.pieces.iter().filter(|piece| !matches!(piece, Piece::Text(_))).collect();
        let first = u32::from(*STAND_INS.start());
        text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
            match u32::from(c).checked_sub(first).and_then(|index| references.get(index as usize)) {
                Some(Piece::Var { name, default: Some(default) }) if defaults == Defaults::Shown => {
                    shown.push_str(&format!("${{{name}:-{}}}", redact_words([default.as_str()]).concat()));
                }
                Some(piece) => shown.push_str(&show(piece, str::to_owned)),
                None => shown.push(c),
            }
            shown
        })
    }

    fn show(&self, literal: impl Fn(&str) -> String) -> String {
        self.spelt(|piece| show(piece, &literal))
    }
}

fn show(piece: &Piece, literal: impl Fn(&str) -> String) -> String {
    match piece {
        Piece::Text(text) => literal(text),
        Piece::Var { name, default: None } => format!("${{{name}}}"),
        Piece::Var { name, default: Some(_) } => format!("${{{name}:-{MASK}}}"),
        Piece::Input(id) => format!("${{input:{id}}}"),
        Piece::Folder(folder) => format!("${{{}}}", folder.as_str()),
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", show(self, |_| MASK.to_owned()))
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown_as_value())
    }
}

impl ConfigFolder {
    /// The name used for it inside `${…}`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspaceFolder",
            Self::WorkspaceName => "workspaceFolderBasename",
            Self::Home => "userHome",
            Self::Plugin => "CLAUDE_PLUGIN_ROOT",
        }
    }
}

/// Words that stand before a credential and are none themselves.
fn is_scheme(text: &str) -> bool {
    matches!(text.trim(), "" | "Bearer" | "bearer" | "Basic" | "token" | "Token" | "ApiKey")
}
