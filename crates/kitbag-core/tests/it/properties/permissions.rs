//! Random users, groups, agents, rules and pins: what is listed is callable is describable, what is denied is found by no
//! name and suggested by none, and arguments decide as a second, plainer reading of the rules says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kitbag_core::catalog::{ServerTools, Snapshot, Tool};
use kitbag_core::model::{AgentRules, Effect, Risk};
use kitbag_core::names::NameForm;
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::shape::policy::{CallDecision, RuleSet, RuleText, RuleTexts, ToolAccess};
use kitbag_core::shape::{Permissions, Shaper, ToolRefusal, View, ViewRequest};
use kitbag_core::{Limits, ServerName, UserId};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{config, size};

const CASES: u32 = size(10_000, 200_000);
const SERVERS: [&str; 3] = ["fs", "mail", "git hub"];
const TOOLS: [&str; 4] = ["read", "write", "send", "read_all"];

/// A rule, and what it says once more: which tools it means, and when.
#[derive(Clone, Debug)]
struct Said {
    server: Option<&'static str>,
    tool: Option<&'static str>,
    risk: Option<&'static str>,
    /// `path == value`, or `!=`.
    path: Option<(bool, &'static str)>,
}

impl Said {
    fn text(&self) -> String {
        let which = match self.risk {
            Some(word) => format!("risk:{word}"),
            None => format!("{}/{}", self.server.unwrap_or("*"), self.tool.unwrap_or("*")),
        };
        match self.path {
            Some((is, value)) => format!("{which} path {} {value}", if is { "==" } else { "!=" }),
            None => which,
        }
    }

    fn means(&self, server: &str, tool: &str, risk: Risk, restricts: bool) -> bool {
        let Some(word) = self.risk else {
            return self.server.is_none_or(|own| own == server) && self.tool.is_none_or(|own| own == tool);
        };
        match (word, risk.effect, restricts) {
            ("open", ..) => risk.open.unwrap_or(restricts),
            (_, None, false) => false,
            ("read", effect, _) => effect == Some(Effect::Read),
            ("write", effect, true) => effect != Some(Effect::Read),
            ("write", effect, false) => effect == Some(Effect::Write),
            (_, None, true) => true,
            (_, effect, _) => effect == Some(Effect::Destructive),
        }
    }

    /// For a call with this path, or with none.
    fn holds(&self, path: Option<&str>, restricts: bool) -> bool {
        let Some((is, value)) = self.path else { return true };
        match path {
            Some(path) => (path == value) == is,
            None => restricts && !is,
        }
    }
}

fn said() -> impl Strategy<Value = Said> {
    let path = option::weighted(0.3, (any::<bool>(), select(&["/a", "/b"][..])));
    let risk = option::weighted(0.2, select(&["read", "write", "destructive", "open"][..]));
    (option::of(select(&SERVERS[..])), option::of(select(&TOOLS[..])), risk, path)
        .prop_map(|(server, tool, risk, path)| Said { server, tool, risk, path })
}

#[derive(Clone, Debug)]
struct Rules {
    allow: Option<Vec<Said>>,
    deny: Vec<Said>,
    approve: Vec<Said>,
}

fn rules() -> impl Strategy<Value = Rules> {
    (option::weighted(0.5, vec(said(), 0..4)), vec(said(), 0..3), vec(said(), 0..3))
        .prop_map(|(allow, deny, approve)| Rules { allow, deny, approve })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Hidden,
    Denied,
    Asked,
    Made,
}

impl Rules {
    fn set(&self) -> RuleSet {
        let texts =
            |list: &[Said]| list.iter().map(|said| RuleText { text: said.text(), place: None }).collect();
        let texts = RuleTexts {
            allow: self.allow.as_deref().map(texts),
            deny: texts(&self.deny),
            approve: texts(&self.approve),
        };
        let (set, faults) = RuleSet::read("[groups.g]", &texts);
        assert_eq!(faults, []);
        set
    }

    fn expects(&self, server: &str, tool: &str, risk: Risk, path: Option<&str>) -> Expected {
        let about = |list: &[Said], restricts| -> Vec<Said> {
            list.iter().filter(|said| said.means(server, tool, risk, restricts)).cloned().collect()
        };
        let (deny, approve) = (about(&self.deny, true), about(&self.approve, true));
        let allow = self.allow.as_deref().map(|list| about(list, false));
        if deny.iter().any(|said| said.path.is_none()) || allow.as_ref().is_some_and(Vec::is_empty) {
            return Expected::Hidden;
        }
        let is_denied = deny.iter().any(|said| said.holds(path, true));
        if is_denied || allow.is_some_and(|list| !list.iter().any(|said| said.holds(path, false))) {
            return Expected::Denied;
        }
        if approve.iter().any(|said| said.holds(path, true)) { Expected::Asked } else { Expected::Made }
    }
}

/// Two groups of one user, and what is held by a pin.
struct Files<'a> {
    groups: &'a [RuleSet],
    held: &'a BTreeSet<(&'static str, &'static str)>,
    risks: &'a BTreeMap<&'static str, Risk>,
}

