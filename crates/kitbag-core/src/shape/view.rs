//! What one user's agent sees of a snapshot: the tools that are left, each with the one name it is listed and
//! called by.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use super::policy::ToolAccess;
use super::trifecta::ToxicSet;
use super::unreadable::denied_fault;
use super::{Permissions, RuleOutcome, RuleStep, Shaped, Shaper};
use crate::catalog::{Snapshot, Tool, Unreachable, named_others, seen_as, twin_tools};
use crate::fault::{Fault, FaultKind, Stage};
use crate::model::{AgentRules, Limits};
use crate::names::lookup::{MatchedBy, NameIndex, NameMatch, NameRow};
use crate::names::{NameForm, ServerName, ShownName, ToolName, UserId};
use crate::schema::{Schema, SchemaError};

mod agent;
mod hidden;
mod kept;
mod naming;
mod narrow;
mod reach;
mod toxic;

use agent::AgentFilter;
pub use hidden::HiddenTool;
use hidden::held_faults;
use kept::Kept;
use narrow::Narrowing;
use reach::Reach;
use toxic::Toxic;

/// One tool as an agent sees it.
#[derive(Debug)]
pub struct ViewTool {
    /// What it is listed and called by.
    pub name: ShownName,
    /// Its name in full, which always works.
    pub full: ShownName,
    /// The tool, shaped.
    pub tool: Tool,
    /// What the rules did to it.
    pub trail: Vec<RuleStep>,
    /// What its user may do with it: whether a person is asked, and which arguments are denied.
    pub access: ToolAccess,
    /// The same without what comes of the other tools of the view.
    own_access: ToolAccess,
    /// The tool before the rules, to tell whether all of this still holds.
    base: Arc<Tool>,
    input: OnceLock<Result<Schema, SchemaError>>,
    own_input: OnceLock<Result<Schema, SchemaError>>,
    output: OnceLock<Option<Schema>>,
}

impl ViewTool {
    /// The schema a model's arguments are checked against, compiled on first need.
    pub fn input(&self, limits: &Limits) -> &Result<Schema, SchemaError> {
        self.input.get_or_init(|| Schema::compile(&self.tool.input, limits))
    }

    /// The server's own, for arguments that were changed on the way.
    pub fn own_input(&self, limits: &Limits) -> &Result<Schema, SchemaError> {
        self.own_input.get_or_init(|| match self.tool.own_input() {
            Some(own) => Schema::compile(own, limits),
            None => Schema::compile(&serde_json::Value::Bool(true), limits),
        })
    }

    /// Whether rules made another schema of the server's own.
    pub fn has_other_input(&self) -> bool {
        !Arc::ptr_eq(&self.tool.input, &self.base.input) && self.tool.input != self.base.input
    }

    /// What its structured results are said to be, if that can be checked.
    pub fn output(&self, limits: &Limits) -> Option<&Schema> {
        let compiled = || Schema::compile(self.tool.output.as_ref()?, limits).ok();
        self.output.get_or_init(compiled).as_ref()
    }

    /// Arguments to show as examples: those an operator wrote down, or one made from the schema.
    pub fn examples(&self) -> Vec<serde_json::Value> {
        if self.tool.examples.is_empty() {
            crate::schema::example(&self.tool.input).into_iter().collect()
        } else {
            self.tool.examples.clone()
        }
    }
}

/// Two tools want one name, and the agent wants to know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name {name} is wanted by a local tool and by {server}/{tool}")]
pub struct ClashError {
    /// The name.
    pub name: ShownName,
    /// The server.
    pub server: ServerName,
    /// Its tool.
    pub tool: String,
}

/// The rules of each server.
pub trait Shapers {
    /// Those of one server, where it has any.
    fn of(&self, server: &ServerName) -> Option<&Shaper>;

    /// The servers that offer nothing because a restriction cannot be read, and why.
    fn closed(&self) -> Vec<(&ServerName, &str)>;
}

impl Shapers for BTreeMap<ServerName, Shaper> {
    fn of(&self, server: &ServerName) -> Option<&Shaper> {
        self.get(server)
    }

    fn closed(&self) -> Vec<(&ServerName, &str)> {
        self.iter().filter_map(|(server, shaper)| Some((server, shaper.closed_reason()?))).collect()
    }
}

