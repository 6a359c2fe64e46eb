//! When rows are written.

use super::*;
use crate::store::{AuditQuery, AuditScope, MemoryStore};

/// How many rows are in the log once everything that can go on without the clock has.
async fn written(store: &dyn Store) -> usize {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    store.page(&AuditQuery::newest(AuditScope::All, 100)).await.unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn rows_of_calls_in_a_row_are_written_together_and_a_flush_waits_for_nothing() {
    let (store, limits) = (Arc::new(MemoryStore::new(&Limits::default())), Limits::default());
    let writer = AuditWriter::start(store.clone(), &limits).unwrap();
    let began = Instant::now();
    writer.record(lost_row(1));
    assert_eq!(written(&*store).await, 1, "after a pause at once");
    for _ in 0..3 {
        writer.record(lost_row(1));
    }
    assert_eq!(written(&*store).await, 1, "the others wait");
    assert_eq!(Instant::now(), began);
    tokio::time::advance(limits.audit_gather).await;
    assert_eq!(written(&*store).await, 4);
    writer.record(lost_row(1));
    assert_eq!(written(&*store).await, 4);
    let began = Instant::now();
    writer.flush(limits.audit_flush).await.unwrap();
    assert_eq!((written(&*store).await, Instant::now()), (5, began));
    for _ in 0..limits.audit_batch {
        writer.record(lost_row(1));
    }
    assert_eq!(written(&*store).await, 100, "a whole batch waits for no clock");
    assert_eq!(Instant::now(), began);
}
