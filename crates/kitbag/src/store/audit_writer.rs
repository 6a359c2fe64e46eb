//! Takes rows of the audit log from calls and writes them in the background: no call waits for the database, and one that
//! is away costs no row until the queue is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use kitbag_core::Limits;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use super::rotation::rotate_if_due;
use super::{AuditBatch, AuditDecision, AuditOutcome, AuditRow, Store, StoreError, WriterId};

/// The writing end of the audit log. Clones write to the same queue and the same chain.
#[derive(Clone, Debug)]
pub struct AuditWriter {
    queue: mpsc::Sender<Queued>,
    fill: Arc<Fill>,
    /// As many rows as are worth a step of their own.
    batch: usize,
    most_bytes: usize,
    id: WriterId,
}

/// Rows that were not written in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log could not be written in time: {rows} rows are missing")]
pub struct Unwritten {
    /// How many wait, or were lost.
    pub rows: u64,
}

/// What the queue holds and what it could not take.
#[derive(Debug, Default)]
struct Fill {
    rows: AtomicU64,
    bytes: AtomicUsize,
    /// Lost since the last row that says so.
    lost: AtomicU64,
    /// Lost since the beginning.
    lost_ever: AtomicU64,
    /// Told when what waits is to be written now.
    hurry: Notify,
}

/// Writes down the arguments of a call, without its secrets; done when the row is written, not while the call waits.
type LazyArguments = Box<dyn FnOnce() -> Option<String> + Send>;

enum Queued {
    Row(Box<AuditRow>, usize, Option<LazyArguments>),
    /// To be told when everything before it is written.
    Flush(oneshot::Sender<()>),
}

impl AuditWriter {
    /// Starts a chain of its own in this store. Its task ends when the last clone is dropped and all rows are written, or
    /// [`Limits::audit_flush`] after that.
    pub fn start(store: Arc<dyn Store>, limits: &Limits) -> Result<Self, StoreError> {
        let id = WriterId::random()?;
        let (queue, rows) = mpsc::channel(limits.audit_queue.max(1));
        let fill = Arc::new(Fill::default());
        let task = Task {
            store,
            rows,
            fill: fill.clone(),
            limits: limits.clone(),
            writer: id.clone(),
            next: 1,
            begun: None,
            look_again: None,
        };
        TaskTracker::new().spawn(task.run());
        // Before the queue is full.
        let batch = limits.audit_batch.min(limits.audit_queue / 2).max(1);
        Ok(Self { queue, fill, batch, most_bytes: limits.audit_bytes, id })
    }

    /// The name of its chain.
    pub fn id(&self) -> &WriterId {
        &self.id
    }

    /// How many rows are in the queue; those that are being written are not.
    pub fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// How many rows were lost since it was started.
    pub fn lost(&self) -> u64 {
        self.fill.lost_ever.load(Ordering::Relaxed)
    }

    /// Hands a row over and never waits. A row that finds the queue full is counted; the count becomes a row.
    pub fn record(&self, row: AuditRow) {
        self.take(row, 0, None);
    }

    /// The same for a row whose arguments are written down later: `held` is about how many bytes they take until then.
    pub fn record_lazy(
        &self,
        row: AuditRow,
        held: usize,
        arguments: impl FnOnce() -> Option<String> + Send + 'static,
    ) {
        self.take(row, held, Some(Box::new(arguments)));
    }

    fn take(&self, row: AuditRow, held: usize, arguments: Option<LazyArguments>) {
        let bytes = size(&row).saturating_add(held);
        let before = self.fill.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.fill.rows.fetch_add(1, Ordering::Relaxed);
        let has_room = before.saturating_add(bytes) <= self.most_bytes;
        if !has_room || self.queue.try_send(Queued::Row(Box::new(row), bytes, arguments)).is_err() {
            self.fill.took(1, bytes);
            self.fill.lose(1);
        }
        if self.batch <= self.waiting() {
            self.fill.hurry.notify_one();
        }
    }

    /// Waits until every row handed over before is written, but no longer than `within`.
    pub async fn flush(&self, within: Duration) -> Result<(), Unwritten> {
        let (done, written) = oneshot::channel();
        let all = async {
            self.queue.send(Queued::Flush(done)).await.ok()?;
            self.fill.hurry.notify_one();
            written.await.ok()
        };
        match tokio::time::timeout(within, all).await {
            Ok(Some(())) => Ok(()),
            _ => match self.fill.missing() {
                0 => Ok(()),
                rows => Err(Unwritten { rows }),
            },
        }
    }
}

