mod dialects;
mod env;
mod export;
mod interpolate;
mod model;
mod paste;
mod restrictions;
mod source;

use std::path::Path;

use super::Dialect;
use super::document::{Document, Loaded, Reading, read};
use crate::model::{Limits, ServerSpec, ServerTarget, Template};

/// Reads a text as some file of some program.
fn load(file: &str, dialect: &str, text: &str) -> Document {
    let limits = Limits::default();
    let dialect = Dialect::by_id(dialect);
    read(Path::new(file), text, Reading { dialect, workspace: None, limits: &limits })
}

/// The one server of a text.
#[track_caller]
fn one(dialect: &str, text: &str) -> Loaded {
    let mut document = load("x.json", dialect, text);
    assert_eq!(document.servers.len(), 1, "{document:?}");
    document.servers.remove(0)
}

#[track_caller]
fn spec(dialect: &str, text: &str) -> ServerSpec {
    let loaded = one(dialect, text);
    loaded.spec.unwrap_or_else(|| panic!("{text}: {:?}", loaded.faults))
}

/// The messages of an entry's faults, with their hints.
fn said(loaded: &Loaded) -> Vec<String> {
    loaded.faults.iter().map(|fault| format!("{} {fault}", fault.severity.as_str())).collect()
}

/// Everything of a server that decides what is reached, as written.
fn written(spec: &ServerSpec) -> String {
    let texts: Vec<String> =
        spec.templates().iter().map(|(key, text)| format!("{key}={}", text.written())).collect();
    format!("{} {}", spec.transport().as_str(), texts.join(" "))
}

fn address(spec: &ServerSpec) -> &Template {
    match &spec.link {
        ServerTarget::InProcess(_) => panic!("no file has one"),
        ServerTarget::Remote(endpoint) => &endpoint.url,
        ServerTarget::Stdio(program) => program.command.as_ref().unwrap(),
    }
}
