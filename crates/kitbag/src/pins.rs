//! The definitions tools are held to, kept in a store and known without asking it: a call never waits for a database but
//! once, at the start, until the pins are read.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use kitbag_core::catalog::Tool;
use kitbag_core::model::PinMode;
use kitbag_core::{Fault, FaultKind, ServerName, Stage, ToolName, UserId};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::store::{Hash256, Pin, PinKey, PinState, RowOwner, Store, StoreError};

/// Pins that wait to be written; one more holds until this process ends.
const QUEUE: usize = 1_024;

/// What is pinned, of all servers of one handle.
pub(crate) struct Pins {
    known: ArcSwap<Known>,
    /// Counts what may change a decision: the reading of pins, approvals, removals.
    revision: AtomicU64,
    /// Whether a tool was held since they were read: then it is worth looking whether another process approved it.
    holds: AtomicBool,
    /// Whether the pins are read, or cannot be.
    read: watch::Sender<bool>,
    queue: Option<mpsc::Sender<Pin>>,
    trouble: ArcSwap<Option<StoreError>>,
}

#[derive(Clone, PartialEq)]
enum Known {
    /// Nothing is kept: every definition is as good as another.
    Nothing,
    /// They are still being read.
    Reading,
    Read(PinMap),
    /// They cannot be read, so nobody knows what was approved.
    Unknown(Arc<str>),
}

/// The pins of servers that all share, and of those that are the user's own.
#[derive(Clone, Default, PartialEq)]
struct PinMap {
    shared: HashMap<ServerName, HashMap<ToolName, Pinned>>,
    own: HashMap<ServerName, HashMap<ToolName, Pinned>>,
}

impl PinMap {
    /// Looked up for every call, so nothing is copied.
    fn get(&self, owner: Option<&UserId>, tool: &Tool) -> Option<Pinned> {
        let of_owner = if owner.is_none() { &self.shared } else { &self.own };
        of_owner.get(&tool.server)?.get(&tool.name).copied()
    }

    /// What is there stays.
    fn add(&mut self, key: &PinKey, pinned: Pinned) {
        let of_owner = if key.owner == RowOwner::Shared { &mut self.shared } else { &mut self.own };
        of_owner.entry(key.server.clone()).or_default().entry(key.tool.clone()).or_insert(pinned);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Pinned {
    hash: Hash256,
    is_approved: bool,
}

/// A tool, and the definition it is held to; see [`crate::Kitbag::pinned_tools`].
#[derive(Clone, Debug)]
pub struct PinnedTool {
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: ToolName,
    /// What its pin says.
    pub status: PinStatus,
    /// Its pin, if it has one.
    pub pin: Option<Pin>,
    /// As it is listed now, if it is.
    pub now: Option<Arc<Tool>>,
    /// What the pinned definition says to a model instead of describing the tool: hints for whoever approves it.
    pub pinned_findings: Vec<Fault>,
    /// The same of the definition as it is listed now.
    pub findings: Vec<Fault>,
}

/// What a pin says about a tool as it is listed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinStatus {
    /// It was never used or approved.
    New,
    /// It is as it was when it was first used.
    Seen,
    /// It is as it was approved.
    Approved,
    /// It is not as it was first used or approved.
    Changed,
    /// It is not listed now.
    Gone,
}

impl PinStatus {
    /// As it is shown and written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Seen => "seen",
            Self::Approved => "approved",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }
}

/// What a pin says about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PinVerdict {
    /// Nothing is against it.
    Free,
    /// A person approved just this definition.
    Approved,
    /// It waits for a person's approval.
    Held(String),
}

