//! The way of one tool: discovered, parsed, shaped, permitted, presentable; and where it ends.

use std::collections::HashMap;

use kitbag::cli::speaks_of;
use kitbag::connect::ReasonClass;
use kitbag::{Kitbag, LinkState, ServerName, ServerStatus, Severity, Tool, View, ViewTool};
use kitbag_core::catalog::Rejected;
use kitbag_core::model::Timeouts;
use kitbag_core::names::NameForm;
use kitbag_core::names::lookup::{NameIndex, NameMatch, NameRow};
use kitbag_core::shape::{RuleOutcome, RuleStep};
use kitbag_core::text::visible;

use super::super::show::changed;

pub(super) const STAGES: [&str; 5] = ["discovered", "parsed", "shaped", "permitted", "presentable"];

/// How far one tool came.
pub(super) struct Walk {
    pub(super) server: String,
    pub(super) tool: Option<String>,
    /// What it is called by.
    pub(super) name: Option<String>,
    pub(super) full: Option<String>,
    pub(super) listed: bool,
    /// What there is to say of the stages it passed, in their order.
    pub(super) passed: Vec<String>,
    pub(super) stop: Option<Stop>,
    /// Why it cannot be called just now, though nothing is against it.
    pub(super) away: Option<String>,
    pub(super) trail: Vec<RuleStep>,
    /// How long a call of it may take.
    pub(super) clocks: Option<Timeouts>,
}

/// Where it ends, and why.
pub(super) struct Stop {
    pub(super) rule: Option<String>,
    pub(super) why: String,
    pub(super) hint: Option<String>,
    pub(super) cause: Cause,
}

/// Whose doing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A rule, a permission, or what its definition is.
    Decided,
    /// Its server is not there.
    Absent,
}

impl Walk {
    pub(super) fn is_callable(&self) -> bool {
        self.stop.is_none() && self.away.is_none()
    }

    fn of(server: impl ToString) -> Self {
        Self {
            server: server.to_string(),
            tool: None,
            name: None,
            full: None,
            listed: false,
            passed: Vec::new(),
            stop: None,
            away: None,
            trail: Vec::new(),
            clocks: None,
        }
    }

    fn stopped(mut self, rule: Option<&str>, why: &str, hint: Option<String>) -> Self {
        let rule = rule.map(str::to_owned);
        self.stop = Some(Stop { rule, why: why.to_owned(), hint, cause: Cause::Decided });
        self
    }
}

/// A server nobody uses, and what would change that.
pub(super) struct Unused {
    pub(super) name: String,
    pub(super) why: &'static str,
    pub(super) hint: String,
}

/// What is looked through.
pub(super) struct Search<'a> {
    pub(super) kit: &'a Kitbag,
    pub(super) view: &'a View,
    /// Names that operators wrote down, with whose tool each is for.
    pub(super) renamed: &'a [(String, ServerName, String)],
    pub(super) unused: &'a [Unused],
    pub(super) agent: Option<&'a str>,
}

/// What a name leads to.
pub(super) enum Way {
    /// To tools, or to the server that may have it; the one a call would mean first.
    To(Vec<Walk>),
    /// Nowhere; these are near.
    Nowhere(Vec<String>),
}

