//! What is true now: the world, its links, and every tool they list. Published as one value, so that nobody sees
//! the rules of one moment with the tools of another; readers take no lock.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use kitbag_core::catalog::{CatalogNames, ServerTools, Snapshot, StaleList, Tool, Unreachable};
use kitbag_core::names::NameForm;
use kitbag_core::shape::ViewTool;
use kitbag_core::{Limits, ServerName};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connect::{Lease, Link, LinkState, LinkStatus, ToolList};
use crate::world::{Server, World};

mod lists;
#[cfg(test)]
mod tests;

use lists::mask_notes;
pub(crate) use lists::without_secrets;
pub(crate) use lists::{Lists, Remembered};

/// Everything at one moment.
pub(crate) struct Now {
    pub(crate) world: Arc<World>,
    pub(crate) links: Arc<BTreeMap<ServerName, Arc<Opened>>>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) phase: Phase,
}

/// Whether calls are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    Closed,
}

/// One server that is used: a hold on its link, and how far its tools were taken over.
pub(crate) struct Opened {
    pub(crate) lease: Arc<Lease>,
    pub(crate) server: Arc<Server>,
    /// The list that was taken over last.
    taken: watch::Sender<Option<Arc<ToolList>>>,
    /// Ends the following of its tools.
    following: CancellationToken,
}

impl Opened {
    pub(crate) fn new(lease: Lease, server: Arc<Server>) -> Arc<Self> {
        let (taken, following) = (watch::Sender::new(None), CancellationToken::new());
        Arc::new(Self { lease: Arc::new(lease), server, taken, following })
    }

    /// The same link under rules that changed.
    pub(crate) fn under(&self, server: Arc<Server>) -> Arc<Self> {
        let (lease, taken, following) = (self.lease.clone(), self.taken.clone(), self.following.clone());
        Arc::new(Self { lease, server, taken, following })
    }

    pub(crate) fn link(&self) -> &Link {
        self.lease.link()
    }

    /// How the server is, for whoever holds this.
    pub(crate) fn status(&self) -> LinkStatus {
        let status = self.link().status();
        if self.lease.is_released() { LinkStatus { state: LinkState::Stopped, ..status } } else { status }
    }

    /// The same in one word.
    pub(crate) fn state(&self) -> LinkState {
        if self.lease.is_released() { LinkState::Stopped } else { self.link().state() }
    }

    /// Whether its server is connected, or will be on first need.
    pub(crate) fn is_here(&self) -> bool {
        !self.lease.is_released() && self.link().is_here()
    }

    /// Whether its link is what a server is to be run by.
    pub(crate) fn runs(&self, server: &Arc<Server>) -> bool {
        let key = self.lease.key();
        let is_same = Arc::ptr_eq(&self.server, server) || key.is_some() && key == server.key.as_ref();
        is_same && !self.lease.is_released()
    }

    /// Waits until its server is connected and its tools are in the catalog, or there is nothing to wait for.
    pub(crate) async fn settled(&self) {
        self.link().settled().await;
        if self.link().listed().is_some() {
            let mut taken = self.taken.subscribe();
            let _ = taken.wait_for(Option::is_some).await;
        }
    }

    /// Ends when that happens.
    pub(crate) fn end(&self) -> CancellationToken {
        self.following.clone()
    }

    /// Its tools are no longer followed; the link, if nobody else holds it.
    pub(crate) fn let_go(&self) -> Option<Link> {
        self.following.cancel();
        self.lease.release()
    }
}

/// How names are given while servers start.
struct NamingState {
    /// The names that were held before any server listed.
    held: CatalogNames,
    /// Whether some server has yet to say what it has: until then names are given as if all came at once.
    gathering: bool,
}

/// Publishes what is true now.
pub(crate) struct Roster {
    now: ArcSwap<Now>,
    /// Taken by whoever changes it; nobody else's code and no reading or writing of files happens meanwhile.
    writing: Mutex<NamingState>,
    told: watch::Sender<Arc<Snapshot>>,
    statuses: watch::Sender<u64>,
    /// Counts what servers tell of their lists of other things than tools.
    offered: watch::Sender<u64>,
    /// Told when names may have been given that stay.
    named: Notify,
    tasks: TaskTracker,
}

impl Roster {
    /// A catalog without tools that knows the names given earlier.
    pub(crate) fn new(world: Arc<World>, held: CatalogNames, tasks: TaskTracker) -> Self {
        let snapshot = Arc::new(Snapshot::new(held.clone()));
        let links = Arc::default();
        Self {
            told: watch::Sender::new(snapshot.clone()),
            now: ArcSwap::from_pointee(Now { world, links, snapshot, phase: Phase::Open }),
            writing: Mutex::new(NamingState { held, gathering: true }),
            statuses: watch::Sender::new(0),
            offered: watch::Sender::new(0),
            named: Notify::new(),
            tasks,
        }
    }

