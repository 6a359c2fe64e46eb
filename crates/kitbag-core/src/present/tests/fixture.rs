//! Views for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::catalog::{ServerTools, Snapshot};
use crate::model::{AgentRules, Limits};
use crate::names::{NameForm, ServerName, UserId};
use crate::shape::{AllowAll, PermittedBy, Shaper, View, ViewRequest};

/// A server's name.
pub(crate) fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

/// The tools of one server.
pub(crate) fn part(name: &str, tools: &Value) -> ServerTools {
    let texts: Vec<String> = tools.as_array().unwrap().iter().map(Value::to_string).collect();
    let part = ServerTools::parse(&server(name), texts.iter().map(String::as_str), &Limits::default());
    assert!(part.rejected.is_empty(), "{name}: {:?}", part.rejected);
    part
}

/// All tools of some servers.
pub(crate) fn snapshot<'a>(servers: impl IntoIterator<Item = (&'a str, Value)>) -> Arc<Snapshot> {
    let parts: Vec<ServerTools> = servers.into_iter().map(|(name, tools)| part(name, &tools)).collect();
    let names: Vec<ServerName> = parts.iter().map(|part| part.server.clone()).collect();
    let snapshot = Snapshot::default().with_all(parts);
    Arc::new(snapshot.with_gateways(&names).unwrap_or(snapshot))
}

/// A view of a snapshot by rules.
pub(crate) fn shaped(
    snapshot: &Arc<Snapshot>,
    shapers: &BTreeMap<ServerName, Shaper>,
    agent: &AgentRules,
    form: NameForm,
) -> View {
    let local = ServerName::local();
    View::new(&ViewRequest {
        snapshot,
        shapers,
        rules: &Shaper::default(),
        agent,
        form,
        user: &UserId::local(),
        permissions: &PermittedBy(&UserId::local(), &AllowAll),
        local: Some(&local),
        denied: None,
        visible: &|_| true,
        servers: &[],
        before: None,
        same_rules: &|_| true,
    })
    .unwrap()
}

/// A view of all tools of some servers; `local` are the program's own.
pub(crate) fn view<'a>(servers: impl IntoIterator<Item = (&'a str, Value)>) -> View {
    shaped(&snapshot(servers), &BTreeMap::new(), &AgentRules::default(), NameForm::Full)
}

macro_rules! recorded {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../../testdata/tools/", $name, ".json")))),*]
    };
}

const RECORDED: &[(&str, &str)] = recorded!(
    "atlassian" "chrome-devtools" "context7" "everything" "fetch" "filesystem" "firecrawl" "git"
    "github" "memory" "notion" "playwright" "postgres" "sequential-thinking" "slack" "sqlite"
    "tavily" "time"
);

/// The recorded servers.
pub(crate) fn recorded() -> Vec<(&'static str, Value)> {
    RECORDED.iter().map(|(name, text)| (*name, serde_json::from_str(text).unwrap())).collect()
}

/// A view of the recorded servers.
pub(crate) fn recorded_view() -> View {
    view(recorded())
}
