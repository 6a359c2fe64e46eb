//! The handle everything goes through: servers opened, tools listed, calls made, all of it ended.

use std::sync::Arc;
use std::time::Duration;

use crate::Setup;
use crate::connect::{
    Call, CallError, Key, Lease, Link, LinkState, Memory, RawTool, Reply, Responder, Status, Supply,
    Surroundings,
};
use crate::guard::{self, Keeping, Launcher};
use kitbag_core::config::layers::{Layer, State};
use kitbag_core::model::Resolved;
use kitbag_core::names::{Naming, Pair, Table, assign};
use kitbag_core::{
    ErrorKind, Fault, FaultKind, Limits, ServerName, ServerSpec, ShownName, Stage, ToolName, Transport,
};

mod find;

pub use find::{FindError, could_have};

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

/// One tool, by all its names.
#[derive(Clone, Debug)]
pub struct ToolRow {
    /// What a model calls it.
    pub shown: ShownName,
    /// Whose it is.
    pub server: ServerName,
    /// Its definition.
    pub tool: RawTool,
    /// Whether it could be called now.
    pub available: bool,
}

/// The servers of one setup, opened.
pub struct Kitbag {
    leases: Vec<Lease>,
    others: Vec<ServerStatus>,
    around: Arc<Surroundings>,
    setup: Arc<Setup>,
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

    /// A required server that is not connected.
    fn missing(&self) -> Option<OpenError> {
        let required =
            |link: &&Link| self.setup.used().any(|spec| spec.name == *link.name() && spec.required);
        self.links().filter(required).find_map(|link| {
            let status = link.status();
            let error = OpenError { server: link.name().clone(), why: why(&status) };
            (!status.state.is_connected()).then_some(error)
        })
    }

    /// Starts every server in use and waits for none.
    pub fn start(setup: Setup, options: Options) -> Self {
        // What an earlier run left behind, if it was killed together with its guards.
        guard::sweep();
        let limits = options.limits.unwrap_or_else(|| setup.limits.clone());
        let other = setup.env().program("kitbag", setup.env().cwd());
        let launcher = options.launcher.unwrap_or_else(|| Launcher::choose(other.as_deref()));
        let around = Arc::new(Surroundings {
            env: setup.env().clone(),
            launcher,
            memory: Memory::load(setup.folders.cache.clone()),
            logs: Some(setup.folders.state.join("logs")),
            limits,
            responder: options.responder,
        });
        let setup = Arc::new(setup);
        let asked = |spec: &&ServerSpec| options.only.as_ref().is_none_or(|only| only.contains(&spec.name));
        let link = |spec: &ServerSpec| {
            let supply = FromSetup {
                name: spec.name.clone(),
                first: std::sync::Mutex::new(Some(setup.clone())),
                setup: setup.clone(),
            };
            let spec = &ServerSpec { lazy: spec.lazy && !options.eager, ..spec.clone() };
            let lease =
                Lease::take(key(&setup, spec, &around), || Link::start(spec, Arc::new(supply), &around));
            if !spec.lazy {
                lease.link().want();
            }
            lease
        };
        let leases =
            if setup.switched_on { setup.used().filter(asked).map(link).collect() } else { Vec::new() };
        Self { leases, others: others(&setup), around, setup }
    }

    /// Waits until every server is connected or hopeless, at most this long.
    pub async fn wait(&self, at_most: Duration) {
        let all = async {
            for link in self.links().filter(|link| link.status().state != LinkState::Idle) {
                link.settled().await;
            }
        };
        let _ = tokio::time::timeout(at_most, all).await;
    }

