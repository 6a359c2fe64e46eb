use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::policy::{RuleSet, ToolAccess};
use super::*;
use crate::catalog::{CatalogNames, ServerTools, Snapshot};
use crate::fault::{Fault, FaultKind, Severity, Stage};
use crate::model::{AgentRules, Limits, TrifectaPolicy};
use crate::names::lookup::NameMatch;
use crate::names::{NameForm, NameTable, ServerName, ShownName, UserId};
use crate::text::Globs;

mod arguments;
mod clashes;
mod closed;
mod files;
mod narrowed;
mod reach;
mod rules;
mod toxic;
mod views;

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn shown(name: &str) -> ShownName {
    ShownName::parse(name).unwrap()
}

pub(super) fn tool(definition: Value) -> Tool {
    Tool::parse(&server("s"), definition, &Limits::default()).unwrap()
}

fn named(name: &str) -> Tool {
    tool(json!({"name": name, "description": "says", "inputSchema": {"type": "object"}}))
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn globs(patterns: &[&str]) -> Globs {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    Globs::new(&patterns).unwrap()
}

fn part_of(name: &str, definitions: &[Value]) -> ServerTools {
    let texts: Vec<String> = definitions.iter().map(Value::to_string).collect();
    ServerTools::parse(&server(name), texts.iter().map(String::as_str), &Limits::default())
}

fn part(name: &str, tools: &[&str]) -> ServerTools {
    let definitions: Vec<Value> =
        tools.iter().map(|tool| json!({"name": tool, "inputSchema": {"type": "object"}})).collect();
    part_of(name, &definitions)
}

/// A rule given by what it does.
struct Does<F>(&'static str, F);

impl<F: Fn(Tool) -> Result<Verdict, RuleError> + Send + Sync> Rule for Does<F> {
    fn name(&self) -> &str {
        self.0
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        (self.1)(tool)
    }
}

/// Denies by `server/tool`.
#[derive(Default)]
struct Denies(BTreeSet<String>);

impl Authorize for Denies {
    fn authorize(&self, _user: &UserId, tool: &Tool) -> Decision {
        match self.0.contains(&format!("{}/{}", tool.server, tool.name)) {
            true => Decision::Deny("not for you".to_owned()),
            false => Decision::Allow,
        }
    }
}

/// What a permit and the approvals of files say.
struct Asked<'a> {
    scene: &'a Scene,
    permit: &'a dyn Authorize,
}

impl Permissions for Asked<'_> {
    fn access(&self, tool: &Tool) -> Result<ToolAccess, ToolRefusal> {
        let access = PermittedBy(&self.scene.user, self.permit).access(tool)?;
        match self.scene.approvals.get(&tool.server) {
            Some(rules) => Ok(access.and(rules.access(tool, tool.marks.risk).map_err(ToolRefusal::Denied)?)),
            None => Ok(access),
        }
    }

    fn trifecta(&self) -> TrifectaPolicy {
        self.scene.trifecta
    }
}

/// Everything a view is made from, with the usual values.
struct Scene {
    snapshot: Arc<Snapshot>,
    shapers: BTreeMap<ServerName, Shaper>,
    rules: Shaper,
    agent: AgentRules,
    form: NameForm,
    user: UserId,
    permit: Denies,
    /// Of each server, what needs approval.
    approvals: BTreeMap<ServerName, RuleSet>,
    trifecta: TrifectaPolicy,
    local: Option<ServerName>,
    servers: Vec<ServerName>,
    /// Servers the user may not know of.
    hidden: BTreeSet<ServerName>,
    /// Servers whose rules are not those of the view before.
    new_rules: BTreeSet<ServerName>,
}

impl Scene {
    fn of(snapshot: Snapshot) -> Self {
        Self {
            snapshot: Arc::new(snapshot),
            shapers: BTreeMap::new(),
            rules: Shaper::default(),
            agent: AgentRules::default(),
            form: NameForm::Full,
            user: UserId::local(),
            permit: Denies::default(),
            approvals: BTreeMap::new(),
            trifecta: TrifectaPolicy::default(),
            local: None,
            servers: Vec::new(),
            hidden: BTreeSet::new(),
            new_rules: BTreeSet::new(),
        }
    }

    fn new(parts: &[(&str, &[&str])]) -> Self {
        Self::of(Snapshot::default().with_all(parts.iter().map(|(name, tools)| part(name, tools))))
    }

    fn rule(&mut self, server_name: &str, tool_name: &'static str, rule: impl Rule + 'static) {
        let rule = Does("one", move |tool: Tool| match tool.name.as_str() == tool_name {
            true => rule.apply(tool),
            false => Ok(Verdict::keep(tool)),
        });
        self.shapers.entry(server(server_name)).or_default().push(Box::new(rule));
    }

    fn made(&self, before: Option<&View>) -> Result<View, ClashError> {
        self.permitted(&self.permit, &self.snapshot, before)
    }

    fn permitted(
        &self,
        permit: &dyn Authorize,
        snapshot: &Arc<Snapshot>,
        before: Option<&View>,
    ) -> Result<View, ClashError> {
        View::new(&ViewRequest {
            snapshot,
            shapers: &self.shapers,
            rules: &self.rules,
            agent: &self.agent,
            form: self.form,
            user: &self.user,
            permissions: &Asked { scene: self, permit },
            local: self.local.as_ref(),
            denied: None,
            visible: &|server| !self.hidden.contains(server),
            servers: &self.servers,
            before,
            same_rules: &|server| !self.new_rules.contains(server),
        })
    }

    #[track_caller]
    fn view(&self) -> View {
        self.made(None).unwrap()
    }
}

fn listed(view: &View) -> Vec<&str> {
    view.tools().iter().map(|tool| tool.name.as_str()).collect()
}

/// `server/tool` of what a text leads to; nothing if not exactly one.
fn target(view: &View, text: &str) -> Option<String> {
    match view.find(text) {
        NameMatch::One(index) => {
            let tool = &view.at(index)?.tool;
            Some(format!("{}/{}", tool.server, tool.name))
        }
        _ => None,
    }
}

/// What holds for every view: names are distinct, and each leads to its own tool.
#[track_caller]
fn check_names(view: &View) {
    let mut seen = BTreeSet::new();
    for shown in view.tools().iter().chain(view.shadowed()) {
        let own = format!("{}/{}", shown.tool.server, shown.tool.name);
        assert!(seen.insert(shown.name.clone()), "{} twice", shown.name);
        assert_eq!(target(view, shown.name.as_str()).as_deref(), Some(own.as_str()), "{}", shown.name);
        assert_eq!(target(view, shown.full.as_str()).as_deref(), Some(own.as_str()), "{}", shown.full);
    }
}

#[track_caller]
fn only(faults: &[Fault]) -> &Fault {
    assert_eq!(faults.len(), 1, "{faults:?}");
    &faults[0]
}

#[track_caller]
fn check_fault(fault: &Fault, kind: FaultKind, severity: Severity, tool: &str, words: &[&str]) {
    assert_eq!((fault.stage, fault.kind, fault.severity), (Stage::Shape, kind, severity), "{fault}");
    assert_eq!(fault.tool.as_ref().map(|tool| tool.as_str()), Some(tool), "{fault}");
    for word in words {
        assert!(fault.message.contains(word), "{fault} has no {word:?}");
    }
}