impl Search<'_> {
    pub(super) fn find(&self, name: &str) -> Way {
        let tools: Vec<&Tool> = self.view.snapshot().tools().map(AsRef::as_ref).collect();
        let shown: HashMap<(&ServerName, &str), &ViewTool> = self
            .view
            .tools()
            .iter()
            .chain(self.view.shadowed())
            .map(|shown| ((&shown.tool.server, shown.tool.name.as_str()), shown.as_ref()))
            .collect();
        let of = |tool: &Tool| shown.get(&(&tool.server, tool.name.as_str())).copied();
        let names = self.view.snapshot().names();
        let (full, short) = (names.table(NameForm::Full), names.table(NameForm::Short));
        let rows: Vec<(&Tool, NameRow)> = tools
            .into_iter()
            .filter_map(|tool| {
                let full = full.name(&tool.server, &tool.name)?.clone();
                let shown = of(tool).map_or(&full, |shown| &shown.name).clone();
                let short = short.name(&tool.server, &tool.name).unwrap_or(&shown).clone();
                let (server, own) = (tool.server.clone(), tool.name.clone());
                Some((tool, NameRow { shown, full, short, server, tool: own }))
            })
            .collect();
        let lookup = NameIndex::new(rows.iter().map(|(_, row)| row.clone()));
        let near = match lookup.find(name) {
            NameMatch::One(at) => return Way::To(vec![self.walk(rows[at].0, of(rows[at].0))]),
            NameMatch::Ambiguous(all) => {
                let mut walks: Vec<Walk> =
                    all.iter().map(|at| self.walk(rows[*at].0, of(rows[*at].0))).collect();
                walks.sort_by_key(|walk| walk.stop.is_some());
                return Way::To(walks);
            }
            NameMatch::None { near } => near,
        };
        if let Some((_, server, tool)) = self.renamed.iter().find(|(wish, ..)| wish == name)
            && let Some(tool) = self.view.snapshot().tool(server, tool)
        {
            return Way::To(vec![self.walk(tool, of(tool))]);
        }
        let beyond: Vec<Walk> = self.rejected(name).or_else(|| self.server(name)).into_iter().collect();
        if !beyond.is_empty() {
            return Way::To(beyond);
        }
        Way::Nowhere(near.iter().map(|at| rows[*at].1.shown.to_string()).collect())
    }

    fn walk(&self, tool: &Tool, shown: Option<&ViewTool>) -> Walk {
        let snapshot = self.view.snapshot();
        let away = snapshot.away(&tool.server).map(|away| format!("{}: {}", tool.server, away.why));
        let how = if away.is_some() { "listed it when it was last here" } else { "lists it" };
        let full = snapshot.names().table(NameForm::Full).name(&tool.server, &tool.name);
        let mut walk = Walk {
            tool: Some(tool.name.to_string()),
            full: full.map(ToString::to_string),
            passed: vec![format!("{} {how}", tool.server), noted(tool)],
            away,
            ..Walk::of(&tool.server)
        };
        match shown {
            Some(shown) => self.kept(walk, shown),
            None => {
                let same = |out: &&kitbag_core::shape::HiddenTool| {
                    out.server == tool.server && out.tool == tool.name.as_str()
                };
                walk.trail =
                    self.view.left_out().iter().find(same).map(|out| out.trail.clone()).unwrap_or_default();
                self.left_out(walk)
            }
        }
    }

    /// One that is in the view.
    fn kept(&self, mut walk: Walk, shown: &ViewTool) -> Walk {
        let rules = changed(shown);
        walk.passed.push(if rules.is_empty() {
            "unchanged".to_owned()
        } else {
            format!("changed by {}", rules.join(", "))
        });
        let who = match self.agent {
            Some(agent) => format!("for the user {} and the agent {agent}", self.view.user()),
            None => format!("for the user {}", self.view.user()),
        };
        let asks = shown.access.asks().map(|why| format!(", after a person approves the call: {why}"));
        let conditions = shown.access.conditions().into_iter().map(|condition| format!(", {condition}"));
        let warned = self.view.toxic_fault().filter(|fault| fault.severity == Severity::Warning);
        let warned = warned.map(|fault| format!("; {}", fault.message));
        walk.passed.push(who + &asks.into_iter().chain(conditions).chain(warned).collect::<String>());
        walk.clocks = self.kit.clocks(&shown.tool.server);
        walk.trail.clone_from(&shown.trail);
        if let Err(error) = shown.input(&self.kit.limits()) {
            return walk.stopped(None, &format!("its schema cannot be used: {error}"), None);
        }
        walk.listed = self.view.tools().iter().any(|row| std::ptr::eq(row.as_ref(), shown));
        walk.name = Some(shown.name.to_string());
        walk.passed.push(if walk.listed {
            format!("as {}", shown.name)
        } else {
            format!("as {}, not listed: another tool has the name it would have", shown.name)
        });
        walk
    }

    /// One that something was decided about.
    fn left_out(&self, mut walk: Walk) -> Walk {
        let server = walk.server.clone();
        let Some(last) = walk.trail.last().cloned() else {
            return walk.stopped(None, "it has no name that could be shown", None);
        };
        let why = match last.outcome {
            RuleOutcome::Dropped(why) => why,
            RuleOutcome::Failed(why) => format!("failed: {why}"),
            RuleOutcome::Kept | RuleOutcome::Changed => "it has no name that could be shown".to_owned(),
        };
        let rule = last.rule.as_str();
        let section = format!("[servers.{}]", toml_key(&server));
        let hint = match (rule, self.agent) {
            ("agent", Some(agent)) => Some(format!("servers and allow of [agents.{agent}] in kitbag.toml")),
            ("filter", _) => {
                Some(format!("include and exclude of {section}, in kitbag.toml or where {server} is defined"))
            }
            (
                "name" | "description" | "args" | "examples" | "options" | "category" | "tag" | "names"
                | "marks",
                _,
            ) => Some(format!("{section} in kitbag.toml")),
            ("trifecta", _) => Some("trifecta of [policy], or risk of the tool, in kitbag.toml".to_owned()),
            _ => None,
        };
        if matches!(rule, "agent" | "permission" | "trifecta") {
            walk.passed.push(String::new());
        }
        walk.stopped(Some(rule), &why, hint)
    }

    /// A definition that could not be taken over.
    fn rejected(&self, name: &str) -> Option<Walk> {
        let fits = |server: &ServerName, rejected: &Rejected| {
            let Some(tool) = &rejected.tool else { return false };
            let pair = format!("{server}/{tool}");
            visible(name) == *tool
                || visible(name) == pair
                || folded(name) == folded(&format!("mcp_{server}_{tool}"))
        };
        let mut all =
            self.view.snapshot().parts().flat_map(|part| part.rejected.iter().map(move |one| (part, one)));
        let (part, rejected) = all.find(|(part, rejected)| fits(&part.server, rejected))?;
        let walk = Walk {
            tool: rejected.tool.clone(),
            passed: vec![format!("{} lists it", part.server)],
            ..Walk::of(&part.server)
        };
        Some(walk.stopped(None, &rejected.why, None))
    }

    /// A server that the name speaks of and that is not there.
    fn server(&self, name: &str) -> Option<Walk> {
        let means = |server: &str| ServerName::parse(server).is_ok_and(|server| speaks_of(&server, name));
        let status = self.kit.status();
        let is_away = |row: &ServerStatus| {
            let name = ServerName::parse(&row.name);
            !row.status.state.is_connected()
                || name.is_ok_and(|name| self.view.snapshot().away(&name).is_some())
        };
        let stop = match status.iter().find(|row| means(&row.name) && is_away(row)) {
            Some(row) => (row.name.clone(), absence(row)),
            None => {
                let unused = self.unused.iter().find(|unused| means(&unused.name))?;
                let stop = Stop {
                    rule: None,
                    why: format!("{} {}", unused.name, unused.why),
                    hint: Some(unused.hint.clone()),
                    cause: Cause::Absent,
                };
                (unused.name.clone(), stop)
            }
        };
        Some(Walk { stop: Some(stop.1), ..Walk::of(stop.0) })
    }
}