impl Fill {
    fn took(&self, rows: u64, bytes: usize) {
        self.rows.fetch_sub(rows, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn lose(&self, rows: u64) {
        self.lost.fetch_add(rows, Ordering::Relaxed);
        self.lost_ever.fetch_add(rows, Ordering::Relaxed);
    }

    fn missing(&self) -> u64 {
        self.rows.load(Ordering::Relaxed) + self.lost.load(Ordering::Relaxed)
    }
}

struct Task {
    store: Arc<dyn Store>,
    rows: mpsc::Receiver<Queued>,
    fill: Arc<Fill>,
    limits: Limits,
    writer: WriterId,
    /// The number of the next row.
    next: u64,
    /// When the last step began.
    begun: Option<Instant>,
    /// Before then nothing more can have grown too old.
    look_again: Option<Instant>,
}

impl Task {
    async fn run(mut self) {
        let mut taken = Vec::new();
        let most = self.limits.audit_batch.max(1);
        while 0 < self.next(&mut taken, most).await {
            let (mut rows, mut size, mut flushes) = (Vec::new(), 0, Vec::new());
            for queued in taken.drain(..) {
                match queued {
                    Queued::Row(mut row, bytes, arguments) => {
                        if let Some(arguments) = arguments {
                            row.arguments = arguments();
                        }
                        rows.push(*row);
                        size += bytes;
                    }
                    Queued::Flush(done) => flushes.push(done),
                }
            }
            let count = rows.len() as u64;
            let mut is_written = self.write(rows).await;
            self.fill.took(count, size);
            // Afterwards, so that also what was lost meanwhile is counted, though nothing more may come.
            let lost = self.fill.lost.swap(0, Ordering::Relaxed);
            if is_written && 0 < lost {
                is_written = self.write(vec![lost_row(lost)]).await;
            }
            if !is_written {
                return;
            }
            // Only where something was written: looking must not make a database.
            if 0 < count {
                self.rotate().await;
            }
            for done in flushes {
                // Who gave up waiting needs no answer.
                let _ = done.send(());
            }
        }
    }

    /// Takes what is to be written next. A row after a pause is written at once; those of many calls in a row together, as
    /// each step ends with the database on disk.
    async fn next(&mut self, taken: &mut Vec<Queued>, most: usize) -> usize {
        let count = self.rows.recv_many(taken, most).await;
        let pause = self.begun.map(|begun| begun + self.limits.audit_gather);
        if let Some(until) = pause.filter(|until| Instant::now() < *until && 0 < count) {
            let is_row = |queued: &Queued| matches!(queued, Queued::Row(..));
            if count < most && taken.iter().all(is_row) && !self.rows.is_closed() {
                let _ = timeout_at(until, self.fill.hurry.notified()).await;
            }
            while taken.len() < most
                && let Ok(queued) = self.rows.try_recv()
            {
                taken.push(queued);
            }
        }
        self.begun = Some(Instant::now());
        taken.len()
    }

    /// Lets the log lose its oldest rows, if that is due. What goes wrong costs nothing but room.
    async fn rotate(&mut self) {
        let now = Instant::now();
        if self.look_again.is_some_and(|at| now < at) {
            return;
        }
        self.look_again = Some(now + self.limits.audit_rotate);
        if let Err(error) = rotate_if_due(&*self.store, &self.limits, SystemTime::now()).await {
            tracing::warn!(%error, "the audit log keeps more than it should");
        }
    }

    /// Writes a batch, however long it takes; whether it was, before nobody was left to wait for it.
    async fn write(&mut self, rows: Vec<AuditRow>) -> bool {
        if rows.is_empty() {
            return true;
        }
        let batch = AuditBatch { writer: self.writer.clone(), first: self.next, rows };
        let mut last = None;
        let mut give_up = None;
        loop {
            match self.store.append(&batch).await {
                Ok(()) => break,
                // Waiting does not help: the rows are counted, and nobody is held up for them.
                Err(error) if !error.is_passing() => {
                    tracing::warn!(%error, "the audit log cannot be written");
                    self.fill.lose(batch.rows.len() as u64);
                    return true;
                }
                // One line for one trouble, not one a second.
                Err(error) if last.as_ref() != Some(&error) => {
                    tracing::warn!(%error, "the audit log cannot be written; its rows wait");
                    last = Some(error);
                }
                Err(_) => {}
            }
            let now = Instant::now();
            if self.rows.is_closed() && *give_up.get_or_insert(now + self.limits.audit_flush) <= now {
                tracing::warn!(rows = self.fill.missing(), "rows of the audit log were lost at the end");
                return false;
            }
            tokio::time::sleep(self.limits.audit_retry).await;
        }
        self.next += batch.rows.len() as u64;
        true
    }
}

/// How much memory a row takes.
fn size(row: &AuditRow) -> usize {
    let texts = [&row.agent, &row.tool, &row.rule, &row.arguments, &row.call];
    size_of::<AuditRow>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
}

/// What stands in the log for rows that are not in it.
fn lost_row(rows: u64) -> AuditRow {
    AuditRow {
        at: SystemTime::now(),
        user: None,
        agent: None,
        server: None,
        tool: None,
        decision: AuditDecision::Lost(rows),
        rule: Some("audit_queue or audit_bytes".to_owned()),
        outcome: AuditOutcome::Ok,
        took: Duration::ZERO,
        request_bytes: 0,
        result_bytes: 0,
        arguments: None,
        call: None,
    }
}

#[cfg(test)]
mod tests;
