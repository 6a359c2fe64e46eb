//! The handle everything goes through: servers opened, tools listed, calls made, all of it ended.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kitbag_core::catalog::{ServerTools, Snapshot};
use kitbag_core::model::Timeouts;
use kitbag_core::shape::{AllowAll, Authorize};
use kitbag_core::text::Redactor;
use kitbag_core::{Fault, FaultKind, Limits, ServerName, Severity, Stage, UserId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Setup;
use crate::code::Threads;
use crate::connect::{
    Greeting, Link, LinkContext, LinkState, Offers, QuestionKind, Reason, Responder, Revision, Tracer,
    WithRoots, roots_answer,
};
use crate::execute::{CallRecord, Records, Results};
use crate::guard::{self, Containment, Launcher};
use crate::held::NamesFiles;
use crate::local::LocalTool;
use crate::pins::Pins;
use crate::roster::{Now, Phase, Roster};
use crate::store::AuditWriter;
use crate::world::{ServerStatus, World};

mod apply;
mod call;
mod find;
mod names;
mod notes;
mod offered;
mod options;
mod pins;
#[cfg(feature = "present")]
mod present;
mod restarts;
mod views;

pub use apply::ApplyError;
use call::SessionGrants;
pub use call::absent;
pub use find::{could_have, speaks_of};
pub use offered::{
    CompletionReference, Prompt, PromptArgument, PromptMessage, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdates, ServerResult, unique_uri,
};
pub use options::OpenOptions;
pub use views::UnknownAgent;

use names::NamesKeeper;
use notes::Mismatches;
use offered::OfferedState;
#[cfg(feature = "present")]
use present::Presentations;
use views::Views;

/// The error of [`Kitbag::open`]: a server that is `required` is not connected.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the required server {server} is not connected: {why}")]
pub struct OpenError {
    /// Which.
    pub server: ServerName,
    /// Its state and why, in one line.
    pub why: String,
    /// Why, where that is known.
    #[source]
    pub reason: Option<Arc<Reason>>,
}

/// The handle to all servers of one [`Setup`]: lists their tools, shows them to models, calls them. Clones share one
/// handle; dropping the last one ends its servers.
#[derive(Clone)]
pub struct Kitbag(Arc<Inner>);

struct Inner {
    /// Itself, for work on another thread.
    me: Weak<Self>,
    user: UserId,
    roster: Arc<Roster>,
    /// None for a run of only some servers: it decides nothing.
    names: Option<Arc<NamesKeeper>>,
    /// What is wrong with the files of names, and with local tools.
    opening_faults: Vec<Fault>,
    views: Views,
    #[cfg(feature = "present")]
    presentations: Presentations,
    locals: BTreeMap<String, LocalTool>,
    results: Results,
    records: Records,
    mismatches: Mismatches,
    offered: OfferedState,
    pins: Arc<Pins>,
    /// Where calls are written down, if anywhere.
    audit: Option<AuditWriter>,
    /// What was approved until this process ends.
    session_grants: SessionGrants,
    /// Names this process among those of its user.
    session: String,
    options: OpenOptions,
    permit: Arc<dyn Authorize>,
    /// Where code of the program runs that uses this.
    threads: Threads,
    /// Held by whoever puts a new world in place.
    applying: Mutex<()>,
    /// Held from the reading of files to the end of applying them, so that an older look never follows a newer one.
    reading: tokio::sync::Mutex<()>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Kitbag {
    /// Opens every server in use and waits for them as long as the setup says. Late ones join.
    pub async fn open(setup: Setup) -> Result<(Self, Vec<Fault>), OpenError> {
        Self::open_with(setup, OpenOptions::default()).await
    }

    /// Opens every server in use, like [`Self::open`], with options.
    pub async fn open_with(mut setup: Setup, options: OpenOptions) -> Result<(Self, Vec<Fault>), OpenError> {
        if let Some(store) = options.store.as_ref().filter(|_| setup.needs_answers())
            && let Err(error) = setup.read_answers(&**store).await
        {
            setup.merged.faults.push(Fault::error(FaultKind::Store, error.to_string()));
        }
        let wait = options.wait.unwrap_or(options.limits.as_ref().unwrap_or(&setup.limits).wait_agent);
        let kit = Self::start(setup, options);
        kit.wait(wait).await;
        if let Err(error) = kit.check_required() {
            kit.close().await;
            return Err(error);
        }
        let faults = kit.faults();
        Ok((kit, faults))
    }

    /// Starts every server in use and waits for none. Answers to inputs are those of the setup: one whose program has a
    /// store reads them with [`Setup::read_answers`] first.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, as `tokio::spawn` does.
    pub fn start(setup: Setup, options: OpenOptions) -> Self {
        // What an earlier run left behind, if it was killed together with its guards.
        guard::sweep();
        let setup = Arc::new(setup);
        let threads = Threads::default();
        let context = Arc::new(context(&setup, &options, &threads));
        let limits = options.limits.clone().unwrap_or_else(|| setup.limits.clone());
        let results = Results::new(&setup.folders.state, limits.clone().into());
        let read_on = crate::execute::read_result(&results);
        let (locals, twice) = by_name([read_on].into_iter().chain(options.local.iter().cloned()));
        let held = NamesFiles::of(&setup).map(|files| files.within(&limits).load()).unwrap_or_default();
        let tasks = TaskTracker::new();
        let nothing = Arc::new(World::empty(setup.clone(), context));
        let (roster, stop) = (Roster::new(nothing, held.names(), tasks.clone()), CancellationToken::new());
        let roster = Arc::new(roster);
        let keep = || NamesKeeper::start(&roster, held.own_servers(), &tasks, stop.clone());
        let names = options.only.is_none().then(keep);
        let audit = options.store.clone().and_then(|store| AuditWriter::start(store, &limits).ok());
        let again = roster.clone();
        let told = move || again.tell_again();
        let pins =
            Pins::open(options.store.clone(), &setup.user, limits.pin_poll, &tasks, stop.clone(), told);
        let kit = Self(Arc::new_cyclic(|me| Inner {
            me: me.clone(),
            user: setup.user.clone(),
            roster,
            names,
            opening_faults: held.faults.into_iter().chain(twice).collect(),
            views: Views::default(),
            #[cfg(feature = "present")]
            presentations: Presentations::default(),
            locals,
            results,
            records: Records::default(),
            mismatches: Mismatches::default(),
            offered: OfferedState::default(),
            pins,
            session: audit.as_ref().map(|audit| audit.id().to_string()).unwrap_or_default(),
            audit,
            session_grants: SessionGrants::default(),
            permit: options.permit.clone().unwrap_or_else(|| Arc::new(AllowAll)),
            options,
            threads,
            applying: Mutex::new(()),
            reading: tokio::sync::Mutex::new(()),
            tasks,
            stop,
        }));
        kit.0.switch(setup);
        kit
    }

    /// For whom it was opened: whoever asks without naming a user.
    pub fn user(&self) -> &UserId {
        &self.0.user
    }

    /// How often something was applied: what the files say is another as soon as this is.
    pub fn version(&self) -> u64 {
        self.0.roster.glance().world.version
    }

    /// Waits until every server is connected and listed, or will not be soon, at most this long.
    pub async fn wait(&self, at_most: Duration) {
        let now = self.0.now();
        let started = now.links.values().filter(|opened| opened.state() != LinkState::Idle);
        let all = futures_util::future::join_all(started.map(|opened| opened.settled()));
        let _ = tokio::time::timeout(at_most, async { tokio::join!(all, self.0.pins.is_read()) }).await;
    }

    /// The same for every server: those that start on first need are needed now.
    pub async fn wait_for_all(&self, at_most: Duration) {
        let names: Vec<ServerName> = self.0.now().links.keys().cloned().collect();
        self.wait_for_servers(&names, at_most).await;
    }

    /// The same for some servers.
    pub async fn wait_for_servers(&self, servers: &[ServerName], at_most: Duration) {
        let read = tokio::time::timeout(at_most, self.0.pins.is_read());
        let _ = tokio::join!(self.0.wait_for(servers, at_most), read);
    }

    /// Waits until it is known which definitions are held: nothing is shown by mistake before, or kept away. Without a store
    /// that is so at once; a database that does not answer is waited for as long as [`Limits::store_wait`] says.
    pub async fn wait_for_pins(&self) {
        self.0.pins.is_read().await;
    }

    /// The links, in order of name.
    pub fn links(&self) -> Vec<Link> {
        self.0.now().links.values().map(|opened| opened.link().clone()).collect()
    }

    /// The link to one server.
    pub fn link(&self, server: &ServerName) -> Option<Link> {
        self.0.roster.glance().links.get(server).map(|opened| opened.link().clone())
    }

    /// How surely the servers' processes end with us.
    pub fn containment(&self) -> Containment {
        self.0.roster.glance().world.context.launcher.containment()
    }

    /// The limits and timeouts in force.
    pub fn limits(&self) -> Arc<Limits> {
        self.0.roster.glance().world.limits.clone()
    }

    /// Tells whenever the state of a server changes, or which servers there are: [`Kitbag::status`] is then another.
    pub fn watch_status(&self) -> watch::Receiver<u64> {
        self.0.roster.watch_statuses()
    }

    /// The state of every server, now and whenever it changes. What changes while nobody looks is told once, as it is
    /// by then. Ends when the last handle is gone.
    pub fn statuses(&self) -> BoxStream<'static, Vec<ServerStatus>> {
        let (mut watch, kit) = (self.watch_status(), Arc::downgrade(&self.0));
        watch.mark_changed();
        let next = async |(mut watch, kit): (watch::Receiver<u64>, Weak<Inner>)| {
            watch.changed().await.ok()?;
            watch.mark_unchanged();
            let statuses = Self(kit.upgrade()?).status();
            Some((statuses, (watch, kit)))
        };
        stream::unfold((watch, kit), next).boxed()
    }

    /// Every tool of every server as it is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.roster.glance().snapshot.clone()
    }

    /// Tells whenever that changes.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.0.roster.watch()
    }

    /// The calls made lately for whom this was opened, oldest first; their arguments cut and without secrets.
    pub fn recent_calls(&self) -> Vec<CallRecord> {
        self.recent_calls_of(&self.0.user)
    }

    /// The calls made lately for another user.
    pub fn recent_calls_of(&self, user: &UserId) -> Vec<CallRecord> {
        self.0.records.recent(user)
    }

    /// Where calls are written down, if anywhere.
    pub fn audit(&self) -> Option<&AuditWriter> {
        self.0.audit.as_ref()
    }

    /// Hides the secrets a server in use was given, however it writes them: for whoever shows its results to a person or
    /// writes them to a file. The results themselves travel as received, unless the server's entry says `mask_results`.
    pub fn redactor(&self, server: &ServerName) -> Redactor {
        let now = self.0.now();
        let server = now.world.servers.get(server);
        server.map(|server| server.plan.redactor().clone()).unwrap_or_default()
    }

    /// What is wrong: servers that are not connected, lists and definitions of tools, what the files say.
    pub fn faults(&self) -> Vec<Fault> {
        let now = self.0.now();
        let away = now.links.values().filter(|opened| !opened.is_here()).map(|opened| {
            let status = opened.status();
            let hint = status.reason().and_then(|reason| reason.hint.clone());
            let fault = Fault::error(FaultKind::Unavailable, status.line()).of(opened.link().name());
            Fault { stage: Stage::Connect, hint, ..fault }
        });
        let full = now.snapshot.parts().filter(|part| now.snapshot.names().is_full(&part.server));
        let full = full.map(|part| names_are_full(&part.server, now.world.limits.names));
        let read = now.world.faults.iter().chain(&self.0.opening_faults).cloned();
        // What takes nothing away is told by `notes` alone.
        let notes = self.notes_in(&now).into_iter().filter(|note| Severity::Warning <= note.severity);
        away.chain(notes).chain(full).chain(read).chain(self.0.pins.fault()).collect()
    }

    /// Ends every server that nobody else in this process uses, all at once, and waits until nothing of them is
    /// left. Calls in flight may go on for a moment (the limit `drain`); new ones are refused.
    pub async fn close(&self) {
        self.close_as(Closing::End).await;
    }

    /// The same for a program that is about to end as it should: a first start that still downloads its server may go on
    /// for a while (the limit `start_linger`), under its guard alone, so that the next one finds it there.
    pub async fn close_and_exit(&self) {
        self.close_as(Closing::Exit).await;
    }

    async fn close_as(&self, closing: Closing) {
        let kit = &*self.0;
        for record in kit.records.all() {
            if let Some(link) = record.server.as_ref().and_then(|server| self.link(server)) {
                link.remark(&record.line());
            }
        }
        // Before there are no links: whether names stay is for those who are there to say.
        let saving = kit.names.as_ref().and_then(NamesKeeper::save);
        let limits = self.limits();
        let ending = kit.let_go_of_all();
        if closing == Closing::Exit {
            ending.iter().for_each(Link::let_go);
        }
        let links = futures_util::future::join_all(ending.iter().map(|link| link.end(limits.drain)));
        let all = async {
            links.await;
            if let Some(saving) = saving {
                let _ = saving.await;
            }
            if let Some(audit) = &kit.audit {
                // What could not be written is told by the next row, or lost with the process.
                let _ = audit.flush(limits.audit_flush).await;
            }
            kit.stop.cancel();
            kit.tasks.close();
            kit.tasks.wait().await;
        };
        let bound = limits.drain + limits.wait_end + limits.audit_flush + Duration::from_secs(1);
        let _ = tokio::time::timeout(bound, all).await;
        kit.stop.cancel();
    }

    /// Whether every server is connected whose entry says `required`; [`Self::open`] asks this after it waited.
    pub fn check_required(&self) -> Result<(), OpenError> {
        let now = self.0.now();
        let missing = now.links.values().filter(|opened| opened.server.spec().required).find_map(|opened| {
            let status = opened.link().status();
            let (server, why) = (opened.link().name().clone(), status.line());
            let reason = status.error.clone().or_else(|| status.waits_for.clone());
            (!status.state.is_connected()).then_some(OpenError { server, why, reason })
        });
        missing.map_or(Ok(()), Err)
    }

    /// The clocks of one server in use.
    pub fn clocks(&self, server: &ServerName) -> Option<Timeouts> {
        self.0.roster.glance().world.servers.get(server).map(|server| server.plan.clocks)
    }

    /// Everything known before connecting, as it was read last.
    pub fn setup(&self) -> Arc<Setup> {
        self.0.roster.glance().world.setup.clone()
    }
}

