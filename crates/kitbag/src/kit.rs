//! The handle everything goes through: servers opened, tools listed, calls made, all of it ended.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kitbag_core::catalog::{Part, Snapshot};
use kitbag_core::shape::{AllowAll, Authorize, Shaper, View, shaper};
use kitbag_core::{Fault, FaultKind, Limits, ServerName, ServerSpec, ShownName, Stage, Transport};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Setup;
use crate::connect::{Link, LinkState, Memory, Responder, Status, Surroundings};
use crate::execute::{Hook, Record, Records, Results};
use crate::guard::{self, Keeping, Launcher};
use crate::local::LocalTool;
use crate::roster::Roster;

mod find;
mod present;
mod servers;
mod views;

pub use find::{could_have, speaks_of};
pub use views::{Changes, NoAgent};

use servers::Opened;

/// How to open.
#[derive(Clone, Default)]
pub struct Options {
    /// How long to wait for servers; the setup's own clock otherwise.
    pub wait: Option<Duration>,
    /// Only these servers.
    pub only: Option<Vec<ServerName>>,
    /// Whether those that start on first need are started at once: listing all tools is such a need.
    pub eager: bool,
    /// How servers are started; found out otherwise.
    pub launcher: Option<Launcher>,
    /// Bounds and clocks; the setup's otherwise.
    pub limits: Option<Limits>,
    /// Who answers what servers ask in the middle of a call; nobody otherwise, and they are refused.
    pub responder: Option<Arc<dyn Responder>>,
    /// Tools of the program itself, in the same catalog.
    pub local: Vec<LocalTool>,
    /// Rules for all tools, after those the files ask for.
    pub rules: Arc<Shaper>,
    /// Whoever looks at calls, in order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Who may see and call what; everybody everything otherwise.
    pub permit: Option<Arc<dyn Authorize>>,
}

/// A required server that could not be had.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the required server {server} is not there: {why}")]
pub struct OpenError {
    /// Which.
    pub server: ServerName,
    /// Why.
    pub why: String,
}

/// How one server is.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub transport: Option<Transport>,
    /// How its link is.
    pub status: Status,
}

/// The servers of one setup, opened, and everything that is done with them.
pub struct Kitbag {
    state: Mutex<State>,
    views: Mutex<HashMap<String, (u64, Arc<View>)>>,
    presentations: Mutex<Vec<present::Kept>>,
    around: Arc<Surroundings>,
    roster: Arc<Roster>,
    locals: BTreeMap<String, LocalTool>,
    local: ServerName,
    results: Results,
    records: Records,
    options: Options,
    permit: Arc<dyn Authorize>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// What the files said when they were read last.
struct State {
    setup: Arc<Setup>,
    open: BTreeMap<ServerName, Opened>,
    others: Vec<ServerStatus>,
    shapers: Arc<BTreeMap<ServerName, Shaper>>,
    faults: Vec<Fault>,
    /// Counts the changes of rules: views made by other ones do not hold.
    generation: u64,
}

impl Kitbag {
    /// Opens every server in use and waits for them as long as the setup says. Late ones join.
    pub async fn open(setup: Setup) -> Result<(Self, Vec<Fault>), OpenError> {
        Self::open_with(setup, Options::default()).await
    }

    /// The same, in a particular way.
    pub async fn open_with(setup: Setup, options: Options) -> Result<(Self, Vec<Fault>), OpenError> {
        let wait = options.wait.unwrap_or(options.limits.as_ref().unwrap_or(&setup.limits).wait_agent);
        let kit = Self::start(setup, options);
        kit.wait(wait).await;
        if let Some(error) = kit.missing() {
            kit.close().await;
            return Err(error);
        }
        let faults = kit.faults();
        Ok((kit, faults))
    }