    /// The links, in order of name.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.leases.iter().map(Lease::link)
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
        let transport =
            |name: &ServerName| self.setup.used().find(|spec| spec.name == *name).map(ServerSpec::transport);
        let linked = self.links().map(|link| ServerStatus {
            name: link.name().to_string(),
            transport: transport(link.name()),
            status: link.status(),
        });
        linked.chain(self.others.iter().cloned()).collect()
    }

    /// Every tool of every server, by the name a model sees, in order of name.
    pub fn tools(&self) -> Vec<ToolRow> {
        let table = self.names();
        let mut rows: Vec<ToolRow> = Vec::new();
        for link in self.links() {
            let available = link.status().state.is_connected();
            for tool in &link.tools().tools {
                if let Some(shown) = table.name(link.name(), &tool.name) {
                    rows.push(ToolRow {
                        shown: shown.clone(),
                        server: link.name().clone(),
                        tool: tool.clone(),
                        available,
                    });
                }
            }
        }
        rows.sort_by(|a, b| a.shown.cmp(&b.shown));
        rows
    }

    /// Calls a tool by the server's own names.
    pub async fn call(&self, server: &ServerName, call: Call<'_>) -> Result<Reply, CallError> {
        match self.links().find(|link| link.name() == server) {
            Some(link) => link.call(call).await,
            None => Err(CallError {
                kind: ErrorKind::NotFound,
                server: server.clone(),
                tool: call.tool.to_owned(),
                message: "is not in use".to_owned(),
                code: None,
            }),
        }
    }

    /// What is wrong with servers that are not connected.
    pub fn faults(&self) -> Vec<Fault> {
        let away = self
            .links()
            .map(|link| (link, link.status()))
            // One that is started on first need is not missing.
            .filter(|(_, status)| !status.state.is_connected() && status.state != LinkState::Idle);
        away.map(|(link, status)| Fault {
            stage: Stage::Connect,
            ..Fault::error(FaultKind::Unavailable, why(&status)).of(link.name())
        })
        .collect()
    }

    /// Ends every server that nobody else in this process uses, all at once, and waits until nothing of them is
    /// left.
    pub async fn close(self) {
        let ending: Vec<Link> = self.leases.into_iter().filter_map(Lease::release).collect();
        let all = async {
            for link in &ending {
                link.gone().await;
            }
        };
        let _ = tokio::time::timeout(self.around.limits.wait_end + Duration::from_secs(1), all).await;
    }

    fn names(&self) -> Table {
        let pairs = self.links().flat_map(|link| {
            let list = link.tools();
            list.tools.iter().map(|tool| (link.name().clone(), tool.name.clone())).collect::<Vec<Pair>>()
        });
        assign(&Table::default(), pairs, &Naming::default())
    }
}

/// What a server is shared by, if it can be: not before its values are known.
fn key(setup: &Setup, spec: &ServerSpec, around: &Surroundings) -> Option<Key> {
    let row =
        setup.merged.servers.iter().find(|row| row.spec.as_ref().is_some_and(|s| s.name == spec.name))?;
    let owner = matches!(row.layer, Layer::User(_)) || !spec.inputs.is_empty();
    let resolved = setup.resolve(spec, &row.layer).ok()?;
    Key::of(spec.name.as_str(), &resolved, owner.then_some(&setup.user), around)
}

fn why(status: &Status) -> String {
    let state = status.state.as_str();
    status.error.as_ref().map_or_else(|| state.to_owned(), |error| format!("{state}: {error}"))
}

/// Servers that are known but not used.
fn others(setup: &Setup) -> Vec<ServerStatus> {
    let state = |state: State| match state {
        State::Disabled => Some(LinkState::Disabled),
        State::Held => Some(LinkState::Held),
        State::Broken => Some(LinkState::Failed),
        _ => None,
    };
    let row = |row: &kitbag_core::config::layers::Server| {
        let mut status = Status::new(
            state(row.state)
                .filter(|_| !matches!(row.layer, Layer::Host(_)) || row.state == State::Disabled)?,
        );
        status.error = row
            .faults
            .iter()
            .max_by_key(|fault| fault.severity)
            .filter(|_| row.state == State::Broken)
            .map(|fault| fault.message.clone());
        Some(ServerStatus {
            name: row.name.clone(),
            transport: row.spec.as_ref().map(ServerSpec::transport),
            status,
        })
    };
    setup.merged.servers.iter().filter_map(row).collect()
}

/// A server's description as the files say it now. The first time they were just read.
struct FromSetup {
    name: ServerName,
    first: std::sync::Mutex<Option<Arc<Setup>>>,
    setup: Arc<Setup>,
}

impl Supply for FromSetup {
    fn spec(&self) -> Option<(ServerSpec, Result<Resolved, Vec<Fault>>)> {
        let first = self.first.lock().ok().and_then(|mut first| first.take());
        let now = match first {
            Some(setup) => setup,
            None => Setup::discover(self.setup.request()).map_or_else(|_| self.setup.clone(), Arc::new),
        };
        let row = now
            .merged
            .servers
            .iter()
            .find(|row| row.name == self.name.as_str() && row.state == State::Used)?;
        let spec = row.spec.clone()?;
        let resolved = now.resolve(&spec, &row.layer);
        Some((spec, resolved))
    }
}

/// What a call needs to know about a tool before it is made.
#[derive(Clone, Debug)]
pub struct Found {
    /// Whose it is.
    pub server: ServerName,
    /// Its own name.
    pub tool: ToolName,
    /// Its definition.
    pub raw: RawTool,
}