impl Inner {
    fn now(&self) -> Arc<Now> {
        self.roster.now()
    }

    fn applying(&self) -> MutexGuard<'_, ()> {
        self.applying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever answers what a server asks in a call that brings this responder.
    fn responder(&self, own: Option<Arc<dyn Responder>>) -> Option<Arc<dyn Responder>> {
        let responder = own.or_else(|| self.options.responder.clone());
        match &self.roster.glance().world.context.greeting.roots {
            Some(roots) => Some(Arc::new(WithRoots::new(responder, roots.clone()))),
            None => responder,
        }
    }

    /// The program's own tools, as a server of this name would list them.
    fn local_part(&self, owner: &ServerName, limits: &Limits) -> ServerTools {
        let definitions: Vec<String> =
            self.locals.values().map(|tool| tool.definition().to_string()).collect();
        ServerTools::parse(owner, definitions.iter().map(String::as_str), limits)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.cancel();
        for link in self.let_go_of_all() {
            link.stop();
        }
    }
}

impl fmt::Debug for Kitbag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.0.now();
        let mut text = f.debug_struct("Kitbag");
        text.field("user", &self.0.user)
            .field("version", &now.world.version)
            .field("servers", &now.links.keys().collect::<Vec<_>>());
        text.field("is_closed", &(now.phase == Phase::Closed)).finish_non_exhaustive()
    }
}