    /// Starts every server in use and waits for none.
    pub fn start(setup: Setup, options: Options) -> Self {
        // What an earlier run left behind, if it was killed together with its guards.
        guard::sweep();
        let limits = options.limits.clone().unwrap_or_else(|| setup.limits.clone());
        let other = setup.env().program("kitbag", setup.env().cwd());
        let launcher = options.launcher.clone().unwrap_or_else(|| Launcher::choose(other.as_deref()));
        let results = Results::new(&setup.folders.state, &limits);
        let local = local_owner(&setup);
        let roster =
            Roster::load(setup.folders.cache.clone(), reserved(&setup), local.clone(), limits.clone());
        let around = Arc::new(Surroundings {
            env: setup.env().clone(),
            launcher,
            memory: Memory::load(setup.folders.cache.clone()),
            logs: Some(setup.folders.state.join("logs")),
            limits,
            responder: options.responder.clone(),
        });
        let setup = Arc::new(setup);
        let read_on = crate::execute::read_result(&results);
        let locals: BTreeMap<String, LocalTool> = options
            .local
            .iter()
            .cloned()
            .chain([read_on])
            .map(|tool| (tool.name().to_owned(), tool))
            .collect();
        let state = State {
            setup: setup.clone(),
            open: BTreeMap::new(),
            others: Vec::new(),
            shapers: Arc::default(),
            faults: Vec::new(),
            generation: 0,
        };
        let kit = Self {
            state: Mutex::new(state),
            views: Mutex::default(),
            presentations: Mutex::default(),
            around,
            roster: Arc::new(roster),
            locals,
            local,
            results,
            records: Records::default(),
            permit: options.permit.clone().unwrap_or_else(|| Arc::new(AllowAll)),
            options,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        let definitions: Vec<String> =
            kit.locals.values().map(|tool| tool.definition().to_string()).collect();
        let texts = definitions.iter().map(String::as_str);
        kit.roster.set(Part::parse(&kit.local, texts, &kit.around.limits));
        kit.take_over(setup);
        kit
    }

    /// Reads the files again. Only what changed is touched: other servers keep their process and session. A file
    /// that cannot be read as a whole, half written perhaps, changes nothing; what is wrong with it is said.
    pub async fn reload(&self) -> Result<Vec<Fault>, crate::SetupError> {
        let request = self.state().setup.request().clone();
        let setup = Setup::discover(&request)?;
        let is_error = |fault: &&Fault| fault.severity == kitbag_core::Severity::Error;
        let unreadable: Vec<Fault> = setup.merged.faults.iter().filter(is_error).cloned().collect();
        if !unreadable.is_empty() {
            return Ok(unreadable);
        }
        for link in self.take_over(Arc::new(setup)) {
            link.gone().await;
        }
        Ok(self.faults())
    }

    /// Opens what a setup uses; the links that end by that.
    fn take_over(&self, setup: Arc<Setup>) -> Vec<Link> {
        let wanted =
            |spec: &ServerSpec| self.options.only.as_ref().is_none_or(|only| only.contains(&spec.name));
        let lazy = |spec: &ServerSpec| spec.lazy && !self.options.eager;
        let (shapers, faults) = shapers(&setup);
        let mut state = self.state();
        let old = std::mem::take(&mut state.open);
        let servers = servers::open(&setup, &self.around, old, wanted, lazy);
        for name in &servers.gone {
            self.roster.remove(name);
        }
        for name in &servers.new {
            let Some(opened) = servers.open.get(name) else { continue };
            let (link, fingerprint) = (opened.lease.link().clone(), opened.fingerprint.clone());
            self.roster.recall(&link, &fingerprint);
            let (stop, following) = (self.stop.clone(), opened.following.clone());
            let follow = self.roster.clone().follow(link, fingerprint, following);
            self.tasks.spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = follow => {}
                }
            });
        }
        self.roster.name_gateways(
            setup.used().map(|spec| &spec.name).chain(setup.catalog.iter().map(|part| &part.server)),
        );
        self.roster.set_all(&setup.catalog);
        state.others = servers::others(&setup);
        state.open = servers.open;
        state.shapers = Arc::new(shapers);
        state.faults = faults;
        state.setup = setup;
        state.generation += 1;
        servers.ending
    }

    /// Waits until every server is connected or hopeless, at most this long.
    pub async fn wait(&self, at_most: Duration) {
        let links = self.links();
        let all = async {
            for link in links.iter().filter(|link| link.status().state != LinkState::Idle) {
                link.settled().await;
            }
        };
        let _ = tokio::time::timeout(at_most, all).await;
        self.catch_up();
    }

    /// The links, in order of name.
    pub fn links(&self) -> Vec<Link> {
        self.state().open.values().map(|opened| opened.lease.link().clone()).collect()
    }

    /// The link to one server.
    pub fn link(&self, server: &ServerName) -> Option<Link> {
        self.state().open.get(server).map(|opened| opened.lease.link().clone())
    }

    /// How surely the servers' processes end with us.
    pub fn keeping(&self) -> Keeping {
        self.around.launcher.keeping()
    }

    /// The bounds and clocks in force.
    pub fn limits(&self) -> &Limits {
        &self.around.limits
    }

    /// How every server is, those that are not used too.
    pub fn status(&self) -> Vec<ServerStatus> {
        let state = self.state();
        let linked = state.open.iter().map(|(name, opened)| ServerStatus {
            name: name.to_string(),
            transport: Some(opened.transport),
            status: opened.lease.link().status(),
        });
        linked.chain(state.others.iter().cloned()).collect()
    }

    /// Every tool of every server as it is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.catch_up();
        self.roster.snapshot()
    }

    /// Tells whenever that changes.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.roster.watch()
    }

    /// The calls made lately, oldest first; their arguments cut and without secrets.
    pub fn recent_calls(&self) -> Vec<Record> {
        self.records.recent()
    }

    /// What is wrong: with servers that are not connected, with definitions that were left out, with what the
    /// files say.
    pub fn faults(&self) -> Vec<Fault> {
        let snapshot = self.snapshot();
        let state = self.state();
        let away = state.open.values().map(|opened| (opened.lease.link(), opened.lease.link().status()));
        // One that is started on first need is not missing.
        let away = away
            .filter(|(_, status)| !status.state.is_connected() && status.state != LinkState::Idle)
            .map(|(link, status)| Fault {
                stage: Stage::Connect,
                ..Fault::error(FaultKind::Unavailable, why(&status)).of(link.name())
            });
        let rejected = snapshot.parts().flat_map(|part| {
            part.rejected.iter().map(|rejected| {
                let tool = rejected
                    .tool
                    .as_ref()
                    .map_or_else(|| "a tool".to_owned(), |tool| format!("the tool {tool:?}"));
                let fault =
                    Fault::warning(FaultKind::BadTool, format!("{tool} is left out: {}", rejected.why));
                Fault { stage: Stage::Catalog, ..fault.of(&part.server) }
            })
        });
        let read = state.setup.faults().chain(&state.faults).cloned();
        away.chain(rejected).chain(read).collect()
    }

    /// Ends every server that nobody else in this process uses, all at once, and waits until nothing of them is
    /// left.
    pub async fn close(self) {
        for record in self.recent_calls() {
            if let Some(link) = self.link(&record.server) {
                link.remark(&record.line());
            }
        }
        self.roster.save_names();
        self.stop.cancel();
        self.tasks.close();
        let open = std::mem::take(&mut self.state().open);
        let ending: Vec<Link> = open.into_values().filter_map(|opened| opened.lease.release()).collect();
        let all = async {
            for link in &ending {
                link.gone().await;
            }
            self.tasks.wait().await;
        };
        let _ = tokio::time::timeout(self.around.limits.wait_end + Duration::from_secs(1), all).await;
    }

    /// A required server that is not connected.
    fn missing(&self) -> Option<OpenError> {
        let state = self.state();
        state.open.values().filter(|opened| opened.required).find_map(|opened| {
            let link = opened.lease.link();
            let status = link.status();
            let error = OpenError { server: link.name().clone(), why: why(&status) };
            (!status.state.is_connected()).then_some(error)
        })
    }

    /// Takes over what links listed a moment ago, without waiting for the tasks that follow them.
    fn catch_up(&self) {
        for opened in self.state().open.values() {
            self.roster.catch_up(opened.lease.link(), &opened.fingerprint, &opened.following);
        }
    }

    /// Everything known before connecting, as it was read last.
    pub fn setup(&self) -> Arc<Setup> {
        self.state().setup.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kitbag {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The rules of every server, as the files ask for them.
fn shapers(setup: &Setup) -> (BTreeMap<ServerName, Shaper>, Vec<Fault>) {
    let mut faults = Vec::new();
    let shapers = setup.used().map(|spec| {
        let (shaper, bad) = shaper(spec);
        faults.extend(bad);
        (spec.name.clone(), shaper)
    });
    let shapers = shapers.collect();
    (shapers, faults)
}

/// Names that operators wrote down: no other tool gets one of these.
fn reserved(setup: &Setup) -> BTreeSet<ShownName> {
    let rules = setup.used().flat_map(|spec| &spec.rules.tools);
    rules.filter_map(|(_, rules)| ShownName::parse(rules.name.as_deref()?).ok()).collect()
}

/// Under which name local tools stand in the catalog: one that no server has.
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

fn why(status: &Status) -> String {
    let state = status.state.as_str();
    status.reason().map_or_else(|| state.to_owned(), |reason| format!("{state}: {reason}"))
}
