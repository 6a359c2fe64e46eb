//! Everything that files, flags and code say, compiled once and never changed afterwards.
//!
//! Opening, reloading, restarting and changes from code make a new world; links are given their plan by it, views
//! are made of it, calls read it. Nobody else keeps a copy, so what is shown is what is enforced is what runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use kitbag_core::config::layers::{EntryState, Layer, MergedServer as Row};
use kitbag_core::config::settings::Settings;
use kitbag_core::model::{AgentRules, Mode, PinMode, Timeouts};
use kitbag_core::names::NameForm;
use kitbag_core::shape::policy::RuleSet;
use kitbag_core::shape::{Shaper, Shapers, approvals, shaper};
use kitbag_core::{Fault, Limits, ServerName, ServerSpec, ShownName, Transport, UserId};

use crate::Setup;
use crate::connect::{
    self, Key, LinkContext, LinkState, LinkStatus, Plan, Reason, StartServers, link_limits, log_folder,
};
use crate::setup::Fallbacks;

mod in_order;
mod policy;

pub(crate) use in_order::InOrder;
pub(crate) use policy::{Permits, Policy, Within};

/// The state of one server: its connection, its tool list, what is odd about it.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub transport: Option<Transport>,
    /// How its link is.
    pub status: LinkStatus,
    /// Definitions of its list that cannot be used as tools.
    pub left_out: usize,
    /// What is worth knowing about its list and its tools.
    pub notes: Vec<Fault>,
}

/// One server that is used.
pub(crate) struct Server {
    /// What its link is given.
    pub(crate) plan: Plan,
    /// By what its link is shared; none while its values are not known.
    pub(crate) key: Option<Key>,
    /// What the files do to its tools.
    pub(crate) shaper: Shaper,
    /// Which of its calls need a person's approval.
    pub(crate) approvals: RuleSet,
    /// Whether it is only started on first need.
    pub(crate) lazy: bool,
    /// In whose own file it stands, if in one.
    pub(crate) user: Option<UserId>,
    layer: Layer,
    faults: Vec<Fault>,
}

impl Server {
    /// Whether its tools are held to their definitions. One that is typed for a single command may have any name.
    pub(crate) fn is_pinned(&self) -> bool {
        self.layer != Layer::Flags
    }

    /// Its description.
    pub(crate) fn spec(&self) -> &ServerSpec {
        &self.plan.spec
    }
}

/// What a world is compiled from, besides what the files say.
pub(crate) struct Makings<'a> {
    /// In place of the limits of the files.
    pub(crate) limits: Option<&'a Limits>,
    /// Only these servers.
    pub(crate) only: Option<&'a [ServerName]>,
    /// When servers are started.
    pub(crate) start: StartServers,
}

/// Everything that is configured, at one moment.
pub(crate) struct World {
    /// Counts the worlds of one handle.
    pub(crate) version: u64,
    pub(crate) setup: Arc<Setup>,
    /// What its links share.
    pub(crate) context: Arc<LinkContext>,
    /// The limits in force.
    pub(crate) limits: Arc<Limits>,
    link_limits: Arc<Limits>,
    /// The servers in use.
    pub(crate) servers: BTreeMap<ServerName, Arc<Server>>,
    /// Servers that are known but not used.
    pub(crate) others: Vec<ServerStatus>,
    /// Which server takes the calls of which other one that is not available.
    pub(crate) fallbacks: BTreeMap<ServerName, ServerName>,
    /// Who is kept from what.
    pub(crate) policy: Policy,
    /// When tools are held until their definition is approved: the strictest of all files.
    pub(crate) pins: PinMode,
    /// Whether the audit log keeps arguments in full.
    pub(crate) audit_payload: bool,
    /// Which form of name tools have, unless a rule says otherwise.
    pub(crate) form: NameForm,
    /// How tools are shown, unless a rule says otherwise.
    pub(crate) mode: Mode,
    /// Under which name local tools stand in the catalog: one that no server has.
    pub(crate) local: ServerName,
    /// Names that operators wrote down: no other tool gets one of these.
    pub(crate) reserved: BTreeSet<ShownName>,
    /// What is wrong with the files, with rules and with times.
    pub(crate) faults: Vec<Fault>,
}