/// What a view is made from.
pub struct ViewRequest<'a> {
    /// All tools.
    pub snapshot: &'a Arc<Snapshot>,
    /// The rules of each server, where it has any.
    pub shapers: &'a dyn Shapers,
    /// Rules for all tools, after those of their server.
    pub rules: &'a Shaper,
    /// What the agent may see.
    pub agent: &'a AgentRules,
    /// Which form of name tools have, unless a rule says otherwise.
    pub form: NameForm,
    /// For whom.
    pub user: &'a UserId,
    /// What the user may do with tools, besides what the agent's own rules say.
    pub permissions: &'a dyn Permissions,
    /// Under which name local tools stand in the snapshot, if there are any.
    pub local: Option<&'a ServerName>,
    /// Why the user may have nothing, where files say so: told once, in the view's faults.
    pub denied: Option<&'a str>,
    /// Which servers the user may know of at all. Of their tools the permissions decide.
    pub visible: &'a dyn Fn(&ServerName) -> bool,
    /// Every server in use, whether or not its tools are known.
    pub servers: &'a [ServerName],
    /// A view made before: shaped tools and their compiled schemas are taken over from it where neither the
    /// tool nor the rules changed. Who may see what is asked anew.
    pub before: Option<&'a View>,
    /// Whether the rules for the tools of this server, those for all tools included, are the ones `before`
    /// was made by.
    pub same_rules: &'a dyn Fn(&ServerName) -> bool,
}

/// Notes about tools that come of the other tools of a view.
type BesideOthers = HashMap<(ServerName, ToolName), Vec<Fault>>;

/// What one user's agent sees.
#[derive(Debug)]
pub struct View {
    snapshot: Arc<Snapshot>,
    user: UserId,
    agent: AgentRules,
    /// Those that are listed, then those that only their full name reaches.
    all: Vec<Arc<ViewTool>>,
    listed: usize,
    /// What makes it a part of another.
    narrowing: Narrowing,
    reach: Arc<Reach>,
    lookup: NameIndex,
    left_out: Vec<HiddenTool>,
    faults: Vec<Fault>,
    /// What tools are beside one another, by whose they are; found out when somebody asks.
    beside: OnceLock<BesideOthers>,
    /// What its tools could do together; where nothing depends on it, found out when somebody asks.
    toxic: OnceLock<Option<Toxic>>,
}

impl View {
    /// Makes a view.
    pub fn new(request: &ViewRequest<'_>) -> Result<Self, ClashError> {
        let mut faults = Vec::new();
        let filter = AgentFilter::new(request, &mut faults);
        let (kept, mut left_out) = shape_all(request, &filter, &mut faults);
        let (kept, toxic) = toxic::judge(request, kept, &mut left_out);
        let reach = Arc::new(Reach::new(request, &filter));
        let named = naming::name_all(request, kept, &mut faults)?;
        let (mut listed, shadowed): (Vec<_>, Vec<_>) = named.into_iter().partition(|(_, listed)| *listed);
        listed.sort_by(|(a, _), (b, _)| (a.tool.order, &a.name).cmp(&(b.tool.order, &b.name)));
        let count = listed.len();
        let all: Vec<Arc<ViewTool>> = listed.into_iter().chain(shadowed).map(|(shown, _)| shown).collect();
        let lookup = NameIndex::new(all.iter().map(|shown| row(request.snapshot, shown)));
        let (snapshot, user) = (request.snapshot.clone(), request.user.clone());
        let (agent, narrowing) = (request.agent.clone(), Narrowing::default());
        let (listed, beside) = (count, OnceLock::new());
        Ok(Self {
            snapshot,
            user,
            agent,
            all,
            listed,
            narrowing,
            reach,
            lookup,
            left_out,
            faults,
            beside,
            toxic,
        })
    }

    /// A view of nothing.
    pub fn empty(user: &UserId) -> Self {
        Self {
            snapshot: Arc::default(),
            user: user.clone(),
            agent: AgentRules::default(),
            all: Vec::new(),
            listed: 0,
            narrowing: Narrowing::default(),
            reach: Arc::default(),
            lookup: NameIndex::new([]),
            left_out: Vec::new(),
            faults: Vec::new(),
            beside: OnceLock::new(),
            toxic: OnceLock::new(),
        }
    }

    /// A view of nothing, and why.
    pub fn failed(user: &UserId, fault: Fault) -> Self {
        Self { faults: vec![fault], ..Self::empty(user) }
    }

    /// The same with only some of its tools. The condition stays with it: see [`View::narrowed_like`].
    #[must_use]
    pub fn only(&self, keep: impl Fn(&ViewTool) -> bool + Send + Sync + 'static) -> Self {
        self.narrowed_by(&Narrowing::by(keep))
    }

