//! One client: who it is, its calls in flight, and what it was asked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kitbag::connect::raw::Message;
use kitbag::offered::LogLevel;
use kitbag::{Answer, CancellationToken, Kitbag, UserId, View};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::ask::Declared;
use crate::audience::{Audience, Style};
use crate::endpoint::{Endpoint, Scope};
use crate::follow::Follows;
use crate::load::{Place, TooMuch};
use crate::news::ListsRead;
use crate::parked::Parked;
use crate::request_id::RequestId;
use crate::rpc::{self, RpcError, code};

/// Where messages go that belong to one request: its stream, or the one there is.
pub(crate) type Out = mpsc::Sender<String>;

/// A client of the endpoint.
pub(crate) struct Client {
    pub(crate) endpoint: Endpoint,
    pub(crate) kit: Kitbag,
    pub(crate) user: UserId,
    pub(crate) scope: Scope,
    /// The resources it follows, for all of its streams that wait for news.
    pub(crate) follows: Follows,
    /// The lists it was given.
    pub(crate) read: ListsRead,
    /// What it is, and how it wants to see tools.
    pub(crate) audience: Audience,
    /// Its calls that wait until it has answered a question.
    pub(crate) parked: Arc<Parked>,
    /// What it said when it began that it can be asked.
    declared: Mutex<Declared>,
    /// Requests in flight by the client's own ids.
    calls: Mutex<HashMap<RequestId, CancellationToken>>,
    asked: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    next: AtomicU64,
    /// What a client of the older era wants to hear at least.
    level: Mutex<Option<LogLevel>>,
}

impl Client {
    pub(crate) fn new(endpoint: Endpoint, kit: Kitbag, user: UserId, scope: Scope) -> Arc<Self> {
        let parked = endpoint.parked().clone();
        Self::with(endpoint, kit, user, scope, parked)
    }

    /// The one client of a process: what waits for it ends with it.
    pub(crate) fn alone(endpoint: Endpoint, kit: Kitbag, user: UserId, scope: Scope) -> Arc<Self> {
        Self::with(endpoint, kit, user, scope, Arc::default())
    }

    fn with(endpoint: Endpoint, kit: Kitbag, user: UserId, scope: Scope, parked: Arc<Parked>) -> Arc<Self> {
        Arc::new(Self {
            endpoint,
            kit,
            user,
            scope,
            follows: Follows::default(),
            read: ListsRead::default(),
            audience: Audience::default(),
            parked,
            declared: Mutex::default(),
            calls: Mutex::default(),
            asked: Mutex::default(),
            next: AtomicU64::new(1),
            level: Mutex::default(),
        })
    }

    /// What it sees now, and how.
    pub(crate) fn view(&self) -> Result<(Arc<View>, Style), RpcError> {
        self.endpoint.view(&self.kit, &self.user, &self.scope, &self.audience)
    }

    /// The list of tools as it would get it now.
    pub(crate) fn listed(&self) -> Option<Arc<str>> {
        let (view, style) = self.view().ok()?;
        Some(self.endpoint.list(&self.kit, &view, &style).text.clone())
    }

    /// Takes down what it says it is.
    pub(crate) fn introduces(&self, info: Option<&Value>) {
        if let Some(name) = info.and_then(|info| info.get("name")).and_then(Value::as_str) {
            self.audience.is_called(name);
        }
    }

    /// Takes down how much it wants to hear, for all of its calls.
    pub(crate) fn hears(&self, level: LogLevel) {
        *lock(&self.level) = Some(level);
    }

    /// How much it wants to hear of a call; nothing said means whatever the server says, in the older era.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        *lock(&self.level)
    }

    /// Takes down what it can be asked.
    pub(crate) fn offers(&self, capabilities: &Value) {
        *lock(&self.declared) = Declared::read(capabilities);
    }

    /// A place for one more call, if its user and it itself may have one.
    pub(crate) fn place(&self) -> Result<Place, TooMuch> {
        let open = lock(&self.calls).len();
        let taken = self.endpoint.places().call(&self.user, open, &self.kit.limits());
        taken.inspect_err(|refused| {
            if let Some(metrics) = self.endpoint.metrics() {
                metrics.limited(refused.what);
            }
        })
    }

    pub(crate) fn declared(&self) -> Declared {
        lock(&self.declared).clone()
    }

    /// Begins a request that can be cancelled by its id; over when what is handed back is dropped. Of two with the same id
    /// nobody could tell which one an answer, or a cancel, is about.
    pub(crate) fn begin(self: &Arc<Self>, id: &RawValue) -> Result<Running, RpcError> {
        let refused = |message: &str| RpcError::new(code::INVALID_REQUEST, message);
        let id = RequestId::read(id).ok_or_else(|| refused("id must be a string or a number"))?;
        let cancel = CancellationToken::new();
        match lock(&self.calls).entry(id.clone()) {
            Entry::Occupied(_) => return Err(refused("another request with this id is still running")),
            Entry::Vacant(free) => free.insert(cancel.clone()),
        };
        Ok(Running { client: self.clone(), id, cancel })
    }

    /// How many requests are in flight, and how many questions are open.
    #[cfg(test)]
    pub(crate) fn open(&self) -> (usize, usize) {
        (lock(&self.calls).len(), lock(&self.asked).len())
    }

    /// Something the client tells: an answer to a question of ours, or that a call is cancelled.
    pub(crate) fn told(&self, message: Message<'_>) {
        match message {
            Message::Answer { id, outcome } => {
                let Some(waiting) = lock(&self.asked).remove(&id) else { return };
                let words = |error: &RawValue| error.get().chars().take(500).collect::<String>();
                // Whoever gave up waiting needs no answer.
                let _ = waiting.send(outcome.map(RawValue::to_owned).map_err(words));
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                #[derive(Deserialize)]
                struct Cancelled<'a> {
                    #[serde(borrow, rename = "requestId")]
                    id: &'a RawValue,
                }
                let cancelled =
                    params.and_then(|params| serde_json::from_str::<Cancelled<'_>>(params.get()).ok());
                let id = cancelled.and_then(|cancelled| RequestId::read(cancelled.id));
                // One that is not known has ended, or never was.
                if let Some(call) = id.and_then(|id| lock(&self.calls).get(&id).cloned()) {
                    call.cancel();
                }
            }
            _ => {}
        }
    }

    /// A question for the client, as a request of ours: to be written by whoever keeps the order on this stream. Dropped
    /// before it is answered, it is taken back.
    pub(crate) fn question(
        self: &Arc<Self>,
        out: &Out,
        method: &str,
        params: &str,
    ) -> (OpenQuestion, String, oneshot::Receiver<Answer>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock(&self.asked).insert(id, sender);
        let open = OpenQuestion { client: self.clone(), out: out.clone(), id };
        (open, rpc::request(id, method, params), answer)
    }
}

/// A question that the client has not answered.
pub(crate) struct OpenQuestion {
    client: Arc<Client>,
    out: Out,
    id: u64,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if lock(&self.client.asked).remove(&self.id).is_some() {
            let params = format!(r#"{{"requestId":{},"reason":"no longer wanted"}}"#, self.id);
            // A client that reads too slowly may go on to answer; nobody waits for that.
            let _ = self.out.try_send(rpc::notification("notifications/cancelled", &params));
        }
    }
}

/// A call in flight.
pub(crate) struct Running {
    client: Arc<Client>,
    id: RequestId,
    pub(crate) cancel: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.client.calls).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