impl World {
    /// A world in which nothing is configured but what the setup says of folders and limits.
    pub(crate) fn empty(setup: Arc<Setup>, context: Arc<LinkContext>) -> Self {
        let limits = Arc::new(setup.limits.clone());
        Self {
            version: 0,
            link_limits: Arc::new(link_limits(&limits)),
            limits,
            servers: BTreeMap::new(),
            others: Vec::new(),
            fallbacks: BTreeMap::new(),
            policy: Policy::default(),
            pins: PinMode::default(),
            audit_payload: false,
            form: NameForm::Full,
            mode: Mode::default(),
            local: ServerName::local(),
            reserved: BTreeSet::new(),
            faults: Vec::new(),
            setup,
            context,
        }
    }

    /// Compiles what a setup says. What did not change since the world before is taken over from it.
    pub(crate) fn compile(setup: Arc<Setup>, makings: &Makings<'_>, before: &Self) -> Self {
        let limits = makings.limits.unwrap_or(&setup.limits);
        let same_limits = *limits == *before.limits;
        let (limits, link_limits) = if same_limits {
            (before.limits.clone(), before.link_limits.clone())
        } else {
            (Arc::new(limits.clone()), Arc::new(link_limits(limits)))
        };
        let context = before.context.within(setup.env(), &setup.folders);
        let is_same_place = Arc::ptr_eq(&context, &before.context);
        let may_share = same_limits && is_same_place && setup.same_values(&before.setup);
        // In order of name, as a rule: a map is made of that faster than by inserting.
        let mut servers: Vec<(ServerName, Arc<Server>)> = Vec::with_capacity(before.servers.len());
        let mut known = InOrder::new(&before.servers);
        for row in
            setup.merged.servers.iter().filter(|row| row.state == EntryState::Used && setup.switched_on)
        {
            let Some(spec) = &row.spec else { continue };
            if makings.only.is_some_and(|only| !only.contains(&spec.name)) {
                continue;
            }
            let known = known.get(&spec.name).filter(|server| may_share && server.is_of(row, spec));
            let server = match known {
                Some(known) => known.clone(),
                None => {
                    let plan = plan(&setup, row, spec, [&limits, &link_limits]);
                    Arc::new(Server::compile(plan, row, &limits, &context, makings))
                }
            };
            servers.push((spec.name.clone(), server));
        }
        let servers: BTreeMap<ServerName, Arc<Server>> = servers.into_iter().collect();
        let (policy, bad) = Policy::of(&setup, &servers);
        let of_servers = servers.values().flat_map(|server| &server.faults);
        let Fallbacks { by_server: fallbacks, faults: loose } = setup.fallbacks();
        let faults = setup.faults().chain(of_servers).chain(&bad).chain(&loose).cloned().collect();
        fn last<T>(setup: &Setup, of: fn(&Settings) -> Option<T>) -> Option<T> {
            setup.settings.iter().rev().find_map(|(_, settings)| of(settings))
        }
        Self {
            version: before.version + 1,
            others: others(&setup),
            fallbacks,
            policy,
            pins: setup
                .settings
                .iter()
                .filter_map(|(_, settings)| settings.pins)
                .max()
                .unwrap_or_else(|| setup.usual_pins()),
            audit_payload: last(&setup, |settings| settings.audit_payload).unwrap_or_default(),
            form: last(&setup, |settings| settings.names).unwrap_or(NameForm::Full),
            mode: last(&setup, |settings| settings.mode).unwrap_or_default(),
            local: local_owner(&setup),
            reserved: reserved(&servers),
            context,
            limits,
            link_limits,
            servers,
            faults,
            setup,
        }
    }

    /// What the files say about an agent: the last one decides, but what an earlier one restricts and cannot be read
    /// stays closed.
    pub(crate) fn agent(&self, name: &str) -> Option<AgentRules> {
        let mut rules = self.agents().rfind(|(agent, _)| agent == name).map(|(_, rules)| rules.clone())?;
        let mut same = self.agents().filter(|(agent, _)| agent == name);
        let all = self.setup.settings.iter().find_map(|(_, settings)| settings.all_agents.clone());
        rules.closed = same.find_map(|(_, rules)| rules.closed.clone()).or(all);
        Some(rules)
    }

    /// All agents, those of later layers after those of earlier ones.
    pub(crate) fn agents(&self) -> impl DoubleEndedIterator<Item = &(String, AgentRules)> {
        self.setup.settings.iter().flat_map(|(_, settings)| &settings.agents)
    }

