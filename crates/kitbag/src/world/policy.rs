//! Who is kept from what by the files, whatever a program's own permit says.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kitbag_core::catalog::Tool;
use kitbag_core::config::settings::{Denied, GroupRules, Located};
use kitbag_core::model::{AgentRules, Risk, TrifectaPolicy};
use kitbag_core::shape::policy::{RuleSet, RuleText, RuleTexts, ToolAccess};
use kitbag_core::shape::{Authorize, Decision, Permissions, ToolRefusal};
use kitbag_core::text::{Globs, nearest};
use kitbag_core::{Fault, FaultKind, ServerName, Stage, UserId};

use super::{Server, World};
use crate::Setup;
use crate::pins::{PinVerdict, Pins};

/// Restrictions that hold for every door: what groups may do, who belongs to them, and what is whose.
#[derive(Default)]
pub(crate) struct Policy {
    denied: Vec<Denied>,
    /// Servers that are one user's own.
    owners: BTreeMap<ServerName, UserId>,
    /// The rules of each user who belongs to a group.
    rules: BTreeMap<UserId, Vec<Arc<RuleSet>>>,
    /// The strictest word of all files.
    trifecta: TrifectaPolicy,
    /// Users who belong to a group that no file describes, or to one that cannot be read, and why.
    lost: BTreeMap<UserId, String>,
}

/// A user's groups are those of every file together; where several files describe one group, all of them hold.
struct Groups<'a> {
    described: BTreeMap<&'a str, Vec<Group<'a>>>,
    faults: Vec<Fault>,
}

/// What one file says about a group.
struct Group<'a> {
    rules: Arc<RuleSet>,
    /// Why its members may do nothing.
    closed: Option<&'a str>,
}

impl Group<'_> {
    fn take_in(&self, policy: &mut Policy, user: &UserId) {
        policy.rules.entry(user.clone()).or_default().push(self.rules.clone());
        if let Some(why) = self.closed {
            policy.lost.entry(user.clone()).or_insert_with(|| why.to_owned());
        }
    }
}

impl<'a> Groups<'a> {
    fn of(setup: &'a Setup) -> Self {
        let mut groups = Self { described: BTreeMap::new(), faults: Vec::new() };
        for (name, rules) in setup.settings.iter().flat_map(|(_, settings)| &settings.groups) {
            let (set, faults) = RuleSet::read(&format!("[groups.{name}]"), &texts(rules));
            groups.faults.extend(faults);
            let group = Group { rules: Arc::new(set), closed: rules.closed.as_deref() };
            groups.described.entry(name).or_default().push(group);
        }
        groups
    }

    /// Puts a user into a group.
    fn join(&mut self, policy: &mut Policy, user: &UserId, group: &Located<String>) {
        let Some(described) = self.described.get(group.value.as_str()) else {
            let near = nearest(&group.value, self.described.keys().copied());
            let fault = Fault::error(FaultKind::WrongValue, format!("no group is called {:?}", group.value));
            let fault = match near {
                Some(near) => fault.hint(format!("did you mean {near:?}?")),
                None => fault.hint(format!("add [groups.{}], or remove it from [users.{user}]", group.value)),
            };
            self.faults.push(Fault { stage: Stage::Shape, ..fault }.at(group.place.clone()));
            let why = format!("no group is called {:?} ({})", group.value, group.place);
            policy.lost.entry(user.clone()).or_insert(why);
            return;
        };
        described.iter().for_each(|group| group.take_in(policy, user));
    }
}

/// The rules of a group as they were written.
fn texts(rules: &GroupRules) -> RuleTexts {
    let texts = |list: &[Located<String>]| -> Vec<RuleText> {
        list.iter()
            .map(|rule| RuleText { text: rule.value.clone(), place: Some(rule.place.clone()) })
            .collect()
    };
    RuleTexts {
        allow: rules.allow.as_deref().map(texts),
        deny: texts(&rules.deny),
        approve: texts(&rules.approve),
    }
}

impl Policy {
    /// What the files of a setup say, and what is wrong with it.
    pub(super) fn of(setup: &Setup, servers: &BTreeMap<ServerName, Arc<Server>>) -> (Self, Vec<Fault>) {
        let owner =
            |(name, server): (&ServerName, &Arc<Server>)| Some((name.clone(), server.plan.owner.clone()?));
        let mut policy = Self {
            denied: setup.settings.iter().map(|(_, settings)| settings.denied.clone()).collect(),
            owners: servers.iter().filter_map(owner).collect(),
            trifecta: setup.trifecta(),
            ..Self::default()
        };
        let mut groups = Groups::of(setup);
        let memberships = setup.settings.iter().flat_map(|(_, settings)| &settings.memberships);
        for (user, of_user) in memberships {
            of_user.iter().for_each(|group| groups.join(&mut policy, user, group));
        }
        // The one user nobody has to name belongs to the group of that name.
        let local = UserId::local();
        let own = groups.described.get(local.as_str()).into_iter().flatten();
        own.for_each(|group| group.take_in(&mut policy, &local));
        (policy, groups.faults)
    }

    /// Why a user may have nothing at all, if that is so.
    pub(crate) fn denies(&self, user: &UserId) -> Option<&str> {
        let lost = self.lost.get(user).map(String::as_str);
        lost.or_else(|| self.denied.iter().find_map(|denied| denied.reason(user)))
    }

    /// Why a user may have nothing of a server.
    pub(crate) fn denies_server(&self, user: &UserId, server: &ServerName) -> Option<&str> {
        let is_anothers = self.owners.get(server).is_some_and(|owner| owner != user);
        let hides = || self.rules_of(user).iter().any(|rules| !rules.may_show(server));
        self.denies(user)
            .or_else(|| is_anothers.then_some("it is another user's own"))
            .or_else(|| hides().then_some("a rule of the user's groups keeps all of it away"))
    }