/// What there is to say of a definition.
fn noted(tool: &Tool) -> String {
    tool.notes.iter().map(|note| note.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn absence(row: &ServerStatus) -> Stop {
    let (name, state) = (&row.name, row.status.state);
    let cause = if state == LinkState::Held { Cause::Decided } else { Cause::Absent };
    let (why, hint) = match state {
        LinkState::Held => match &row.status.error {
            Some(error) => (format!("{name} is held: {error}"), error.hint.clone().unwrap_or_default()),
            None => (format!("{name} is held until it is approved"), format!("kitbag trust {name}")),
        },
        LinkState::Disabled => (format!("{name} is switched off"), format!("kitbag servers enable {name}")),
        _ => {
            let error = row.status.error.as_ref();
            let is_config = error.is_some_and(|reason| reason.class == ReasonClass::Config);
            // A server whose entry cannot be used never ran, and has no log.
            let hint = if is_config { "kitbag doctor".to_owned() } else { format!("kitbag logs {name}") };
            let error = error.map(|error| format!(": {error}")).unwrap_or_default();
            (format!("{name} is {}{error}", state.as_str()), hint)
        }
    };
    Stop { rule: None, why, hint: Some(hint), cause }
}

/// A name as shown names are made, without regard to case.
fn folded(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// A name as a key of TOML.
fn toml_key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.chars().all(plain) { name.to_owned() } else { format!("{name:?}") }
}
