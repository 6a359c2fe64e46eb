//! Sessions of the older era: a client between its `initialize` and its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use kitbag::{CancellationToken, Limits, UserId};

use super::old_sse::Channel;
use super::streams::StreamPlace;
use crate::client::Client;

#[cfg(test)]
mod tests;

/// One session.
pub(super) struct Session {
    pub(super) client: Arc<Client>,
    /// Told when it ends: then its calls and its stream do, too.
    pub(super) ended: CancellationToken,
    /// Where everything goes, in the oldest transport.
    channel: OnceLock<Channel>,
    /// Whether its stream is open.
    is_heard: AtomicBool,
    /// Its requests and streams that go on.
    open: AtomicUsize,
    /// Whether anything came after its beginning.
    is_used: AtomicBool,
    /// When the endpoint began.
    began: Instant,
    /// When it was last used, in milliseconds since then.
    used: AtomicU64,
}

/// The one stream of a session; another may be opened when it is dropped.
pub(super) struct Listener {
    pub(super) session: Arc<Session>,
    _use: SessionUse,
    _place: StreamPlace,
}

/// Something of a session that goes on: meanwhile it does not count as idle.
pub(super) struct SessionUse(Arc<Session>);

impl Session {
    fn new(client: Arc<Client>, began: Instant) -> Self {
        Self {
            client,
            ended: CancellationToken::new(),
            channel: OnceLock::new(),
            is_heard: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            is_used: AtomicBool::new(false),
            began,
            used: AtomicU64::new(millis(began.elapsed())),
        }
    }

    /// Takes the place of its listener; none where there is one.
    pub(super) fn listen(self: &Arc<Self>, place: StreamPlace) -> Option<Listener> {
        let is_first = !self.is_heard.swap(true, Ordering::AcqRel);
        is_first.then(|| Listener { session: self.clone(), _use: self.in_use(), _place: place })
    }

    /// Takes the channel its answers go through.
    pub(super) fn open_channel(&self, channel: Channel) {
        // There is one: whoever began the session has it alone.
        let _ = self.channel.set(channel);
    }

    /// The channel its answers go through; none where each request is answered by itself.
    pub(super) fn channel(&self) -> Option<&Channel> {
        self.channel.get()
    }

    /// Something begins that belongs to it.
    pub(super) fn in_use(self: &Arc<Self>) -> SessionUse {
        self.open.fetch_add(1, Ordering::AcqRel);
        SessionUse(self.clone())
    }

    fn touch(&self) {
        self.used.store(millis(self.began.elapsed()), Ordering::Relaxed);
    }

    fn is_open(&self) -> bool {
        0 < self.open.load(Ordering::Acquire)
    }
}

impl SessionUse {
    /// Told when the session ends.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.0.ended
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.session.is_heard.store(false, Ordering::Release);
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        self.0.touch();
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// All sessions of an endpoint.
pub(super) struct Sessions {
    began: Instant,
    limits: Arc<Limits>,
    open: Mutex<HashMap<String, Arc<Session>>>,
    /// When idle ones were last looked for.
    swept: AtomicU64,
}

impl Sessions {
    pub(super) fn new(limits: Arc<Limits>) -> Self {
        Self { began: Instant::now(), limits, open: Mutex::default(), swept: AtomicU64::new(0) }
    }

    /// Begins a session; its id, which nobody can guess. Where its user has as many as there may be, the one ends that
    /// will be missed least. None where all are in use, or without randomness.
    pub(super) fn begin(&self, client: Arc<Client>) -> Option<(String, Arc<Session>)> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id = HEXLOWER.encode(&bytes);
        let session = Arc::new(Session::new(client, self.began));
        let mut open = self.sweep();
        let user = &session.client.user;
        let is_theirs = |other: &Session| other.client.user == *user;
        if self.limits.serve_user_sessions <= open.values().filter(|other| is_theirs(other)).count() {
            end_one(&mut open, is_theirs)?;
        }
        if self.limits.serve_sessions <= open.len() {
            end_one(&mut open, |_| true)?;
        }
        open.insert(id.clone(), session.clone());
        Some((id, session))
    }

    /// The session with this id, if it is this user's. Another's does not exist for them.
    pub(super) fn find(&self, id: &str, user: &UserId) -> Option<Arc<Session>> {
        let open = self.sweep();
        let session = open.get(id).filter(|session| session.client.user == *user)?;
        session.touch();
        session.is_used.store(true, Ordering::Relaxed);
        Some(session.clone())
    }

    /// Ends a session; whether there was one of this user's.
    pub(super) fn end(&self, id: &str, user: &UserId) -> bool {
        let mut open = self.open();
        let is_theirs = open.get(id).is_some_and(|session| session.client.user == *user);
        let ended = is_theirs.then(|| open.remove(id)).flatten();
        ended.inspect(|session| session.ended.cancel()).is_some()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open().len()
    }

    /// Without those that nobody has used for long. They are looked for every now and then.
    fn sweep(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        let (now, idle) = (self.now(), millis(self.limits.serve_idle));
        let mut open = self.open();
        if idle / 16 <= now.saturating_sub(self.swept.load(Ordering::Relaxed)) {
            self.swept.store(now, Ordering::Relaxed);
            open.retain(|_, session| {
                let since = now.saturating_sub(session.used.load(Ordering::Relaxed));
                let is_kept = session.is_open() || since < idle;
                if !is_kept {
                    session.ended.cancel();
                }
                is_kept
            });
        }
        open
    }

    fn now(&self) -> u64 {
        millis(self.began.elapsed())
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the session that is missed least: one that was begun and never used, else the one longest unused. Those in which
/// something goes on stay.
fn end_one(open: &mut HashMap<String, Arc<Session>>, may_end: impl Fn(&Session) -> bool) -> Option<()> {
    let order =
        |session: &Session| (session.is_used.load(Ordering::Relaxed), session.used.load(Ordering::Relaxed));
    let idle = open.iter().filter(|(_, session)| !session.is_open() && may_end(session));
    let id = idle.min_by_key(|(_, session)| order(session)).map(|(id, _)| id.clone())?;
    open.remove(&id).map(|session| session.ended.cancel())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