    /// What becomes of tools by which private data can be carried off.
    pub(crate) fn trifecta(&self) -> TrifectaPolicy {
        self.trifecta
    }

    /// The rules of a user's groups.
    pub(crate) fn rules_of(&self, user: &UserId) -> &[Arc<RuleSet>] {
        self.rules.get(user).map(Vec::as_slice).unwrap_or_default()
    }

    /// What the files let a user do with a tool.
    fn access(&self, user: &UserId, tool: &Tool, risk: Risk) -> Result<ToolAccess, String> {
        if let Some(why) = self.denies_server(user, &tool.server) {
            // The rule that says so says more.
            self.rules_of(user).iter().try_for_each(|rules| rules.access(tool, risk).map(drop))?;
            return Err(why.to_owned());
        }
        let mut access = ToolAccess::default();
        for rules in self.rules_of(user) {
            access = access.and(rules.access(tool, risk)?);
        }
        Ok(access)
    }
}

impl Setup {
    /// What is wrong with the rules of groups, and with who belongs to which.
    pub fn rule_faults(&self) -> Vec<Fault> {
        Policy::of(self, &BTreeMap::new()).1
    }
}

/// What the files say about an agent by now, where that is not what they said when its rules were asked for.
pub(crate) struct Within {
    servers: Globs,
    rules: RuleSet,
    closed: Option<String>,
    local: ServerName,
}

impl Within {
    /// None where the rules are as the files have them, or are not the files' at all.
    pub(crate) fn of(world: &World, agent: &AgentRules) -> Option<Self> {
        let name = agent.name.as_deref()?;
        let now = world.agent(name);
        if now.as_ref() == Some(agent) {
            return None;
        }
        let mut closed = match &now {
            Some(now) => now.closed.clone(),
            None => Some(format!("no file describes the agent {name:?} any more")),
        };
        let now = now.unwrap_or_default();
        let servers = Globs::new(&now.servers).unwrap_or_else(|bad| {
            closed.get_or_insert(bad.to_string());
            Globs::default()
        });
        // What cannot be read among the rules restricts already.
        let (rules, _) = RuleSet::of_agent(&now);
        Some(Self { servers, rules, closed, local: world.local.clone() })
    }

    /// Why it may have nothing of a server.
    pub(crate) fn denies_server(&self, server: &ServerName) -> Option<&str> {
        if *server == self.local {
            return None;
        }
        let fits = self.servers.is_empty() || self.servers.fit(server.as_str());
        let is_shown = fits && self.rules.may_show(server);
        self.closed.as_deref().or_else(|| (!is_shown).then_some("its server is no longer one of the agent's"))
    }

    fn access(&self, tool: &Tool, risk: Risk) -> Result<ToolAccess, String> {
        match self.denies_server(&tool.server) {
            Some(why) => Err(why.to_owned()),
            None if tool.server == self.local => Ok(ToolAccess::default()),
            None => self.rules.access(tool, risk),
        }
    }
}

/// The files' restrictions first, then the program's own permit.
pub(crate) struct Permits<'a> {
    pub(crate) world: &'a World,
    pub(crate) user: &'a UserId,
    pub(crate) within: Option<&'a Within>,
    pub(crate) pins: &'a Pins,
    pub(crate) permit: &'a dyn Authorize,
}

impl Permits<'_> {
    /// What its pin says about a tool of a server; tools of the program itself, and those of files, have none.
    pub(crate) fn pinned(&self, tool: &Tool) -> PinVerdict {
        match self.world.servers.get(&tool.server) {
            Some(server) if server.is_pinned() => {
                self.pins.judge(self.world.pins, server.plan.owner.as_ref(), tool)
            }
            _ => PinVerdict::Free,
        }
    }

    pub(crate) fn permitted(&self, tool: &Tool) -> Result<ToolAccess, String> {
        let risk = self.risk(tool);
        let mut access = self.world.policy.access(self.user, tool, risk)?;
        if let Some(within) = self.within {
            access = access.and(within.access(tool, risk)?);
        }
        if let Some(server) = self.world.servers.get(&tool.server) {
            access = access.and(server.approvals.access(tool, risk)?);
        }
        // Others' code: one that panics lets nothing through.
        let decided = catch_unwind(AssertUnwindSafe(|| self.permit.authorize(self.user, tool)));
        let decided =
            decided.unwrap_or_else(|_| Decision::Deny("the code that decides about it panicked".to_owned()));
        Ok(access.and(ToolAccess::of(decided)?))
    }
}

impl Permissions for Permits<'_> {
    fn access(&self, tool: &Tool) -> Result<ToolAccess, ToolRefusal> {
        // First whether the user may know of it at all.
        let access = self.permitted(tool).map_err(ToolRefusal::Denied)?;
        match self.pinned(tool) {
            PinVerdict::Held(why) => Err(ToolRefusal::Held(why)),
            PinVerdict::Free | PinVerdict::Approved => Ok(access),
        }
    }

    /// The operator's word, else the server's in a definition that a person approved.
    fn risk(&self, tool: &Tool) -> Risk {
        let told = tool.marks.risk;
        let is_known = told.effect.is_some() && told.open.is_some();
        if !is_known && self.pinned(tool) == PinVerdict::Approved { told.or(tool.hints.risk()) } else { told }
    }

    fn trifecta(&self) -> TrifectaPolicy {
        self.world.policy.trifecta()
    }
}