    /// The same with only those of its tools that another view's conditions keep: what a fresh view of an
    /// agent is to an older one that was narrowed. It is the same view if the other is not narrowed.
    #[must_use]
    pub fn narrowed_like(self: Arc<Self>, other: &Self) -> Arc<Self> {
        let more = other.narrowing.beyond(&self.narrowing);
        if more.is_empty() { self } else { Arc::new(self.narrowed_by(&more)) }
    }

    fn narrowed_by(&self, more: &Narrowing) -> Self {
        let kept = |tools: &[Arc<ViewTool>]| {
            tools.iter().filter(|shown| more.keeps(shown)).cloned().collect::<Vec<_>>()
        };
        let (mut all, shadowed) = (kept(self.tools()), kept(self.shadowed()));
        let listed = all.len();
        all.extend(shadowed);
        let lookup = NameIndex::new(all.iter().map(|shown| row(&self.snapshot, shown)));
        let (snapshot, user, agent) = (self.snapshot.clone(), self.user.clone(), self.agent.clone());
        let (left_out, faults, beside) = (Vec::new(), Vec::new(), OnceLock::new());
        let (narrowing, reach, toxic) = (self.narrowing.and(more), self.reach.clone(), self.toxic.clone());
        Self { snapshot, user, agent, all, listed, narrowing, reach, lookup, left_out, faults, beside, toxic }
    }

    /// Whether it is only some tools of another: a server that has none in it is then no part of it.
    pub fn is_narrowed(&self) -> bool {
        !self.narrowing.is_empty()
    }

    /// The snapshot it was made from.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Whose it is.
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// What its agent asked for.
    pub fn agent(&self) -> &AgentRules {
        &self.agent
    }

    /// The tools, in the order they are listed.
    pub fn tools(&self) -> &[Arc<ViewTool>] {
        self.all.get(..self.listed).unwrap_or_default()
    }

    /// Tools whose name went to another by the agent's clash policy: not listed, reached by their full name.
    pub fn shadowed(&self) -> &[Arc<ViewTool>] {
        self.all.get(self.listed..).unwrap_or_default()
    }

    /// Whether its narrowing lets a tool of another view of the same agent through.
    pub fn keeps(&self, shown: &ViewTool) -> bool {
        self.narrowing.keeps(shown)
    }

    /// The tool a text means.
    pub fn find(&self, text: &str) -> NameMatch {
        self.lookup.find(text)
    }

    /// The tool a text means, and by what kind of name.
    pub fn find_by(&self, text: &str) -> (NameMatch, MatchedBy) {
        self.lookup.find_by(text)
    }

    /// A tool by the number [`View::find`] gave.
    pub fn at(&self, index: usize) -> Option<&Arc<ViewTool>> {
        self.all.get(index)
    }

    /// Whether a tool could be called now, as far as is known.
    pub fn is_available(&self, shown: &ViewTool) -> bool {
        self.snapshot.away(&shown.tool.server).is_none()
    }

    /// What is worth knowing about one of its tools: its definition, and its name beside the others in this view.
    /// What concerns the whole list of its server is told by [`Snapshot::list_notes`].
    pub fn notes_of(&self, shown: &ViewTool) -> Vec<Fault> {
        let beside = self.beside.get_or_init(|| beside_others(&self.all));
        let beside = beside.get(&(shown.tool.server.clone(), shown.tool.name.clone()));
        beside.into_iter().flatten().chain(&shown.tool.notes).cloned().collect()
    }

    /// The servers that cannot be called now, of those the agent and its user may know of.
    pub fn away(&self) -> impl Iterator<Item = (&ServerName, &Unreachable)> {
        self.snapshot.all_away().filter(|(server, _)| self.reach.away.contains(*server))
    }

    /// The servers in use whose tools are not known yet, of those the agent and its user may know of.
    pub fn unlisted(&self) -> impl Iterator<Item = &ServerName> {
        self.reach.unlisted.iter()
    }

    /// What is not in it, and why.
    pub fn left_out(&self) -> &[HiddenTool] {
        &self.left_out
    }

    /// The tools by which private data can be carried off, if there is such a set; those that the policy keeps away for it
    /// counted. A part of a view may say what the whole does.
    pub fn toxic(&self) -> Option<&ToxicSet> {
        self.judged().map(|toxic| &toxic.set)
    }