    /// What is true now.
    pub(crate) fn now(&self) -> Arc<Now> {
        self.now.load_full()
    }

    /// The same for a look that ends at once.
    pub(crate) fn glance(&self) -> arc_swap::Guard<Arc<Now>> {
        self.now.load()
    }

    /// Tells whenever the tools change.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.told.subscribe()
    }

    /// Tells whenever the state of a server changes.
    pub(crate) fn watch_statuses(&self) -> watch::Receiver<u64> {
        self.statuses.subscribe()
    }

    /// Tells whenever what servers offer beside tools may be another.
    pub(crate) fn watch_offered(&self) -> watch::Receiver<u64> {
        self.offered.subscribe()
    }

    /// Has whoever follows the tools look at them once more: who may see which is another.
    pub(crate) fn tell_again(&self) {
        self.told.send_modify(|_| ());
        self.offered.send_modify(|count| *count += 1);
    }

    /// Puts another world in place of the one before, with its links and what is known of their tools.
    pub(crate) fn switch(&self, next: Switch) {
        self.update(|now, naming| {
            let snapshot = next.snapshot(now, naming);
            let snapshot = if naming.gathering { given_at_once(snapshot, naming) } else { snapshot };
            Some(Now {
                world: next.world,
                links: next.links,
                snapshot: Arc::new(snapshot),
                phase: next.phase,
            })
        });
        self.statuses.send_modify(|count| *count += 1);
        self.offered.send_modify(|count| *count += 1);
        self.settle_names();
        self.named.notify_one();
    }

    /// Takes no more calls: there are no links from now on.
    pub(crate) fn close(&self) {
        self.update(|now, _| {
            let (world, snapshot) = (now.world.clone(), now.snapshot.clone());
            Some(Now { world, links: Arc::default(), snapshot, phase: Phase::Closed })
        });
        self.statuses.send_modify(|count| *count += 1);
    }

    /// A server was let go of: its tools cannot be called, unless another link has taken its place meanwhile.
    pub(crate) fn stopped(&self, opened: &Opened) {
        let (server, away) = (opened.link().name(), away(&LinkStatus::new(LinkState::Stopped), None));
        self.update(|now, _| {
            now.links.get(server).filter(|known| Arc::ptr_eq(&known.lease, &opened.lease))?;
            let snapshot = Arc::new(now.snapshot.with_away(server, away)?);
            Some(Now { world: now.world.clone(), links: now.links.clone(), snapshot, phase: now.phase })
        });
        self.statuses.send_modify(|count| *count += 1);
    }

    /// Follows a link until told to stop.
    pub(crate) fn follow(self: &Arc<Self>, opened: Arc<Opened>, stop: CancellationToken) {
        let (roster, following) = (self.clone(), opened.following.clone());
        let (mut tools, mut status) = (opened.link().watch_tools(), opened.link().watch_status());
        let mut lists = opened.link().watch_lists();
        // Neither keeps the link open: who lets go of it ends it.
        let (link, server, taken) = (opened.link().clone(), opened.server.clone(), opened.taken.clone());
        drop(opened);
        self.tasks.spawn(async move {
            loop {
                // Both are marked as seen before they are looked at, so that no change is missed.
                tools.mark_unchanged();
                status.mark_unchanged();
                roster.heed(&link, &link.status());
                if let Some(list) = link.listed() {
                    roster.take(&link, &server, &list, &taken);
                }
                roster.settle_names();
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    () = following.cancelled() => return,
                    changed = tools.changed() => if changed.is_err() { return },
                    changed = status.changed() => if changed.is_err() { return },
                    changed = lists.changed() => match changed {
                        Ok(()) => roster.offered.send_modify(|count| *count += 1),
                        Err(_) => return,
                    },
                }
            }
        });
    }

    /// Takes a list over, unless it was already.
    fn take(
        &self,
        link: &Link,
        server: &Arc<Server>,
        list: &Arc<ToolList>,
        taken: &watch::Sender<Option<Arc<ToolList>>>,
    ) {
        if taken.borrow().as_ref().is_some_and(|old| Arc::ptr_eq(old, list)) {
            return;
        }
        let (changed, world) = loop {
            let world = self.glance().world.clone();
            let part = part_of(server, list, &world.limits);
            let mut is_stale = false;
            let changed = self.update_snapshot(link, |now| {
                // Other bounds came meanwhile: it has to be read again within those.
                is_stale = !Arc::ptr_eq(&now.world.limits, &world.limits);
                if is_stale { None } else { now.snapshot.with(part) }
            });
            if !is_stale {
                break (changed, world);
            }
        };
        taken.send_replace(Some(list.clone()));
        if changed {
            self.named.notify_one();
            let (lists, server, list) = (Lists::of(&world.setup), server.clone(), list.clone());
            self.tasks.spawn_blocking(move || lists.remember(&server, &list));
        }
    }

    /// Whether a server's tools can be called, and whether their list is what it would give now. One that starts on
    /// first need can be called.
    fn heed(&self, link: &Link, status: &LinkStatus) {
        let name = link.name();
        self.update_snapshot(link, |now| {
            let snapshot = &now.snapshot;
            let changed = snapshot.with_away(name, away(status, snapshot.part(name)));
            let stale = stale(status, snapshot.stale(name));
            changed.as_ref().unwrap_or(snapshot).with_stale(name, stale).or(changed)
        });
        self.statuses.send_modify(|count| *count += 1);
    }

    /// Changes the tools by what a link says, unless it was let go of or another has taken its place meanwhile.
    fn update_snapshot(&self, link: &Link, change: impl FnOnce(&Now) -> Option<Snapshot>) -> bool {
        self.update(|now, naming| {
            let holds = |opened: &&Arc<Opened>| opened.link().is(link) && !opened.lease.is_released();
            now.links.get(link.name()).filter(holds)?;
            let snapshot = change(now)?;
            let is_new = snapshot.version() != now.snapshot.version();
            let snapshot =
                if is_new && naming.gathering { given_at_once(snapshot, naming) } else { snapshot };
            let (world, links, phase) = (now.world.clone(), now.links.clone(), now.phase);
            Some(Now { world, links, snapshot: Arc::new(snapshot), phase })
        })
    }

    fn update(&self, change: impl FnOnce(&Now, &mut NamingState) -> Option<Now>) -> bool {
        let mut naming = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now.load_full();
        let Some(next) = change(&now, &mut naming) else { return false };
        let snapshot = next.snapshot.clone();
        self.now.store(Arc::new(next));
        if !Arc::ptr_eq(&snapshot, &now.snapshot) {
            self.told.send_replace(snapshot);
        }
        true
    }

    /// Names stay from the moment on in which every server has listed, failed or been remembered.
    fn settle_names(&self) {
        let mut naming = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if !naming.gathering {
            return;
        }
        let now = self.now.load();
        if now.phase == Phase::Closed {
            return;
        }
        let is_known = |(name, opened): (&ServerName, &Arc<Opened>)| {
            now.snapshot.part(name).is_some() || opened.link().is_given_up_or_idle()
        };
        naming.gathering = !now.links.iter().all(is_known);
        if !naming.gathering {
            self.named.notify_one();
        }
    }

    /// Whether a tool may get another name than it is shown by as soon as every server has said what it has.
    pub(crate) fn may_rename(&self, shown: &ViewTool) -> bool {
        let naming = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let Tool { server, name, .. } = &shown.tool;
        let is_held = |form: NameForm| naming.held.table(form).name(server, name) == Some(&shown.name);
        let is_written_down = self.now.load().world.reserved.contains(&shown.name);
        naming.gathering
            && !is_written_down
            && ![NameForm::Short, NameForm::Bare, NameForm::Full].into_iter().any(is_held)
    }

    /// What is true now, once the names in it stay.
    pub(crate) fn settled(&self) -> Option<Arc<Now>> {
        let naming = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        (!naming.gathering).then(|| self.now.load_full())
    }

    /// Waits until names may have been given since this was asked last; one asks at a time.
    pub(crate) async fn names_given(&self) {
        self.named.notified().await;
    }
}

