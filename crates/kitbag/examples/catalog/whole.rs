//! A catalog as everyone sees it where nobody wrote a rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag_core::catalog::{ServerTools, Snapshot};
use kitbag_core::model::AgentRules;
use kitbag_core::names::NameForm;
use kitbag_core::shape::{AllowAll, PermittedBy, Shaper, View, ViewRequest};
use kitbag_core::{Limits, ServerName, UserId};

/// The tools of one server, none of them left out.
pub(crate) fn part(name: &ServerName, texts: &[String]) -> ServerTools {
    let part = ServerTools::parse(name, texts.iter().map(String::as_str), &Limits::default());
    assert!(part.rejected.is_empty());
    part
}

/// All tools by their full names, sharing with a view from before what did not change.
pub(crate) fn view(snapshot: &Arc<Snapshot>, before: Option<&View>) -> View {
    View::new(&ViewRequest {
        snapshot,
        shapers: &BTreeMap::new(),
        rules: &Shaper::default(),
        agent: &AgentRules::default(),
        form: NameForm::Full,
        user: &UserId::local(),
        permissions: &PermittedBy(&UserId::local(), &AllowAll),
        local: None,
        denied: None,
        visible: &|_| true,
        servers: &[],
        before,
        same_rules: &|_| true,
    })
    .unwrap()
}
