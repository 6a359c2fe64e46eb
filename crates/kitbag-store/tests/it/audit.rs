//! The audit log: pages, chains, rotation.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag::store::{
    AuditDecision, AuditOutcome, AuditPosition, AuditQuery, AuditRow, AuditScope, AuditVerdict, Retention,
    Store, WriterId,
};

use crate::rows::{batch, row};
use crate::stores::{at, server, user};

const ALL: AuditScope = AuditScope::All;

/// The times of what a query finds, in milliseconds after `at(0)`.
async fn times(store: &Arc<dyn Store>, query: &AuditQuery) -> Vec<u128> {
    let rows = store.page(query).await.unwrap();
    rows.iter().map(|entry| entry.row.at.duration_since(at(0)).unwrap().as_millis()).collect()
}

pub(crate) async fn pages_are_newest_first(store: Arc<dyn Store>) {
    let other = AuditRow { server: Some(server("other")), ..row("ada", 3) };
    let nobody = AuditRow {
        user: None,
        agent: None,
        server: None,
        tool: None,
        decision: AuditDecision::Lost(17),
        rule: None,
        outcome: AuditOutcome::Ok,
        arguments: None,
        call: None,
        ..row("ada", 5)
    };
    store.append(&batch("w1", 1, vec![row("ada", 1), other.clone(), nobody.clone()])).await.unwrap();
    store.append(&batch("w2", 1, vec![row("ben", 2), row("ada", 4), row("ada", 4)])).await.unwrap();

    let query = AuditQuery::newest(ALL, 100);
    let all = store.page(&query).await.unwrap();
    assert_eq!((&all[0].row, &all[3].row), (&nobody, &other), "every column comes back");
    assert_eq!(times(&store, &query).await, [5, 4, 4, 3, 2, 1]);
    let of_ada = AuditQuery::newest(AuditScope::User(user("ada")), 100);
    assert_eq!(times(&store, &of_ada).await, [4, 4, 3, 1]);
    let of_server = AuditQuery { server: Some(server("other")), ..of_ada.clone() };
    assert_eq!(times(&store, &of_server).await, [3]);
    let between = AuditQuery { since: Some(at(2)), until: Some(at(4)), ..query.clone() };
    assert_eq!(times(&store, &between).await, [3, 2]);
    // Page by page: each row once, also where two have one time, and through the text of a position.
    let mut seen = Vec::new();
    let mut next = AuditQuery { limit: 2, ..query };
    loop {
        let page = store.page(&next).await.unwrap();
        let Some(last) = page.last() else { break };
        next.before = Some(last.position.to_string().parse::<AuditPosition>().unwrap());
        seen.extend(page);
    }
    assert_eq!(seen, all);
}

pub(crate) async fn a_batch_is_written_once(store: Arc<dyn Store>) {
    let first = batch("w", 1, vec![row("ada", 1), row("ada", 2)]);
    store.append(&first).await.unwrap();
    // Its fate was not known, so it is sent again, with more behind it.
    store.append(&first).await.unwrap();
    store.append(&batch("w", 2, vec![row("ada", 2), row("ada", 3)])).await.unwrap();
    assert_eq!(times(&store, &AuditQuery::newest(ALL, 9)).await, [3, 2, 1]);
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 3 });
    assert_eq!(store.head(&WriterId::new("w")).await.unwrap().unwrap().0, 3);
    // Rows between are missing.
    assert!(store.append(&batch("w", 5, vec![row("ada", 5)])).await.is_err());
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 3 });
}

/// Processes come by at the same time; a clock that was far ahead must not put it off for ever.
pub(crate) async fn one_of_many_rotates_and_not_too_soon(store: Arc<dyn Store>) {
    let every = Duration::from_millis(10);
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        all.spawn(async move { store.begin_rotation(at(100), every).await.unwrap() });
    }
    assert_eq!(all.join_all().await.into_iter().filter(|is_due| *is_due).count(), 1);
    let due = async |now| store.begin_rotation(at(now), every).await.unwrap();
    assert_eq!((due(109).await, due(95).await, due(110).await, due(110).await), (false, false, true, false));
    assert_eq!((due(100).await, due(99).await, due(100).await), (false, true, false));
}

