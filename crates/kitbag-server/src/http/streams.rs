//! How many streams each user has open: every one of them is a connection that ends when its client wants.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kitbag::{Limits, UserId};

/// The open streams of all users.
#[derive(Clone)]
pub(super) struct Streams {
    most: usize,
    open: Arc<Mutex<HashMap<UserId, usize>>>,
}

impl Streams {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { most: limits.serve_streams, open: Arc::default() }
    }

    /// A place for one more; none where the user has as many as there may be.
    pub(super) fn open(&self, user: &UserId) -> Option<StreamPlace> {
        let mut open = self.lock();
        let count = open.entry(user.clone()).or_default();
        if self.most <= *count {
            return None;
        }
        *count += 1;
        drop(open);
        Some(StreamPlace { streams: self.clone(), user: user.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One stream, until it is dropped.
pub(super) struct StreamPlace {
    streams: Streams,
    user: UserId,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        if let Some(count) = open.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.user);
            }
        }
    }
}
