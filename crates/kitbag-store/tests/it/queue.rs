//! The queue before the audit log: rows wait while the database cannot be written, and what does not fit is counted.

use kitbag::store::{AuditDecision, AuditQuery, AuditScope, AuditVerdict, AuditWriter, Store};
use sqlx::Connection as _;
use std::sync::Arc;

use crate::rows::{pin, row};
use crate::stores::{Place, at};

/// A database that another process keeps locked: every write fails with `Busy`.
struct Locked {
    place: Place,
    store: Arc<dyn Store>,
    lock: sqlx::AnyConnection,
}

impl Locked {
    async fn new(set: impl FnOnce(&mut kitbag::Limits)) -> Self {
        let mut place = Place::sqlite();
        place.limits = place.limits.faster(50);
        set(&mut place.limits);
        let store = place.open();
        store.put_pins(&[pin("", "read", "{}")]).await.unwrap();
        let mut lock = place.raw().await;
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut lock).await.unwrap();
        Self { place, store, lock }
    }

    fn writer(&self) -> AuditWriter {
        AuditWriter::start(self.store.clone(), &self.place.limits).unwrap()
    }

    /// Lets the others write, and reads what they wrote, the oldest first.
    async fn free(self, writer: AuditWriter) -> Vec<AuditDecision> {
        self.lock.close().await.unwrap();
        writer.flush(testkit::PATIENCE).await.unwrap();
        let page = self.store.page(&AuditQuery::newest(AuditScope::All, 1000)).await.unwrap();
        let rows = page.len() as u64;
        assert_eq!(self.store.verify().await.unwrap(), AuditVerdict::Intact { rows });
        page.into_iter().rev().map(|entry| entry.row.decision).collect()
    }
}

#[tokio::test]
async fn t44_rows_wait_while_the_database_is_locked() {
    let locked = Locked::new(|_| {}).await;
    let writer = locked.writer();
    for n in 0..100 {
        writer.record(row("ada", n));
    }
    let unwritten = writer.flush(locked.place.limits.audit_flush).await.unwrap_err();
    assert_eq!(unwritten.rows, 100);
    assert_eq!(locked.free(writer).await, [AuditDecision::Denied; 100]);
}

/// `audit_queue`: so many wait, and the rest is one row with their number. (One batch more is on its way.)
#[tokio::test]
async fn t44_a_full_queue_leaves_the_number_of_lost_rows() {
    let locked = Locked::new(|limits| {
        limits.audit_queue = 4;
        limits.audit_batch = 1;
    })
    .await;
    let writer = locked.writer();
    writer.record(row("ada", 0));
    // The first row is on its way once its place in the queue is free again, so four more wait and five are lost.
    assert!(testkit::until(testkit::PATIENCE, || writer.waiting() == 0).await);
    for n in 1..10 {
        writer.record(row("ada", n));
    }
    let decisions = locked.free(writer).await;
    let lost: Vec<_> = decisions.iter().filter(|decision| **decision != AuditDecision::Denied).collect();
    assert_eq!(lost, [&AuditDecision::Lost(5)], "{decisions:?}");
    assert_eq!(decisions.len(), 6);
}

/// `audit_bytes`: few large rows fill the queue as many small ones do.
#[tokio::test]
async fn t44_large_rows_fill_the_queue_too() {
    let locked = Locked::new(|limits| limits.audit_bytes = 10_000).await;
    let writer = locked.writer();
    for n in 0..5 {
        let arguments = Some("x".repeat(4000));
        writer.record(kitbag::store::AuditRow { arguments, ..row("ada", n) });
    }
    let decisions = locked.free(writer).await;
    assert!(decisions.contains(&AuditDecision::Lost(3)), "{decisions:?}");
    assert_eq!(decisions.len(), 3);
}

/// A program that drops its writer and goes on: what waits is still written.
#[tokio::test]
async fn t44_rows_of_a_dropped_writer_are_written() {
    let place = Place::sqlite();
    let store = place.open();
    let writer = AuditWriter::start(store.clone(), &place.limits).unwrap();
    for n in 0..1200 {
        writer.record(row("ada", n));
    }
    let id = writer.id().clone();
    drop(writer);
    testkit::in_time(async {
        while store.head(&id).await.unwrap().is_none_or(|(last, _)| last < 1200) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 1200 });
    let newest = store.page(&AuditQuery::newest(AuditScope::All, 1)).await.unwrap();
    assert_eq!(newest[0].row.at, at(1199));
}

/// `audit_batch`: so many rows leave the queue in one step.
#[tokio::test]
async fn t44_a_batch_takes_so_many_rows() {
    let locked = Locked::new(|limits| limits.audit_batch = 2).await;
    let writer = locked.writer();
    for n in 0..5 {
        writer.record(row("ada", n));
    }
    assert!(testkit::until(testkit::PATIENCE, || writer.waiting() < 5).await);
    assert_eq!(writer.waiting(), 3);
    assert_eq!(locked.free(writer).await.len(), 5);
}

/// `audit_retry`: rows that could not be written are not tried again before.
#[tokio::test]
async fn t44_rows_are_tried_again_after_audit_retry() {
    let Locked { place, store, lock } =
        Locked::new(|limits| limits.audit_retry = 10 * testkit::PATIENCE).await;
    let writer = AuditWriter::start(store, &place.limits).unwrap();
    writer.record(row("ada", 1));
    // Longer than one try takes.
    writer.flush(5 * place.limits.store_wait).await.unwrap_err();
    lock.close().await.unwrap();
    assert_eq!(writer.flush(place.limits.audit_flush).await.unwrap_err().rows, 1);
}

/// `audit_flush`: who is gone is not waited for without end.
#[tokio::test]
async fn t44_a_writer_that_is_dropped_gives_up_in_time() {
    let locked = Locked::new(|_| {}).await;
    let writer = locked.writer();
    writer.record(row("ada", 1));
    assert_eq!(Arc::strong_count(&locked.store), 2);
    drop(writer);
    assert!(testkit::until(testkit::PATIENCE, || Arc::strong_count(&locked.store) == 1).await);
}

/// `store_wait`: a lock of another process is waited for so long, and then it is told which file it is.
#[tokio::test]
async fn a_locked_database_is_busy_after_store_wait() {
    let locked = Locked::new(|_| {}).await;
    let since = testkit::Since::now();
    let busy = locked.store.put_pins(&[pin("", "read", "{}")]).await.unwrap_err();
    since.at_least(locked.place.limits.store_wait);
    let what = locked.place.file().display().to_string();
    assert_eq!(busy, kitbag::store::StoreError::Busy { what });
    // Who only reads does not wait.
    assert_eq!(locked.store.pins(&crate::rows::owner("")).await.unwrap().len(), 1);
}
