//! What must run and who may call what, told from the files alone: a second, much smaller reading of the rules that
//! the engine obeys.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{AgentRule, Entry, Own, ServerRule, Settings, Shared};

/// The tools that are looked at. Every server has these, and as many more as its entry says.
pub(super) const TOOLS: [&str; 5] = ["add", "count", "echo", "env", "pid"];

pub(super) const AGENTS: [&str; 2] = ["helper", "reader"];

/// What a handle read when it last looked: a file that could not be read then says what it said before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    pub(super) shared: Shared,
    /// Whether everybody's file could not be read, and never could before: it may have switched off any server.
    pub(super) is_shared_lost: bool,
    /// The user's own files, by server.
    pub(super) own: BTreeMap<String, Own>,
    /// Servers with a file of the user's own that cannot be read, and never could before: it may have switched them off.
    pub(super) own_lost: BTreeSet<String>,
    pub(super) settings: SettingsSeen,
    /// The user's answers, by the place of the entry and the server.
    pub(super) answers: BTreeMap<(Place, String), String>,
    /// The value of the variable.
    pub(super) variable: String,
    pub(super) user: String,
}

/// What is known of `kitbag.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum SettingsSeen {
    #[default]
    None,
    Said(Settings),
    /// It could not be read, and never could before.
    Unreadable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Shared,
    Own,
}

/// What one server process is: handles share it exactly where this is equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    pub(super) server: String,
    /// Whose it is; nobody's when users share it.
    pub(super) owner: Option<String>,
    /// The values in its environment.
    pub(super) values: BTreeMap<&'static str, String>,
}

/// One server that is used.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Running {
    /// None while an answer is missing.
    pub(super) process: Option<Process>,
    pub(super) tools: BTreeSet<String>,
    /// Globs are not needed: one name each.
    exclude: Vec<&'static str>,
    include: Option<&'static str>,
    approve: Approve,
    closed: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Approve {
    None,
    One(&'static str),
    All,
}

/// What must become of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// As if there were no such tool.
    Hidden,
    /// Refused, since nobody can be asked.
    NeedsYes,
    /// Its server lacks a value.
    Away,
    Runs(Process),
}

impl Seen {
    fn rules(&self) -> Settings {
        match &self.settings {
            SettingsSeen::Said(settings) => settings.clone(),
            SettingsSeen::None | SettingsSeen::Unreadable => Settings::default(),
        }
    }

    /// The servers in use.
    pub(super) fn running(&self) -> BTreeMap<String, Running> {
        let names: BTreeSet<&String> = self.shared.keys().chain(self.own.keys()).collect();
        names.into_iter().filter_map(|name| Some((name.clone(), self.one(name)?))).collect()
    }

    fn one(&self, server: &str) -> Option<Running> {
        let shared = self.shared.get(server);
        let (entry, place, switched) = match self.own.get(server) {
            Some(Own::Entry(entry)) => (entry, Place::Own, None),
            Some(Own::Switch(on)) => (shared?, Place::Shared, Some(*on)),
            None => (shared?, Place::Shared, None),
        };
        let rules = self.rules();
        let rule = rules.servers.get(server);
        let is_off = matches!(rule, Some(ServerRule::Off | ServerRule::CountsAsOff(_)));
        if entry.is_broken() || is_off || !switched.unwrap_or(entry.enabled) {
            return None;
        }
        let by_title = matches!(rule, Some(ServerRule::ClosedByTitle(_)));
        Some(Running {
            process: self.process(server, entry, place),
            tools: TOOLS.map(str::to_owned).into_iter().chain(extra(entry.extra)).collect(),
            // What is excluded anywhere stays excluded.
            exclude: match rule {
                Some(ServerRule::Exclude(tool)) => entry.exclude.into_iter().chain([*tool]).collect(),
                _ => entry.exclude.into_iter().collect(),
            },
            include: match rule {
                Some(ServerRule::Include(tool)) => Some(*tool),
                _ => None,
            },
            approve: match rule {
                Some(ServerRule::Approve(tool)) => Approve::One(tool),
                Some(ServerRule::AllNeedApproval(_)) => Approve::All,
                _ => Approve::None,
            },
            closed: self.is_shared_lost
                || self.own_lost.contains(server)
                || by_title
                || rules.all_closed
                || matches!(rule, Some(ServerRule::Closed(_))),
        })
    }

