//! Tools that are not in a view: what left each out, and which of them wait for a person's approval.

use std::collections::BTreeMap;

use super::View;
use super::agent::HELD;
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, Stage};
use crate::names::{NameForm, ServerName, ShownName};
use crate::shape::{RuleOutcome, RuleStep};

/// Names of tools in one line about those that wait for approval.
const HELD_NAMES: usize = 5;

/// A tool that is not in a view, and why.
#[derive(Clone, Debug)]
pub struct HiddenTool {
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: String,
    /// What it went through; the last step says why.
    pub trail: Vec<RuleStep>,
}

impl HiddenTool {
    /// What left it out, and why.
    pub fn reason(&self) -> Option<(&str, &str)> {
        match self.trail.last() {
            Some(RuleStep { rule, outcome: RuleOutcome::Dropped(why) | RuleOutcome::Failed(why) }) => {
                Some((rule, why))
            }
            _ => None,
        }
    }

    /// Why it is left out until a person approves it, if that is why.
    pub fn held_because(&self) -> Option<&str> {
        self.reason().filter(|(rule, _)| *rule == HELD).map(|(_, why)| why)
    }

    pub(super) fn new(tool: &Tool, trail: impl IntoIterator<Item = RuleStep>) -> Self {
        let (server, tool) = (tool.server.clone(), tool.name.to_string());
        Self { server, tool, trail: trail.into_iter().collect() }
    }
}

impl View {
    /// A tool that is left out because nobody approved it as it is, by any of its names, and why.
    pub fn held(&self, name: &str) -> Option<(&HiddenTool, &str)> {
        self.hidden(name).find_map(|hidden| Some((hidden, hidden.held_because()?)))
    }

    /// The tools of this name that are left out. For the operator: whoever the view is for must not hear of them.
    pub fn hidden(&self, name: &str) -> impl Iterator<Item = &HiddenTool> {
        self.left_out.iter().filter(move |hidden| {
            let Some(tool) = self.snapshot.tool(&hidden.server, &hidden.tool) else { return false };
            let is_shown = |form: NameForm| {
                self.snapshot.names().table(form).name(&hidden.server, &tool.name).map(ShownName::as_str)
                    == Some(name)
            };
            name == hidden.tool
                || name.split_once('/') == Some((hidden.server.as_str(), &hidden.tool))
                || NameForm::ALL.into_iter().any(is_shown)
        })
    }
}

/// Tools that wait for approval, a line for each server.
pub(super) fn held_faults(left_out: &[HiddenTool]) -> Vec<Fault> {
    let mut held: BTreeMap<&ServerName, Vec<&HiddenTool>> = BTreeMap::new();
    for hidden in left_out.iter().filter(|hidden| hidden.held_because().is_some()) {
        held.entry(&hidden.server).or_default().push(hidden);
    }
    let fault = |(server, tools): (&ServerName, Vec<&HiddenTool>)| {
        let named: Vec<&str> = tools.iter().take(HELD_NAMES).map(|hidden| hidden.tool.as_str()).collect();
        let more = tools.len() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let why = tools.first().and_then(|hidden| hidden.held_because()).unwrap_or_default();
        let message = format!("held until they are approved: {}{more} ({why})", named.join(", "));
        let fault = Fault::warning(FaultKind::DefinitionChanged, message).of(server);
        Fault { stage: Stage::Shape, ..fault }
            .hint(format!("kitbag pins diff {server}, then kitbag pins approve"))
    };
    held.into_iter().map(fault).collect()
}