impl Pins {
    /// Reads the pins of a user and those that all share, in the background, and tells when another process changed what is
    /// held; without a store nothing is pinned.
    pub(crate) fn open(
        store: Option<Arc<dyn Store>>,
        user: &UserId,
        poll: Duration,
        tasks: &TaskTracker,
        stop: CancellationToken,
        told: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        let known = if store.is_some() { Known::Reading } else { Known::Nothing };
        let (queue, waiting) = mpsc::channel(QUEUE);
        let pins = Arc::new(Self {
            known: ArcSwap::from_pointee(known),
            revision: AtomicU64::new(0),
            holds: AtomicBool::new(false),
            read: watch::Sender::new(store.is_none()),
            queue: store.is_some().then_some(queue),
            trouble: ArcSwap::from_pointee(None),
        });
        if let Some(store) = store {
            let (pins, user) = (pins.clone(), user.clone());
            tasks.spawn(async move {
                pins.read_from(&*store, &user).await;
                pins.keep(&*store, &user, waiting, poll, stop, told).await;
            });
        }
        pins
    }

    /// Reads them anew.
    pub(crate) async fn read_from(&self, store: &dyn Store, user: &UserId) {
        let known = self.read(store, user).await;
        self.known.store(Arc::new(known));
        self.is_other();
    }

    /// Reads them anew as long as a tool is held, or nobody knows whether one is; whether that changed anything.
    async fn look_again(&self, store: &dyn Store, user: &UserId, waiting: &mpsc::Receiver<Pin>) -> bool {
        let before = self.known.load_full();
        let known = self.read(store, user).await;
        // What is known stays known while the store is away; what was used meanwhile is not in it yet.
        let is_lost = matches!((&*before, &known), (Known::Read(_), Known::Unknown(_)));
        if is_lost || *before == known || !waiting.is_empty() {
            return false;
        }
        let last = self.known.compare_and_swap(&before, Arc::new(known));
        let is_other = Arc::ptr_eq(&last, &before);
        if is_other {
            self.is_other();
        }
        is_other
    }

    async fn read(&self, store: &dyn Store, user: &UserId) -> Known {
        let read = async {
            let mut all = store.pins(&RowOwner::Shared).await?;
            all.extend(store.pins(&RowOwner::User(user.clone())).await?);
            Ok::<_, StoreError>(all)
        };
        match read.await {
            Ok(all) => {
                let mut pins = PinMap::default();
                all.iter().for_each(|pin| pins.add(&pin.key, Pinned::of(pin)));
                self.trouble.store(Arc::default());
                Known::Read(pins)
            }
            Err(error) => {
                let why = format!("pins cannot be read: {error}").into();
                self.trouble.store(Arc::new(Some(error)));
                Known::Unknown(why)
            }
        }
    }

    /// What is held may be another.
    fn is_other(&self) {
        self.holds.store(false, Ordering::Release);
        self.revision.fetch_add(1, Ordering::Release);
        self.read.send_replace(true);
    }