    /// Whether a server's rules are the same in both.
    pub(crate) fn same_server(&self, other: &Self, server: &ServerName) -> bool {
        match (self.servers.get(server), other.servers.get(server)) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Shapers for World {
    fn of(&self, server: &ServerName) -> Option<&Shaper> {
        self.servers.get(server).map(|server| &server.shaper)
    }

    fn closed(&self) -> Vec<(&ServerName, &str)> {
        self.servers
            .iter()
            .filter_map(|(name, server)| Some((name, server.shaper.closed_reason()?)))
            .collect()
    }
}

impl Server {
    fn compile(plan: Plan, row: &Row, limits: &Limits, context: &LinkContext, makings: &Makings<'_>) -> Self {
        let ((shaper, mut faults), (approvals, bad)) = (shaper(&plan.spec), approvals(&plan.spec));
        faults.extend(bad);
        faults.extend(Timeouts::faults(&plan.spec, limits));
        Self {
            key: Key::of(&plan, context),
            shaper,
            approvals,
            lazy: makings.start.waits(plan.spec.lazy),
            user: row.user.clone(),
            layer: row.layer.clone(),
            faults,
            plan,
        }
    }

    /// Whether it was compiled from just this.
    fn is_of(&self, row: &Row, spec: &Arc<ServerSpec>) -> bool {
        (Arc::ptr_eq(&self.plan.spec, spec) || self.plan.spec == *spec)
            && self.layer == row.layer
            && self.user == row.user
    }
}

/// How a server is to be run; the limits of everybody and those of links.
fn plan(setup: &Setup, row: &Row, spec: &Arc<ServerSpec>, [limits, link_limits]: [&Arc<Limits>; 2]) -> Plan {
    let owner = setup.is_own(row, spec).then(|| setup.user.clone());
    let resolved = setup.resolve(spec, &row.layer);
    let plan = Plan { owner, ..Plan::new(spec, resolved, setup.env(), limits, link_limits) };
    // A file of the working folder may be anybody's, also one that was approved.
    let is_the_persons = row.user.is_some() || setup.user == UserId::local() && row.layer != Layer::Project;
    if is_the_persons { plan.of_the_person() } else { plan }
}

/// The log file of a server, as the user of a setup has it.
pub fn log_file(setup: &Setup, name: &ServerName) -> PathBuf {
    let row = setup.merged.get(name);
    let is_own = row.is_some_and(|row| row.spec.as_ref().is_some_and(|spec| setup.is_own(row, spec)));
    let folder = log_folder(&setup.folders.state.join("logs"), is_own.then_some(&setup.user));
    connect::log_file(&folder, name)
}

/// Names that operators wrote down.
fn reserved(servers: &BTreeMap<ServerName, Arc<Server>>) -> BTreeSet<ShownName> {
    let rules = servers.values().flat_map(|server| &server.spec().rules.tools);
    rules.filter_map(|(_, rules)| ShownName::parse(rules.name.as_deref()?).ok()).collect()
}

fn local_owner(setup: &Setup) -> ServerName {
    let taken = |name: &str| {
        setup.merged.servers.iter().any(|row| row.name == name)
            || setup.catalog.iter().any(|part| part.server.as_str() == name)
    };
    let names = std::iter::once("local".to_owned()).chain((2..).map(|number| format!("local_{number}")));
    let free = names.filter(|name| !taken(name)).find_map(|name| ServerName::parse(&name).ok());
    // There are more numbers than servers.
    free.unwrap_or_else(ServerName::local)
}

/// Servers that are known but not used.
fn others(setup: &Setup) -> Vec<ServerStatus> {
    let state = |state: EntryState| match state {
        EntryState::Disabled => Some(LinkState::Disabled),
        EntryState::Held | EntryState::Unpinned => Some(LinkState::Held),
        EntryState::Broken => Some(LinkState::Failed),
        _ => None,
    };
    let row = |row: &Row| {
        let mut status = LinkStatus::new(
            state(row.state)
                .filter(|_| !matches!(row.layer, Layer::Host(_)) || row.state == EntryState::Disabled)?,
        );
        status.error = row
            .faults
            .iter()
            .max_by_key(|fault| fault.severity)
            .filter(|_| matches!(row.state, EntryState::Broken | EntryState::Unpinned))
            .map(|fault| Arc::new(Reason::of_config([fault])));
        Some(ServerStatus {
            name: row.name.clone(),
            transport: row.spec.as_deref().map(ServerSpec::transport),
            status,
            left_out: 0,
            notes: Vec::new(),
        })
    };
    setup.merged.servers.iter().filter_map(row).collect()
}
