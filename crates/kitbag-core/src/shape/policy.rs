//! Who may see and call what, and who has to be asked: rules compiled into sets, and what they mean for one tool.
//!
//! Deny beats approve beats allow. Rules that look at arguments decide when a call is made; what they may permit is
//! listed.

use std::sync::Arc;

use globset::{GlobSet, GlobSetBuilder};
use serde_json::{Map, Value};

use super::Decision;
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, SourceLocation, Stage};
use crate::model::{AgentRules, Risk};
use crate::names::ServerName;

mod condition;
mod rule;

#[cfg(test)]
mod tests;

use condition::Purpose;
use rule::Selector;
pub(super) use rule::selector;
pub use rule::{BadRule, PolicyRule};

/// A rule as it was written, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// What it says.
    pub text: String,
    /// Where it stands, if in a file.
    pub place: Option<SourceLocation>,
}

/// The three lists of rules of one place, as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTexts {
    /// Only these, where there is such a list.
    pub allow: Option<Vec<RuleText>>,
    /// Never these.
    pub deny: Vec<RuleText>,
    /// These after a person's approval.
    pub approve: Vec<RuleText>,
}

/// The rules of one place: a group, an agent, a server.
#[derive(Debug)]
pub struct RuleSet {
    /// Whose they are, as people write it: `[groups.dev]`.
    pub whose: String,
    /// Only these, where there is such a list.
    allow: Option<RuleList>,
    deny: RuleList,
    approve: RuleList,
}

impl RuleSet {
    /// Puts rules together.
    pub fn new(
        whose: impl Into<String>,
        allow: Option<Vec<PolicyRule>>,
        deny: Vec<PolicyRule>,
        approve: Vec<PolicyRule>,
    ) -> Self {
        let (deny, approve) = (RuleList::new(deny), RuleList::new(approve));
        Self { whose: whose.into(), allow: allow.map(RuleList::new), deny, approve }
    }

    /// Reads rules. One that cannot be read is a fault and restricts what it could have meant: it allows nothing, or
    /// denies everything, or has a person asked about everything.
    pub fn read(whose: &str, texts: &RuleTexts) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        let mut read = |list: &[RuleText], otherwise: &[&str]| -> Vec<PolicyRule> {
            let mut rules = Vec::with_capacity(list.len());
            for RuleText { text, place } in list {
                match PolicyRule::parse(text, place.clone()) {
                    Ok(rule) => rules.push(rule),
                    Err(bad) => {
                        let fault = Fault::error(FaultKind::WrongValue, format!("{bad}, in {whose}"));
                        faults.push(Fault { stage: Stage::Shape, place: place.clone(), ..fault });
                        let all = otherwise.iter().map(|all| PolicyRule::parse(all, place.clone()));
                        rules.extend(all.filter_map(Result::ok));
                    }
                }
            }
            rules
        };
        // What an unreadable one was to allow is not known, so the list allows nothing.
        let allow = texts.allow.as_ref().map(|allow| read(allow, &[]));
        let allow = allow.map(|rules| {
            if rules.len() < texts.allow.as_ref().map_or(0, Vec::len) { Vec::new() } else { rules }
        });
        let (deny, approve) = (read(&texts.deny, &["*"]), read(&texts.approve, &["*"]));
        (Self::new(whose, allow, deny, approve), faults)
    }

    /// The rules of an agent.
    pub fn of_agent(agent: &AgentRules) -> (Self, Vec<Fault>) {
        let texts = |rules: &[String]| -> Vec<RuleText> {
            // One that is empty stands for none at all.
            let rules = rules.iter().filter(|rule| !rule.is_empty());
            rules.map(|text| RuleText { text: text.clone(), place: None }).collect()
        };
        let whose = match &agent.name {
            Some(name) => format!("[agents.{name}]"),
            None => "the agent".to_owned(),
        };
        let allow = (!agent.allow.is_empty()).then(|| texts(&agent.allow));
        let texts = RuleTexts { allow, deny: texts(&agent.deny), approve: texts(&agent.approve) };
        Self::read(&whose, &texts)
    }

    /// What the rules let be done with a tool; why it is denied otherwise.
    pub fn access(&self, tool: &Tool, risk: Risk) -> Result<ToolAccess, String> {
        let path = format!("{}/{}", tool.server, tool.name);
        let about = |list: &RuleList, purpose| list.about(tool, &path, risk, purpose);
        let mut access = ToolAccess::default();
        for rule in about(&self.deny, Purpose::Restrict) {
            if !rule.is_conditional() {
                let advice = advice(std::slice::from_ref(&rule), tool, risk);
                return Err(format!("denied by {} of {}{advice}", rule.shown(), self.whose));
            }
            access.deny_if.push(self.reference(&rule));
        }
        for rule in about(&self.approve, Purpose::Restrict) {
            if rule.is_conditional() {
                access.ask_if.push(self.reference(&rule));
            } else {
                access
                    .ask
                    .get_or_insert_with(|| format!("{} of {} asks for it", rule.shown(), self.whose).into());
            }
        }
        if let Some(allow) = &self.allow {
            let allowing = about(allow, Purpose::Permit);
            if allowing.is_empty() {
                return Err(format!(
                    "not in the allow list of {}{}",
                    self.whose,
                    advice(&allow.rules, tool, risk)
                ));
            }
            if allowing.iter().all(|rule| rule.is_conditional()) {
                let rules = allowing.iter().map(|rule| self.reference(rule)).collect();
                access.only_if.push(rules);
            }
        }
        Ok(access)
    }

    /// Whether some tool of a server may be permitted, whatever it has.
    pub fn may_show(&self, server: &ServerName) -> bool {
        let is_denied = self.deny.rules.iter().any(|rule| rule.means_all_of(server));
        let may_mean = |allow: &RuleList| allow.rules.iter().any(|rule| rule.may_mean_some_of(server));
        !is_denied && self.allow.as_ref().is_none_or(may_mean)
    }

    /// Every rule, with the list it stands in.
    pub fn rules(&self) -> impl Iterator<Item = (&'static str, &PolicyRule)> {
        let allow = self.allow.iter().flat_map(|list| list.rules.iter().map(|rule| ("allow", &**rule)));
        let deny = self.deny.rules.iter().map(|rule| ("deny", &**rule));
        allow.chain(deny).chain(self.approve.rules.iter().map(|rule| ("approve", &**rule)))
    }

    fn reference(&self, rule: &Arc<PolicyRule>) -> RuleReference {
        RuleReference { rule: rule.clone(), whose: self.whose.as_str().into() }
    }
}

