//! The sessions of the legacy era.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::stream::{Answers, Last, Stream};
use crate::house::House;
use crate::out::Out;
use crate::server::Talk;

/// Streams that a session keeps for a client that comes back.
const KEPT: usize = 64;

#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

pub(super) struct Session {
    pub(super) id: String,
    pub(super) talk: Talk,
    /// What belongs to no request: the GET stream, or all there is in the old SSE transport.
    pub(super) standalone: Arc<Stream>,
    pub(super) out: Arc<Out>,
    pub(super) calls: AtomicUsize,
    streams: Mutex<BTreeMap<u64, Arc<Stream>>>,
}

impl Sessions {
    pub(super) fn open(&self, house: &House, standalone: Arc<Stream>) -> Arc<Session> {
        // Other ids after a restart, so that an old one is never right by chance.
        let id = format!("{:016x}", RandomState::new().hash_one(standalone.number));
        let sink = Answers::new(Arc::clone(&standalone), None, Last::Never);
        let out = Arc::new(Out::new(sink, house.fault.clone()));
        house.tell(&out);
        let session = Arc::new(Session {
            talk: Arc::default(),
            out,
            calls: AtomicUsize::new(0),
            streams: Mutex::new(BTreeMap::from([(standalone.number, Arc::clone(&standalone))])),
            standalone,
            id: id.clone(),
        });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&session));
        session
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    pub(super) fn end(&self, id: &str) {
        let ended = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(session) = ended {
            session.standalone.close();
        }
    }
}

impl Session {
    pub(super) fn keep(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.insert(stream.number, Arc::clone(stream));
        while KEPT < streams.len() {
            // The oldest that is over; the first of all never is.
            let Some(old) =
                streams.iter().find(|(_, stream)| stream.is_finished()).map(|(number, _)| *number)
            else {
                break;
            };
            streams.remove(&old);
        }
    }

    pub(super) fn kept(&self, number: u64) -> Option<Arc<Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    /// Whether it has served as many calls as it lives.
    pub(super) fn is_over(&self, life: Option<usize>) -> bool {
        life.is_some_and(|life| life <= self.calls.load(Ordering::Relaxed))
    }
}
