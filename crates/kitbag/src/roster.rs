//! Keeps the catalog: takes over what links list, keeps the last good list while one is away, and remembers
//! lists and names on disk so that the next start lists at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kitbag_core::catalog::{Away, Names, Part, Rejected, Snapshot};
use kitbag_core::names::{Form, Table};
use kitbag_core::{Limits, ServerName, ShownName, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::connect::{Link, LinkState, Status, ToolList};

/// The catalog as it is now, and where it is remembered.
pub(crate) struct Roster {
    now: watch::Sender<Arc<Snapshot>>,
    /// The lists that were taken over.
    seen: Mutex<HashMap<ServerName, Arc<ToolList>>>,
    cache: PathBuf,
    limits: Limits,
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    fingerprint: String,
    tools: Vec<Box<RawValue>>,
}

/// Where the names of gateways stand, beside the forms of tools' names.
const GATEWAYS: &str = "gateway";

/// Names by form; each row is server, tool, name. A gateway's row has no tool.
type Rows = BTreeMap<String, Vec<(String, String, String)>>;

impl Roster {
    /// An empty catalog that knows the names given earlier.
    pub(crate) fn load(
        cache: PathBuf,
        reserved: BTreeSet<ShownName>,
        local: ServerName,
        limits: Limits,
    ) -> Self {
        let text = std::fs::read_to_string(cache.join("names.json")).unwrap_or_default();
        let mut rows: Rows = serde_json::from_str(&text).unwrap_or_default();
        let mut table = |form: Form| Table::from_rows(rows.remove(form.as_str()).unwrap_or_default()).0;
        let tables = (table(Form::Full), table(Form::Short), table(Form::Bare));
        let gateways = rows.remove(GATEWAYS).unwrap_or_default().into_iter().filter_map(gateway_row);
        let names = Names::new(tables.0, tables.1, tables.2, reserved).local(local);
        let names = names.holding(gateways.collect());
        Self {
            now: watch::Sender::new(Arc::new(Snapshot::new(names))),
            seen: Mutex::default(),
            cache,
            limits,
        }
    }

    /// The catalog as it is now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.now.borrow().clone()
    }

    /// Tells whenever it changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.now.subscribe()
    }

    /// Takes over tools that no link lists: those of the program itself.
    pub(crate) fn set(&self, part: Part) {
        self.update(|now| now.with(part));
    }

    /// The same of many servers at once, as files have them: of those that want one name, none comes first.
    pub(crate) fn set_all(&self, parts: &[Part]) {
        self.update(|now| Some(now.with_all(parts.to_vec())).filter(|new| new.version() != now.version()));
    }

    /// Gives each of these servers' gateways a name.
    pub(crate) fn name_gateways<'a>(&self, servers: impl Iterator<Item = &'a ServerName>) {
        self.update(|now| now.with_gateways(servers));
    }

    /// Forgets a server that is no longer used, and is no longer followed.
    pub(crate) fn remove(&self, server: &ServerName) {
        let mut seen = self.seen();
        seen.remove(server);
        self.update(|now| now.without(server));
    }

    /// Lists what is remembered of a server, until it answers itself.
    pub(crate) fn recall(&self, link: &Link, fingerprint: &str) {
        let text = std::fs::read_to_string(self.file(link.name())).unwrap_or_default();
        let Ok(remembered) = serde_json::from_str::<Remembered>(&text) else { return };
        if remembered.fingerprint == fingerprint && self.snapshot().part(link.name()).is_none() {
            let texts = remembered.tools.iter().map(|raw| raw.get());
            let part = Part::parse(link.name(), texts, &self.limits);
            self.update(|now| now.with(part));
        }
        self.heed(link.name(), &link.status());
    }

    /// Follows a link until told to stop.
    pub(crate) async fn follow(self: Arc<Self>, link: Link, fingerprint: String, stop: CancellationToken) {
        let (mut tools, mut status) = (link.watch_tools(), link.watch_status());
        loop {
            // Both are marked as seen before they are looked at, so that no change is missed.
            tools.mark_unchanged();
            status.mark_unchanged();
            self.catch_up(&link, &fingerprint, &stop);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                changed = tools.changed() => if changed.is_err() { return },
                changed = status.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Takes over what a link lists and how it is, unless it is no longer to be followed; costs nothing when
    /// both are known.
    pub(crate) fn catch_up(&self, link: &Link, fingerprint: &str, stop: &CancellationToken) {
        // Asked with the lock held: what a link that was let go of says last must not undo its removal.
        let mut seen = self.seen();
        if stop.is_cancelled() {
            return;
        }
        self.heed(link.name(), &link.status());
        let Some(list) = link.listed() else { return };
        if seen.get(link.name()).is_some_and(|old| Arc::ptr_eq(old, &list)) {
            return;
        }
        self.take(link.name(), fingerprint, &list);
        seen.insert(link.name().clone(), list);
    }

    fn take(&self, server: &ServerName, fingerprint: &str, list: &ToolList) {
        let texts = list.tools.iter().map(|tool| tool.raw.get());
        let mut part = Part::parse(server, texts, &self.limits);
        part.truncated.clone_from(&list.truncated);
        let unnamed = list.rejected.iter().map(|why| Rejected { tool: None, why: why.clone() });
        part.rejected.extend(unnamed);
        if self.update(|now| now.with(part)) {
            self.remember(server, fingerprint, list);
        }
    }

    /// Whether a server's tools can be called. One that starts on first need can.
    fn heed(&self, server: &ServerName, status: &Status) {
        let here = status.state.is_connected() || status.state == LinkState::Idle;
        let why = || {
            let state = status.state.as_str();
            status.reason().map_or_else(|| state.to_owned(), |reason| format!("{state}: {reason}"))
        };
        let away = (!here).then(|| {
            let since = status.since.duration_since(std::time::UNIX_EPOCH).ok();
            Away { why: why(), since: since.map(|since| since.as_secs()) }
        });
        self.update(|now| now.with_away(server, away));
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<ServerName, Arc<ToolList>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&Snapshot) -> Option<Snapshot>) -> bool {
        self.now.send_if_modified(|now| match change(now) {
            Some(next) => {
                *now = Arc::new(next);
                true
            }
            None => false,
        })
    }

    /// What cannot be written is no more than a slower start next time.
    fn remember(&self, server: &ServerName, fingerprint: &str, list: &ToolList) {
        let tools = list.tools.iter().map(|tool| tool.raw.clone()).collect();
        let remembered = Remembered { fingerprint: fingerprint.to_owned(), tools };
        if let Ok(text) = serde_json::to_string(&remembered) {
            let _ = crate::registry::write_cache(&self.file(server), &text);
        }
    }

    /// Writes the names down, beside those another process wrote meanwhile.
    pub(crate) fn save_names(&self) {
        let file = self.cache.join("names.json");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut rows: Rows = serde_json::from_str(&text).unwrap_or_default();
        let snapshot = self.snapshot();
        for form in Form::ALL {
            let row = |(server, tool, name): (&ServerName, &ToolName, &ShownName)| {
                (server.to_string(), tool.to_string(), name.to_string())
            };
            let ours = snapshot.names().table(form).iter().map(row);
            let theirs = rows.remove(form.as_str()).unwrap_or_default();
            // What was written first holds; rows that contradict it are left out.
            let (table, _) = Table::from_rows(theirs.into_iter().chain(ours));
            rows.insert(form.as_str().to_owned(), table.iter().map(row).collect());
        }
        let mut gateways = snapshot.names().gateways().clone();
        gateways.extend(rows.remove(GATEWAYS).unwrap_or_default().into_iter().filter_map(gateway_row));
        let row =
            |(server, name): (ServerName, ShownName)| (server.to_string(), String::new(), name.to_string());
        rows.insert(GATEWAYS.to_owned(), gateways.into_iter().map(row).collect());
        match serde_json::to_string(&rows) {
            Ok(now) if now != text => drop(crate::registry::write_cache(&file, &now)),
            _ => {}
        }
    }

    fn file(&self, server: &ServerName) -> PathBuf {
        self.cache.join("tools").join(format!("{}.json", server.slug()))
    }
}

fn gateway_row((server, _, name): (String, String, String)) -> Option<(ServerName, ShownName)> {
    Some((ServerName::parse(&server).ok()?, ShownName::parse(&name).ok()?))
}