/// What to do where a rule looks at what a tool does, and nobody has said that or approved what its server says.
fn advice(rules: &[Arc<PolicyRule>], tool: &Tool, risk: Risk) -> String {
    if !rules.iter().any(|rule| rule.assumes(risk)) {
        return String::new();
    }
    let server = &tool.server;
    format!("; what it does is not known: kitbag pins approve {server}, or \"risk\" under [servers.{server}]")
}

/// Rules of one kind; globs over tools are looked up together.
#[derive(Debug, Default)]
struct RuleList {
    rules: Vec<Arc<PolicyRule>>,
    globs: GlobSet,
    /// Which rule each glob is.
    of_glob: Vec<usize>,
    others: Vec<usize>,
}

impl RuleList {
    fn new(rules: Vec<PolicyRule>) -> Self {
        let rules: Vec<Arc<PolicyRule>> = rules.into_iter().map(Arc::new).collect();
        let (mut set, mut of_glob, mut others) = (GlobSetBuilder::new(), Vec::new(), Vec::new());
        for (index, rule) in rules.iter().enumerate() {
            if let Selector::Tools(globs) = &rule.selector {
                set.add(globs.0.clone());
                of_glob.push(index);
            } else {
                others.push(index);
            }
        }
        match set.build() {
            Ok(globs) => Self { rules, globs, of_glob, others },
            // Together they are too large; each by itself is not.
            Err(_) => Self {
                others: (0..rules.len()).collect(),
                rules,
                globs: GlobSet::empty(),
                of_glob: Vec::new(),
            },
        }
    }

    /// The rules about a tool.
    fn about(&self, tool: &Tool, path: &str, risk: Risk, purpose: Purpose) -> Vec<Arc<PolicyRule>> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let globs = self.globs.matches(path).into_iter().filter_map(|glob| self.of_glob.get(glob).copied());
        let means = |index: &usize| self.rules[*index].means(tool, path, risk, purpose);
        let mut found: Vec<usize> = globs.chain(self.others.iter().copied().filter(means)).collect();
        found.sort_unstable();
        found.into_iter().map(|index| self.rules[index].clone()).collect()
    }
}

/// A rule, and whose it is.
#[derive(Clone, Debug)]
struct RuleReference {
    rule: Arc<PolicyRule>,
    whose: Arc<str>,
}