/// What a server lists, read within these limits.
pub(crate) fn part_of(server: &Server, list: &ToolList, limits: &Limits) -> ServerTools {
    let redactor = server.plan.redactor();
    let texts: Vec<Cow<'_, str>> =
        list.tools.iter().map(|tool| without_secrets(tool.raw.get(), redactor)).collect();
    let mut part = ServerTools::parse(&server.spec().name, texts.iter().map(|text| &**text), limits);
    part.truncated.clone_from(&list.truncated);
    part.rejected.extend(list.rejected.iter().cloned());
    part.rejected_more = list.rejected_more;
    mask_notes(&mut part, redactor);
    part
}

/// The same names whichever server came first.
fn given_at_once(snapshot: Snapshot, naming: &NamingState) -> Snapshot {
    snapshot.renamed(&naming.held).unwrap_or(snapshot)
}

/// Why the tools of a server cannot be called, if that is so. Of one that is connected and could never be listed
/// nobody knows any.
pub(crate) fn away(status: &LinkStatus, known: Option<&Arc<ServerTools>>) -> Option<Unreachable> {
    let is_unlisted = status.state == LinkState::Degraded && known.is_none();
    if status.state.is_here() && !is_unlisted {
        return None;
    }
    let (state, why, kind) = (status.state.as_str(), status.line(), status.kind_of_calls());
    Some(Unreachable { state, why, kind, since: seconds(status.since) })
}