impl Permissions for Files<'_> {
    fn access(&self, tool: &Tool) -> Result<ToolAccess, ToolRefusal> {
        let mut access = ToolAccess::default();
        for group in self.groups {
            access = access.and(group.access(tool, self.risk(tool)).map_err(ToolRefusal::Denied)?);
        }
        let is_held = self.held.contains(&(tool.server.as_str(), tool.name.as_str()));
        if is_held { Err(ToolRefusal::Held("it changed".to_owned())) } else { Ok(access) }
    }

    fn risk(&self, tool: &Tool) -> Risk {
        self.risks.get(tool.name.as_str()).copied().unwrap_or_default()
    }
}

fn snapshot() -> Arc<Snapshot> {
    let part = |server: &&str| {
        let definition = |tool: &&str| json!({"name": tool, "inputSchema": {"type": "object"}}).to_string();
        let texts: Vec<String> = TOOLS.iter().map(definition).collect();
        ServerTools::parse(
            &ServerName::parse(server).unwrap(),
            texts.iter().map(String::as_str),
            &Limits::default(),
        )
    };
    Arc::new(Snapshot::default().with_all(SERVERS.iter().map(part)))
}

fn risks() -> impl Strategy<Value = BTreeMap<&'static str, Risk>> {
    let effect = option::of(select(&[Effect::Read, Effect::Write, Effect::Destructive][..]));
    let risk = (effect, option::of(any::<bool>())).prop_map(|(effect, open)| Risk { effect, open });
    vec(risk, TOOLS.len()).prop_map(|risks| TOOLS.into_iter().zip(risks).collect())
}

fn strictest(all: impl IntoIterator<Item = Expected>) -> Expected {
    let order = [Expected::Hidden, Expected::Denied, Expected::Asked, Expected::Made];
    all.into_iter().min_by_key(|one| order.iter().position(|other| other == one)).unwrap_or(Expected::Made)
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn s2_18_s1_19_listed_callable_and_describable_are_the_same_for_random_rules_and_pins(
        groups in vec(rules(), 0..3),
        agent in rules(),
        held in btree_set((select(&SERVERS[..]), select(&TOOLS[..])), 0..3),
        risks in risks(),
    ) {
        let snapshot = snapshot();
        let sets: Vec<RuleSet> = groups.iter().map(Rules::set).collect();
        let texts = |list: &[Said]| list.iter().map(Said::text).collect::<Vec<_>>();
        // An agent's list of nothing at all is written as one empty rule.
        let allow = agent.allow.as_deref().map(|list| if list.is_empty() { vec![String::new()] } else { texts(list) });
        let rules = AgentRules {
            allow: allow.unwrap_or_default(),
            deny: texts(&agent.deny),
            approve: texts(&agent.approve),
            ..AgentRules::default()
        };
        let files = Files { groups: &sets, held: &held, risks: &risks };
        let view = View::new(&ViewRequest {
            snapshot: &snapshot,
            shapers: &BTreeMap::new(),
            rules: &Shaper::default(),
            agent: &rules,
            form: NameForm::Full,
            user: &UserId::local(),
            permissions: &files,
            local: None,
            denied: None,
            visible: &|server| sets.iter().all(|set| set.may_show(server)),
            servers: &[],
            before: None,
            same_rules: &|_| true,
        }).unwrap();
        for (server, tool) in SERVERS.iter().flat_map(|server| TOOLS.iter().map(move |tool| (*server, *tool))) {
            let risk = risks[tool];
            let expects = |path: Option<&str>| {
                strictest(groups.iter().chain([&agent]).map(|rules| rules.expects(server, tool, risk, path)))
            };
            let is_hidden = expects(None) == Expected::Hidden || held.contains(&(server, tool));
            let shown = view.tools().iter().find(|shown| shown.tool.server.as_str() == server && shown.tool.name.as_str() == tool);
            prop_assert_eq!(shown.is_none(), is_hidden, "{}/{}", server, tool);
            let Some(shown) = shown else {
                let base = snapshot.tool(&ServerName::parse(server).unwrap(), tool).unwrap();
                let full = snapshot.names().table(NameForm::Full).name(&base.server, &base.name).unwrap();
                for name in [format!("{server}/{tool}"), full.to_string()] {
                    prop_assert!(matches!(view.find(&name), NameMatch::None { .. }), "{} is found", name);
                }
                continue;
            };
            prop_assert!(matches!(view.find(shown.name.as_str()), NameMatch::One(_)));
            for path in [None, Some("/a"), Some("/b"), Some("/c")] {
                let arguments: Map<String, Value> = path.map(|path| ("path".to_owned(), path.into())).into_iter().collect();
                let decided = match shown.access.decide(&arguments) {
                    CallDecision::Allow => Expected::Made,
                    CallDecision::Ask(_) => Expected::Asked,
                    CallDecision::Deny { .. } => Expected::Denied,
                };
                prop_assert_eq!(decided, expects(path), "{}/{} {:?}", server, tool, path);
            }
        }
    }
}
