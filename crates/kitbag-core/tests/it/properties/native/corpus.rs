//! Views of the recorded tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag_core::catalog::{ServerTools, Snapshot};
use kitbag_core::names::NameForm;
use kitbag_core::shape::View;
use kitbag_core::{Limits, ServerName};
use serde_json::Value;
use testkit::corpus::{self, Recorded};

use crate::properties::corpora;

pub(crate) fn part(server: &str, definitions: &[Value]) -> ServerTools {
    let texts: Vec<String> = definitions.iter().map(Value::to_string).collect();
    let server = ServerName::parse(server).unwrap();
    ServerTools::parse(&server, texts.iter().map(String::as_str), &Limits::default())
}

/// 305 tools of 18 servers.
pub(crate) fn servers() -> Vec<ServerTools> {
    parts(corpus::servers())
}

/// 527 tools of 70 servers.
pub(crate) fn live() -> Vec<ServerTools> {
    parts(corpus::livemcpbench())
}

fn parts(recorded: Vec<Recorded>) -> Vec<ServerTools> {
    recorded.iter().map(|one| part(&one.server, &one.tools)).collect()
}

pub(crate) fn view(parts: Vec<ServerTools>) -> View {
    corpora::view(&Arc::new(Snapshot::default().with_all(parts)), &BTreeMap::new(), NameForm::Full)
}