    fn judged(&self) -> Option<&Toxic> {
        self.toxic.get_or_init(|| Toxic::unset(self.all.iter().map(|shown| &shown.tool))).as_ref()
    }

    /// The same as a fault; how much it weighs is the policy's word.
    pub fn toxic_fault(&self) -> Option<Fault> {
        self.judged().map(Toxic::fault)
    }

    /// What is wrong with rules and names.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

/// The tools whose names look alike, by what a model reads (the operator's name where there is one), and those that speak
/// of others.
fn beside_others(all: &[Arc<ViewTool>]) -> BesideOthers {
    let key =
        |shown: &ViewTool| seen_as(&shown.tool, shown.tool.name_override.as_ref().map(ShownName::as_str));
    let twins = twin_tools(all.iter().map(|shown| (&shown.tool, key(shown))));
    let mut beside = BesideOthers::new();
    for fault in twins.into_iter().chain(named_others(all.iter().map(|shown| &shown.tool))) {
        if let (Some(server), Some(tool)) = (fault.server.clone(), fault.tool.clone()) {
            beside.entry((server, tool)).or_default().push(fault);
        }
    }
    beside
}

/// All names of a tool.
fn row(snapshot: &Snapshot, shown: &ViewTool) -> NameRow {
    let short = snapshot.names().table(NameForm::Short).name(&shown.tool.server, &shown.tool.name);
    NameRow {
        short: short.unwrap_or(&shown.name).clone(),
        shown: shown.name.clone(),
        full: shown.full.clone(),
        server: shown.tool.server.clone(),
        tool: shown.tool.name.clone(),
    }
}

/// Takes every tool through the rules, the agent's wishes and the permissions.
fn shape_all(
    request: &ViewRequest<'_>,
    agent: &AgentFilter<'_>,
    faults: &mut Vec<Fault>,
) -> (Vec<Kept>, Vec<HiddenTool>) {
    let none = Shaper::default();
    // What another user may see says nothing about this one.
    let before = request.before.filter(|view| view.user == *request.user);
    let before = before.map(earlier).unwrap_or_default();
    faults.extend(request.denied.map(denied_fault));
    faults.extend(agent.closed());
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for part in request.snapshot.parts() {
        let shaper = request.shapers.of(&part.server).unwrap_or(&none);
        let has_same_rules = !before.is_empty() && (request.same_rules)(&part.server);
        for base in &part.tools {
            if let Some(shown) = before.get(&Arc::as_ptr(base)).filter(|_| has_same_rules) {
                match agent.access(&shown.tool) {
                    Ok(access) if access.is_same(&shown.own_access) => {
                        kept.push(Kept::Same((*shown).clone()));
                    }
                    Ok(access) => {
                        let (tool, trail) = (shown.tool.clone(), shown.trail.clone());
                        kept.push(Kept::new(tool, trail, access, base));
                    }
                    Err(step) => {
                        left_out.push(HiddenTool::new(base, shown.trail.iter().cloned().chain([step])))
                    }
                }
                continue;
            }
            let mut shaped = shaper.shape(Tool::clone(base));
            if let Some(tool) = shaped.tool.take() {
                let Shaped { tool, trail } = request.rules.shape(tool);
                shaped.trail.extend(trail);
                shaped.tool = tool;
            }
            let Shaped { tool, mut trail } = shaped;
            match tool.map(|tool| (agent.access(&tool), tool)) {
                Some((Ok(access), tool)) => {
                    kept.push(Kept::new(tool, trail, access, base));
                }
                refused => {
                    trail.extend(refused.and_then(|(access, _)| access.err()));
                    faults.extend(failure(base, &trail));
                    left_out.push(HiddenTool::new(base, trail));
                }
            }
        }
    }
    faults.extend(held_faults(&left_out));
    (kept, left_out)
}

fn earlier(view: &View) -> HashMap<*const Tool, &Arc<ViewTool>> {
    view.all.iter().map(|shown| (Arc::as_ptr(&shown.base), shown)).collect()
}

/// A rule that could not do its work is somebody's mistake; one that dropped a tool did what it is for.
fn failure(tool: &Tool, trail: &[RuleStep]) -> Option<Fault> {
    let step = trail.last()?;
    let RuleOutcome::Failed(why) = &step.outcome else { return None };
    let message = format!("the rule {:?} failed on the tool {}: {why}", step.rule, tool.name);
    let fault = Fault::error(FaultKind::RuleFailed, message).of(&tool.server);
    Some(Fault { stage: Stage::Shape, tool: Some(tool.name.clone()), ..fault })
}