impl RuleReference {
    /// With its place: for the operator.
    fn shown(&self) -> String {
        format!("{} of {}", self.rule.shown(), self.whose)
    }

    /// Where files are is not for a model to know.
    fn told(&self) -> String {
        format!("the rule {:?}", self.rule.text)
    }
}

/// What a user may do with a tool that they may see.
#[derive(Clone, Debug, Default)]
pub struct ToolAccess {
    /// Why a person has to be asked before every call.
    ask: Option<Arc<str>>,
    deny_if: Vec<RuleReference>,
    ask_if: Vec<RuleReference>,
    /// Of each of these at least one has to hold.
    only_if: Vec<Vec<RuleReference>>,
}

/// What becomes of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallDecision {
    /// It is made.
    Allow,
    /// A person is asked, for a reason.
    Ask(String),
    /// It is not made.
    Deny {
        /// Why, for whoever makes the call.
        told: String,
        /// The same with the place of the rule, for the operator.
        rule: String,
    },
}

impl ToolAccess {
    /// By what a program's own permit decided; why it is denied otherwise.
    pub fn of(decision: Decision) -> Result<Self, String> {
        match decision {
            Decision::Allow => Ok(Self::default()),
            Decision::Ask => Ok(Self::ask("the program asks for it")),
            Decision::Deny(why) => Err(why),
        }
    }

    /// A person is asked before every call, for a reason.
    pub fn ask(why: impl Into<Arc<str>>) -> Self {
        Self { ask: Some(why.into()), ..Self::default() }
    }

    /// Both hold.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.ask = self.ask.or(other.ask);
        self.deny_if.extend(other.deny_if);
        self.ask_if.extend(other.ask_if);
        self.only_if.extend(other.only_if);
        self
    }

    /// Whether every call is made, whatever its arguments.
    pub fn is_free(&self) -> bool {
        self.ask.is_none() && self.deny_if.is_empty() && self.ask_if.is_empty() && self.only_if.is_empty()
    }

    /// Whether a person is asked before every call, and why.
    pub fn asks(&self) -> Option<&str> {
        self.ask.as_deref()
    }

    /// What becomes of a call with these arguments: those that are sent.
    pub fn decide(&self, arguments: &Map<String, Value>) -> CallDecision {
        let holds = |rule: &&RuleReference| rule.rule.holds(arguments, Purpose::Restrict);
        if let Some(rule) = self.deny_if.iter().find(holds) {
            let denied = |rule: &str| format!("its arguments are denied by {rule}");
            return CallDecision::Deny { told: denied(&rule.told()), rule: denied(&rule.shown()) };
        }
        let permits = |rule: &RuleReference| rule.rule.holds(arguments, Purpose::Permit);
        if let Some(rules) = self.only_if.iter().find(|rules| !rules.iter().any(permits)) {
            let denied = |name: fn(&RuleReference) -> String| {
                let rules: Vec<String> = rules.iter().map(name).collect();
                format!("its arguments are not those of {}", rules.join(" or "))
            };
            return CallDecision::Deny {
                told: denied(RuleReference::told),
                rule: denied(RuleReference::shown),
            };
        }
        let asking = self.ask_if.iter().find(holds).map(|rule| format!("{} asks for it", rule.shown()));
        match self.ask.as_deref().map(str::to_owned).or(asking) {
            Some(why) => CallDecision::Ask(why),
            None => CallDecision::Allow,
        }
    }

    /// What it depends on, one sentence each, for `kitbag why`.
    pub fn conditions(&self) -> Vec<String> {
        let denied = self.deny_if.iter().map(|rule| format!("not with arguments of {}", rule.shown()));
        let only = self.only_if.iter().map(|rules| {
            let rules: Vec<String> = rules.iter().map(RuleReference::shown).collect();
            format!("only with arguments of {}", rules.join(" or "))
        });
        let asked = self
            .ask_if
            .iter()
            .map(|rule| format!("after a person's approval with arguments of {}", rule.shown()));
        denied.chain(only).chain(asked).collect()
    }

    /// Whether the same rules hold in both.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |one: &[RuleReference], two: &[RuleReference]| {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| Arc::ptr_eq(&one.rule, &two.rule))
        };
        self.ask == other.ask
            && same(&self.deny_if, &other.deny_if)
            && same(&self.ask_if, &other.ask_if)
            && self.only_if.len() == other.only_if.len()
            && self.only_if.iter().zip(&other.only_if).all(|(one, two)| same(one, two))
    }
}