pub(crate) async fn what_rotates_away_leaves_a_chain_that_verifies(store: Arc<dyn Store>) {
    let everything =
        Retention { older_than: SystemTime::UNIX_EPOCH, most_rows: u64::MAX, most_bytes: u64::MAX };
    store.append(&batch("w1", 1, (1..=10).map(|n| row("ada", n)).collect())).await.unwrap();
    store.append(&batch("w2", 1, vec![row("ada", 2), row("ada", 11)])).await.unwrap();
    assert_eq!(store.rotate(&everything).await.unwrap(), 0);
    assert_eq!(store.rotate(&Retention { older_than: at(4), ..everything }).await.unwrap(), 4);
    assert_eq!(times(&store, &AuditQuery::newest(ALL, 99)).await, [11, 10, 9, 8, 7, 6, 5, 4]);
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 8 });
    assert_eq!(store.rotate(&Retention { most_rows: 5, ..everything }).await.unwrap(), 3);
    assert_eq!(times(&store, &AuditQuery::newest(ALL, 99)).await, [11, 10, 9, 8, 7]);
    // All rows are of one size.
    let bytes = kitbag::store::chain::AuditColumns::from(&row("ada", 1)).bytes() as u64;
    assert_eq!(store.rotate(&Retention { most_bytes: 3 * bytes - 1, ..everything }).await.unwrap(), 3);
    assert_eq!(times(&store, &AuditQuery::newest(ALL, 99)).await, [11, 10]);
    // Both chains go on, and so does one that lost all its rows and its end.
    store.append(&batch("w1", 11, vec![row("ada", 12)])).await.unwrap();
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 3 });
    assert_eq!(store.rotate(&Retention { older_than: at(12), ..everything }).await.unwrap(), 2);
    assert_eq!(store.head(&WriterId::new("w2")).await.unwrap(), None);
    assert_eq!(store.head(&WriterId::new("w1")).await.unwrap().unwrap().0, 11);
    store.append(&batch("w2", 3, vec![row("ada", 13)])).await.unwrap();
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 2 });
}

/// PostgreSQL keeps no NUL in a text; such a row must not cost the others of its batch.
pub(crate) async fn any_text_is_kept(store: Arc<dyn Store>) {
    let odd = AuditRow {
        arguments: Some("a\0b'\"\\\u{1f600}".to_owned()),
        tool: Some(String::new()),
        ..row("ada", 2)
    };
    store.append(&batch("w", 1, vec![row("ada", 1), odd])).await.unwrap();
    let rows = store.page(&AuditQuery::newest(ALL, 1)).await.unwrap();
    assert_eq!(rows[0].row.arguments.as_deref(), Some("a\u{fffd}b'\"\\\u{1f600}"));
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 2 });
}

pub(crate) async fn writers_have_chains_of_their_own(store: Arc<dyn Store>) {
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..6 {
        let store = store.clone();
        tasks.spawn(async move {
            for n in 0..10 {
                let rows = vec![row("ada", n), row("ben", n)];
                store.append(&batch(&format!("w{writer}"), 2 * n + 1, rows)).await.unwrap();
            }
        });
    }
    testkit::in_time(tasks.join_all()).await;
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 120 });
}

#[test]
fn t44_every_decision_and_outcome_has_a_word() {
    use AuditDecision::{Allowed, ApprovalDenied, Approved, Denied, Held, Lost, Restarted, Truncated};
    let all = [Allowed, Approved, Denied, ApprovalDenied, Held, Truncated, Restarted, Lost(3)];
    let words: std::collections::BTreeSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), all.len());
    for decision in all {
        assert_eq!(AuditDecision::parse(&decision.to_string()), Some(decision));
    }
    let failed = kitbag::ErrorKind::ALL.iter().map(|kind| AuditOutcome::Failed(*kind));
    for outcome in failed.chain([AuditOutcome::Ok]) {
        assert_eq!(AuditOutcome::parse(outcome.as_str()), Some(outcome));
    }
    for odd in ["", "1", "1.2", "x.1.w", "1.-1.w"] {
        assert!(odd.parse::<AuditPosition>().is_err(), "{odd}");
    }
    for millis in [i64::MIN + 1, -1, 0, 1, 1_800_000_000_000] {
        assert_eq!(kitbag::store::chain::millis(kitbag::store::chain::time(millis)), millis);
    }
}
