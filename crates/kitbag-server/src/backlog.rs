//! What one client may have in flight over a channel that carries all its requests: by what they hold, and a little for
//! each.

use std::sync::Arc;

use kitbag::Limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room is counted in this many bytes.
const UNIT: usize = 1 << 10;
/// What a request holds beside its own bytes: a task, its call, its answer.
const EACH: usize = 64 << 10;

/// The room of one client.
pub(crate) struct Backlog {
    room: Arc<Semaphore>,
    most: u32,
}

/// The room of one request, until it is dropped.
pub(crate) struct Room(#[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>);

impl Backlog {
    pub(crate) fn new(limits: &Limits) -> Self {
        let most = u32::try_from(limits.serve_backlog / UNIT).unwrap_or(u32::MAX).max(1);
        let permits = usize::try_from(most).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self { room: Arc::new(Semaphore::new(permits)), most }
    }

    /// Room for a request of so many bytes, once there is. One that is larger than all room has it for itself.
    pub(crate) async fn room(&self, bytes: usize) -> Room {
        Room(self.room.clone().acquire_many_owned(self.units(bytes)).await.ok())
    }

    /// The same, if there is room now.
    pub(crate) fn room_now(&self, bytes: usize) -> Option<Room> {
        let permit = self.room.clone().try_acquire_many_owned(self.units(bytes)).ok()?;
        Some(Room(Some(permit)))
    }

    fn units(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.saturating_add(EACH) / UNIT).unwrap_or(u32::MAX).min(self.most)
    }
}