/// What the links of a handle share at first.
fn context(setup: &Setup, options: &OpenOptions, threads: &Threads) -> LinkContext {
    let other = setup.env().program("kitbag", setup.env().cwd());
    let limits = options.limits.as_ref().unwrap_or(&setup.limits);
    let asked = |responder: Arc<dyn Responder>| threads.run_now(limits, move || responder.answers().to_vec());
    // One that panics or hangs here does so in its calls too, and there it is told.
    let responder = options.responder.clone().map(asked).and_then(Result::ok).unwrap_or_default();
    let roots = roots_answer(setup.env().cwd(), &options.roots);
    let given = roots.as_ref().map(|_| QuestionKind::Roots);
    let answers: Vec<QuestionKind> = options.answers.iter().copied().chain(responder).chain(given).collect();
    let launcher = options.launcher.clone().unwrap_or_else(|| Launcher::choose(other.as_deref()));
    let client = options.client.clone().unwrap_or_default().json();
    let preferred = options.protocol.map_or(Revision::Newest, Revision::Preferred);
    let revision = options.only_protocol.map_or(preferred, Revision::Only);
    let greeting = Greeting { offers: Offers::of(&answers), client, revision, roots };
    let context = LinkContext::new(setup.env(), &setup.folders, launcher, greeting);
    context.traced(options.trace.clone().map(Tracer::new))
}

/// What follows when a kit is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    /// The program goes on without it.
    End,
    /// The program ends.
    Exit,
}

/// Local tools by name. Of two with one name the first is registered, and the other is told.
fn by_name(tools: impl Iterator<Item = LocalTool>) -> (BTreeMap<String, LocalTool>, Vec<Fault>) {
    let (mut all, mut faults) = (BTreeMap::new(), Vec::new());
    for tool in tools {
        match all.entry(tool.name().to_owned()) {
            Entry::Vacant(free) => {
                free.insert(tool);
            }
            Entry::Occupied(taken) => {
                let name = taken.key();
                let message =
                    format!("a local tool called {name:?} is registered already; the second is not");
                let fault = Fault::error(FaultKind::Duplicate, message).hint("give it another name");
                faults.push(Fault { stage: Stage::Catalog, ..fault });
            }
        }
    }
    (all, faults)
}

fn names_are_full(server: &ServerName, most: usize) -> Fault {
    let message = format!("{most} names are kept for its tools; new tools get a name with a hash");
    let fault = Fault::warning(FaultKind::TooLarge, message).of(server);
    let fault = fault.hint("kitbag names free NAME, for tools that are gone, or [limits] names");
    Fault { stage: Stage::Catalog, ..fault }
}