/// Whether the list that is shown is not what its server would give now: the one before stays when listing again
/// failed, and one that is remembered until the server has listed.
fn stale(status: &LinkStatus, known: Option<&StaleList>) -> Option<StaleList> {
    let is_degraded = status.state == LinkState::Degraded;
    let why = is_degraded.then(|| status.reason().map(ToString::to_string).unwrap_or_default());
    match status.listed {
        Some(listed) => why.map(|why| StaleList { since: seconds(listed), why: Some(why) }),
        None if why.is_some() => Some(StaleList { since: known.and_then(|known| known.since), why }),
        None => known.map(|known| StaleList { why: None, ..known.clone() }),
    }
}

fn seconds(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// From one world to the next.
pub(crate) struct Switch {
    pub(crate) world: Arc<World>,
    pub(crate) links: Arc<BTreeMap<ServerName, Arc<Opened>>>,
    pub(crate) phase: Phase,
    /// Servers whose link is another one.
    pub(crate) new: Vec<New>,
    /// Servers that are no longer used.
    pub(crate) gone: Vec<ServerName>,
    /// Tools of servers whose link is the same, read within other limits.
    pub(crate) relisted: Vec<ServerTools>,
    /// The program's own tools.
    pub(crate) local: ServerTools,
}

/// A server with another link than before, or its first.
pub(crate) struct New {
    pub(crate) name: ServerName,
    /// What is remembered of its tools.
    pub(crate) remembered: Option<Remembered>,
    /// Whether what was listed under its name before is its own.
    pub(crate) before: Before,
}

/// Who had the name of a server in the world before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// The same server, run in another way: what it listed holds until it lists again.
    Same,
    /// Another server, or the same with other values: its tools are not shown as this one's.
    Other,
}

impl Switch {
    /// The tools there are from now on.
    fn snapshot(&self, now: &Now, naming: &mut NamingState) -> Snapshot {
        let mut snapshot = Snapshot::clone(&now.snapshot);
        let is_named = now.world.local == self.world.local
            && now.world.reserved == self.world.reserved
            && now.world.limits.names == self.world.limits.names;
        if !is_named || snapshot.part(&self.world.local).is_none() {
            let named = |names: &CatalogNames| {
                let names = names.with_local(self.world.local.clone()).keeping(self.world.limits.names);
                names.with_reserved(self.world.reserved.clone())
            };
            naming.held = named(&naming.held);
            snapshot = snapshot.with_names(named(snapshot.names()));
            if now.world.local != self.world.local {
                snapshot = snapshot.without(&now.world.local).unwrap_or(snapshot);
            }
        }
        let filed =
            |world: &World| world.setup.catalog.iter().map(|part| part.server.clone()).collect::<Vec<_>>();
        let (before, after) = (filed(&now.world), filed(&self.world));
        let others = self.new.iter().filter(|new| new.before == Before::Other).map(|new| &new.name);
        let filed = before.iter().filter(|server| !after.contains(server));
        for server in self.gone.iter().chain(others).chain(filed) {
            snapshot = snapshot.without(server).unwrap_or(snapshot);
        }
        // Those that were there before have a name.
        let servers = self.new.iter().map(|new| &new.name).chain(&after);
        snapshot = snapshot.with_gateways(servers).unwrap_or(snapshot);
        let unknown: Vec<&New> = self.new.iter().filter(|new| snapshot.part(&new.name).is_none()).collect();
        let recalled = unknown.iter().filter_map(|new| Some(new.remembered.as_ref()?.part.clone()));
        let read = self.relisted.iter().chain([&self.local]).chain(&self.world.setup.catalog);
        snapshot = snapshot.with_all(recalled.chain(read.cloned()).collect::<Vec<ServerTools>>());
        let gone = self.gone.iter().map(|name| (name.clone(), None));
        let status = |name: &ServerName| self.links.get(name).map(|opened| opened.link().status());
        let why = |name: &ServerName| away(&status(name)?, snapshot.part(name));
        let new: Vec<_> = self.new.iter().map(|new| (new.name.clone(), why(&new.name))).collect();
        let mut snapshot = snapshot.with_all_away(gone.chain(new)).unwrap_or(snapshot);
        for new in &self.new {
            // Another link has listed nothing yet: what is shown under its name is from before.
            let since = unknown.iter().any(|other| other.name == new.name).then_some(&new.remembered);
            let since = since.and_then(Option::as_ref).and_then(|remembered| remembered.since);
            let stale = snapshot.part(&new.name).map(|_| StaleList { since, why: None });
            snapshot = snapshot.with_stale(&new.name, stale).unwrap_or(snapshot);
        }
        snapshot
    }
}
