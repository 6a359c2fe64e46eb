//! References in configured texts, in every spelling that some program reads.
//!
//! The text is only taken apart here; values come later and are never looked at for further references.

use super::dialect::{Dialect, ReferenceStyle};
use crate::model::{ConfigFolder, Piece, Template};

/// Takes a text apart by a dialect's rules.
pub fn template(text: &str, dialect: &Dialect) -> Template {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '$' if rest.starts_with("${") => braced(rest),
            '$' if dialect.forms.contains(&ReferenceStyle::Dollar) => dollar(rest),
            '%' if dialect.forms.contains(&ReferenceStyle::Percent) => between(rest, "%", "%"),
            '{' if rest.starts_with("{env:") && dialect.forms.contains(&ReferenceStyle::BraceEnv) => {
                between(rest, "{env:", "}")
            }
            '{' if rest.starts_with("{{") && dialect.forms.contains(&ReferenceStyle::Moustache) => {
                between(rest, "{{", "}}")
            }
            _ => None,
        };
        match found {
            Some((piece, length)) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(piece);
                rest = &rest[length..];
            }
            None => {
                literal.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Template::new(text, pieces)
}

/// What looks like a reference but stays as it is, and what to write instead.
pub(super) fn stray_reference(template: &Template) -> Option<(String, String)> {
    let every = Dialect {
        forms: &[ReferenceStyle::Dollar, ReferenceStyle::BraceEnv, ReferenceStyle::Moustache],
        ..super::dialect::ALL[0]
    };
    template.pieces().iter().find_map(|piece| {
        let Piece::Text(text) = piece else { return None };
        if let Some((_, rest)) = text.split_once("${") {
            let said = if rest.contains('}') {
                "a reference that nobody expands"
            } else {
                "a reference that is not closed"
            };
            return Some((said.to_owned(), "write ${NAME}".to_owned()));
        }
        self::template(text, &every).pieces().iter().find_map(|piece| match piece {
            // Upper case only: `$1` or `{{name}}` may well be meant literally.
            Piece::Var { name, .. }
                if name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) =>
            {
                Some((
                    format!("a reference to {name} in a spelling that is not expanded"),
                    format!("write ${{{name}}}"),
                ))
            }
            _ => None,
        })
    })
}

/// `${…}`: a variable with or without a default, or one of the prefixed and named forms.
fn braced(rest: &str) -> Option<(Piece, usize)> {
    // Another reference before the end means this one is not closed; looking further would cost the square.
    let inner = &rest[2..];
    let stop = inner
        .bytes()
        .zip(inner.bytes().skip(1).chain([0]))
        .position(|(a, b)| a == b'}' || (a, b) == (b'$', b'{'))?;
    let inner = inner[stop..].starts_with('}').then(|| &inner[..stop])?;
    let end = 2 + stop;
    let piece = match inner.split_once(':') {
        Some(("env", name)) => var(name)?,
        Some(("input", id)) if !id.is_empty() => Piece::Input(id.to_owned()),
        Some(("workspaceFolder", _)) => Piece::Folder(ConfigFolder::Workspace),
        Some((name, default)) => {
            let default = default.strip_prefix('-')?;
            is_variable(name)
                .then(|| Piece::Var { name: name.to_owned(), default: Some(default.to_owned()) })?
        }
        None => match inner {
            "workspaceFolder" | "workspaceRoot" => Piece::Folder(ConfigFolder::Workspace),
            "workspaceFolderBasename" => Piece::Folder(ConfigFolder::WorkspaceName),
            "userHome" => Piece::Folder(ConfigFolder::Home),
            "CLAUDE_PLUGIN_ROOT" | "PLUGIN_ROOT" => Piece::Folder(ConfigFolder::Plugin),
            "pathSeparator" | "/" => Piece::Text(std::path::MAIN_SEPARATOR_STR.to_owned()),
            name => var(name)?,
        },
    };
    Some((piece, end + 1))
}

fn dollar(rest: &str) -> Option<(Piece, usize)> {
    let name = &rest[1..];
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    Some((var(&name[..end])?, 1 + end))
}

fn between(rest: &str, open: &str, close: &str) -> Option<(Piece, usize)> {
    let inner = rest.strip_prefix(open)?;
    // Only between double braces are blanks nothing: in `100% of 5%` stands no reference.
    let blank = if open == "{{" { ' ' } else { '_' };
    let end =
        inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != blank).unwrap_or(inner.len());
    let name = inner[end..].starts_with(close).then(|| inner[..end].trim())?;
    Some((var(name)?, open.len() + end + close.len()))
}

fn var(name: &str) -> Option<Piece> {
    is_variable(name).then(|| Piece::Var { name: name.to_owned(), default: None })
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