    fn process(&self, server: &str, entry: &Entry, place: Place) -> Option<Process> {
        let mut values = BTreeMap::from([("TOKEN", entry.token.clone())]);
        if entry.asks {
            values.insert("ANSWER", self.answers.get(&(place, server.to_owned()))?.clone());
        }
        if entry.refers {
            values.insert("VARIABLE", self.variable.clone());
        }
        let by_rule = self.rules().servers.get(server) == Some(&ServerRule::PerUser);
        let is_own = place == Place::Own || entry.per_user || by_rule || entry.asks;
        Some(Process { server: server.to_owned(), owner: is_own.then(|| self.user.clone()), values })
    }

    /// Whether the user may have nothing at all.
    fn is_denied(&self) -> bool {
        self.settings == SettingsSeen::Unreadable
            || self.rules().denied.is_some_and(|(user, _)| user == self.user)
    }

    /// The agents that are known, with `None` for no agent.
    pub(super) fn agents(&self) -> Vec<Option<&'static str>> {
        let rules = self.rules();
        let named = AGENTS.into_iter().filter(|agent| rules.agents.contains_key(*agent));
        [None].into_iter().chain(named.map(Some)).collect()
    }

    /// Whether a rule keeps a tool of this name away.
    pub(super) fn hides(&self, agent: Option<&str>, server: &str, tool: &str) -> bool {
        let Some(running) = self.one(server).filter(|_| self.sees(agent, server)) else { return true };
        let is_allowed = match self.agent(agent) {
            Some(AgentRule::Allow(_, one)) => one == tool,
            _ => true,
        };
        let is_excluded = running.exclude.contains(&tool) || running.include.is_some_and(|one| one != tool);
        !is_allowed || is_excluded || running.closed
    }

    fn agent(&self, agent: Option<&str>) -> Option<AgentRule> {
        self.rules().agents.remove(agent?)
    }

    /// Whether anything of a server may be seen.
    fn sees(&self, agent: Option<&str>, server: &str) -> bool {
        let is_asked_for = match self.agent(agent) {
            None => true,
            Some(AgentRule::Allow(of, _) | AgentRule::Server(of)) => of == server,
            Some(AgentRule::Closed(_)) => false,
        };
        is_asked_for && !self.is_denied()
    }

    /// Whether a server may be seen that lists nothing, since an answer is missing.
    pub(super) fn lacks_values(&self, agent: Option<&str>, server: &str) -> bool {
        self.sees(agent, server) && self.one(server).is_some_and(|running| running.process.is_none())
    }

    /// Whether a server in use has a tool.
    pub(super) fn has(&self, server: &str, tool: &str) -> bool {
        self.one(server).is_some_and(|running| running.tools.contains(tool))
    }

    /// What must become of a call to one tool of one server.
    pub(super) fn verdict(&self, agent: Option<&str>, server: &str, tool: &str) -> Verdict {
        let running = self.one(server).filter(|running| running.tools.contains(tool));
        let Some(running) = running.filter(|_| !self.hides(agent, server, tool)) else {
            return Verdict::Hidden;
        };
        match (running.process, running.approve) {
            (None, _) => Verdict::Away,
            (_, Approve::All) => Verdict::NeedsYes,
            (_, Approve::One(one)) if one == tool => Verdict::NeedsYes,
            (Some(process), _) => Verdict::Runs(process),
        }
    }

    /// The full names an agent sees of servers that run.
    pub(super) fn names(&self, agent: Option<&str>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (server, running) in self.running() {
            let is_seen = |tool: &&String| {
                matches!(self.verdict(agent, &server, tool), Verdict::Runs(_) | Verdict::NeedsYes)
            };
            names.extend(running.tools.iter().filter(is_seen).map(|tool| format!("mcp_{server}_{tool}")));
        }
        names
    }
}

fn extra(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(|number| format!("extra_{number:04}"))
}