    /// Writes what is used for the first time, until told to stop; what waits then is written still. Looks now and then
    /// whether another process approved what is held here.
    async fn keep(
        &self,
        store: &dyn Store,
        user: &UserId,
        mut waiting: mpsc::Receiver<Pin>,
        poll: Duration,
        stop: CancellationToken,
        told: impl Fn(),
    ) {
        let mut batch = Vec::new();
        let mut is_over = false;
        while !is_over {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    while let Ok(pin) = waiting.try_recv() {
                        batch.push(pin);
                    }
                    is_over = true;
                }
                count = waiting.recv_many(&mut batch, QUEUE), if batch.len() < QUEUE => is_over = count == 0,
                () = tokio::time::sleep(poll) => {
                    if batch.is_empty() && self.holds.load(Ordering::Acquire)
                        && self.look_again(store, user, &waiting).await
                    {
                        told();
                    }
                }
            }
            if batch.is_empty() {
                continue;
            }
            match store.put_pins(&batch).await {
                // They hold for this process all the same, and are written when the store is there again.
                Err(error) if error.is_passing() => self.trouble.store(Arc::new(Some(error))),
                Err(error) => {
                    self.trouble.store(Arc::new(Some(error)));
                    batch.clear();
                }
                Ok(()) => {
                    self.trouble.store(Arc::default());
                    batch.clear();
                }
            }
        }
    }

    /// Waits until the pins are read.
    pub(crate) async fn is_read(&self) {
        if matches!(**self.known.load(), Known::Reading) {
            let _ = self.read.subscribe().wait_for(|read| *read).await;
        }
    }

    /// Changes whenever what is held may be another.
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// What the pins say about a tool of a server with this owner.
    pub(crate) fn judge(&self, mode: PinMode, owner: Option<&UserId>, tool: &Tool) -> PinVerdict {
        let verdict = self.verdict(mode, owner, tool);
        if matches!(verdict, PinVerdict::Held(_)) {
            self.holds.store(true, Ordering::Release);
        }
        verdict
    }

    fn verdict(&self, mode: PinMode, owner: Option<&UserId>, tool: &Tool) -> PinVerdict {
        let known = self.known.load();
        let pinned = match &**known {
            Known::Nothing => return PinVerdict::Free,
            Known::Reading if mode == PinMode::Strict => {
                return PinVerdict::Held("its pin is still being read".to_owned());
            }
            // A call waits until they are read, and is judged then.
            Known::Reading => return PinVerdict::Free,
            Known::Unknown(_) if mode == PinMode::Off => return PinVerdict::Free,
            Known::Unknown(why) => return PinVerdict::Held(why.to_string()),
            Known::Read(pins) => pins.get(owner, tool),
        };
        let is_same = |pinned: &Pinned| pinned.hash.as_bytes() == &tool.definition_hash();
        match (pinned, mode) {
            (Some(pinned), _) if pinned.is_approved && is_same(&pinned) => PinVerdict::Approved,
            (_, PinMode::Off) => PinVerdict::Free,
            (Some(pinned), _) if !is_same(&pinned) => {
                let since = if pinned.is_approved { "approved" } else { "first used" };
                PinVerdict::Held(format!("its definition changed since it was {since}"))
            }
            (_, PinMode::Strict) => PinVerdict::Held("nobody has approved it".to_owned()),
            (_, PinMode::FirstUse) => PinVerdict::Free,
        }
    }

    /// A tool is called: from now on it is held to this definition, unless it was before.
    pub(crate) fn used(&self, mode: PinMode, owner: Option<&UserId>, tool: &Tool) {
        let (Some(queue), PinMode::FirstUse) = (&self.queue, mode) else { return };
        if !matches!(&**self.known.load(), Known::Read(pins) if pins.get(owner, tool).is_none()) {
            return;
        }
        let key = key(owner, &tool.server, &tool.name);
        let hash = Hash256::from_bytes(tool.definition_hash());
        let pinned = Pinned { hash, is_approved: false };
        let now = SystemTime::now();
        let (definition, state) = (tool.canonical_definition(), PinState::Seen);
        // Before it is known: who reads the store anew must see that something waits.
        let _ = queue.try_send(Pin {
            key: key.clone(),
            hash,
            definition,
            state,
            first_seen: now,
            last_seen: now,
        });
        // What is free stays free: no view has to be made anew for this.
        self.known.rcu(|known| match &**known {
            Known::Read(pins) => {
                let mut pins = pins.clone();
                pins.add(&key, pinned);
                Known::Read(pins)
            }
            other => other.clone(),
        });
    }

    /// What went wrong with the store, if anything did.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let trouble = self.trouble.load();
        let error = trouble.as_ref().as_ref()?;
        let fault = Fault::error(FaultKind::Store, error.to_string());
        Some(Fault { stage: Stage::Shape, ..fault })
    }
}

impl Pinned {
    fn of(pin: &Pin) -> Self {
        Self { hash: pin.hash, is_approved: matches!(pin.state, PinState::Approved { .. }) }
    }
}

/// Which pin a tool has.
pub(crate) fn key(owner: Option<&UserId>, server: &ServerName, tool: &ToolName) -> PinKey {
    PinKey { owner: owner.cloned().into(), server: server.clone(), tool: tool.clone() }
}
