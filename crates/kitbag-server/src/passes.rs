//! Tokens in use. Whoever showed one may go on only as long as it is good: streams and calls that are open end when it is
//! revoked, runs out or its user is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use kitbag::store::{Hash256, Store, StoreError, TokenEntry};
use kitbag::{CancellationToken, UserId};
use tokio::time::Instant;

use crate::access::Caller;

/// How exactly it is kept when a token was last used: it is written down no more often than this.
const NOTED: Duration = Duration::from_secs(60);

/// The right by which one request is made, as long as the request is open.
pub(crate) struct Pass {
    pub(crate) user: UserId,
    over: Option<CancellationToken>,
    passes: Arc<Passes>,
    token: Option<Hash256>,
}

impl Pass {
    /// Comes when the right ends; never, where no token was shown.
    pub(crate) fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let over = self.over.clone();
        async move {
            match over {
                Some(over) => over.cancelled().await,
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some(token) = self.token else { return };
        if let Some(held) = self.passes.lock().get_mut(&token) {
            held.requests = held.requests.saturating_sub(1);
        }
    }
}

/// One token in use.
struct Held {
    user: UserId,
    over: CancellationToken,
    /// How many requests are open.
    requests: usize,
    used: SystemTime,
    /// What of that is written down, and when it was.
    noted: Option<(SystemTime, Instant)>,
}

/// All tokens in use: no more than there are.
pub(crate) struct Passes {
    store: Option<Arc<dyn Store>>,
    held: Mutex<HashMap<Hash256, Held>>,
}

impl Passes {
    pub(crate) fn new(store: Option<Arc<dyn Store>>) -> Arc<Self> {
        Arc::new(Self { store, held: Mutex::default() })
    }

    /// Lets a request of this caller go on.
    pub(crate) fn pass(self: &Arc<Self>, caller: Caller) -> Pass {
        let Caller { user, token } = caller;
        let over = token.map(|token| {
            let mut all = self.lock();
            let held = all.entry(token).or_insert_with(|| Held {
                user: user.clone(),
                over: CancellationToken::new(),
                requests: 0,
                used: SystemTime::UNIX_EPOCH,
                noted: None,
            });
            held.requests += 1;
            held.used = SystemTime::now();
            held.over.clone()
        });
        Pass { user, over, passes: self.clone(), token }
    }

    /// Looks at every token in use: ends what goes on by one that is not good any more, and writes down when they were
    /// used.
    pub(crate) async fn look(&self, knows: impl Fn(&UserId) -> bool) {
        let Some(store) = self.store.as_deref() else { return };
        for (token, user, is_open) in self.tokens() {
            if is_open && !(knows(&user) && is_good(&store.find_token(&token).await)) {
                if let Some(held) = self.lock().remove(&token) {
                    held.over.cancel();
                }
                continue;
            }
            let Some(used) = self.due(&token) else { continue };
            // What cannot be written now is written with the next use.
            let _ = store.token_used(&token, used).await;
        }
        self.lock().retain(|_, held| 0 < held.requests || !held.is_rested());
    }

    fn tokens(&self) -> Vec<(Hash256, UserId, bool)> {
        let all = self.lock();
        all.iter().map(|(token, held)| (*token, held.user.clone(), 0 < held.requests)).collect()
    }

    /// When the token was used, if that is to be written down now.
    fn due(&self, token: &Hash256) -> Option<SystemTime> {
        let mut all = self.lock();
        let held = all.get_mut(token)?;
        let is_new = held.noted.is_none_or(|(noted, at)| noted < held.used && NOTED <= at.elapsed());
        is_new.then(|| {
            held.noted = Some((held.used, Instant::now()));
            held.used
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Hash256, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Whether nothing of it is to be written any more.
    fn is_rested(&self) -> bool {
        self.noted.is_some_and(|(noted, at)| noted == self.used && NOTED <= at.elapsed())
    }
}

/// While the store is away nobody loses what was begun.
fn is_good(found: &Result<Option<TokenEntry>, StoreError>) -> bool {
    match found {
        Ok(entry) => entry.as_ref().is_some_and(|entry| !entry.is_expired(SystemTime::now())),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
