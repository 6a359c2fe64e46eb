//! Whoever changes the audit log is found out, by the row.

use kitbag::store::{AuditDamage, AuditVerdict, Store, WriterId};
use std::sync::Arc;

use crate::postgres::Server;
use crate::rows::{batch, row};
use crate::stores::{Place, at};

/// Each column with values somebody may write into it; `hash` and `bytes` are kept beside the row.
const COLUMNS: &[(&str, &[&str])] = &[
    ("writer", &["'x'"]),
    ("seq", &["9"]),
    ("at", &["at + 1"]),
    ("user_id", &["'eve'", "'../x'", "NULL"]),
    ("agent", &["'eve'", "''", "NULL"]),
    ("server", &["'eve'", "NULL"]),
    ("tool", &["'eve'", "NULL"]),
    ("decision", &["'allowed'", "'?'"]),
    ("rule", &["'eve'", "NULL"]),
    ("outcome", &["'ok'", "'?'"]),
    ("took_ms", &["took_ms + 1", "-1"]),
    ("request_bytes", &["request_bytes + 1"]),
    ("result_bytes", &["result_bytes + 1"]),
    ("arguments", &["'{}'", "NULL"]),
    ("call_id", &["'eve'", "NULL"]),
    ("bytes", &["bytes + 1"]),
    ("hash", &["'00'", "(SELECT hash FROM audit AS other WHERE other.writer = 'w1' AND other.seq = 1)"]),
];

const ROWS: u64 = 4;

async fn filled(place: &Place) -> Arc<dyn Store> {
    let store = place.open();
    for writer in ["w1", "w2"] {
        store.append(&batch(writer, 1, (1..=ROWS).map(|n| row("ada", n)).collect())).await.unwrap();
    }
    store
}

/// Does something to the log, looks, and puts everything back.
async fn check(place: &Place, store: &Arc<dyn Store>, change: &str, row: u64, expected: AuditDamage) {
    let copies = ["audit", "audit_heads"];
    for table in copies {
        place.run(&format!("CREATE TABLE copy_{table} AS SELECT * FROM {table}")).await;
    }
    assert!(0 < place.run(change).await, "{change}");
    let verdict = store.verify().await.unwrap();
    let writer = WriterId::new("w1");
    assert_eq!(verdict, AuditVerdict::Broken { writer, row, why: expected }, "{change}");
    for table in copies {
        place.run(&format!("DELETE FROM {table}")).await;
        place.run(&format!("INSERT INTO {table} SELECT * FROM copy_{table}")).await;
        place.run(&format!("DROP TABLE copy_{table}")).await;
    }
}

async fn every_change_is_found(place: &Place) {
    let store = filled(place).await;
    for row in [1, 3, ROWS] {
        for (column, values) in COLUMNS {
            for value in *values {
                if *column == "hash" && row == 1 && value.starts_with("(SELECT") {
                    continue;
                }
                // A row that is somewhere else is missing where it was.
                let moved = matches!(*column, "writer" | "seq");
                let expected = if moved { AuditDamage::Missing } else { AuditDamage::Changed };
                let change =
                    format!("UPDATE audit SET {column} = {value} WHERE writer = 'w1' AND seq = {row}");
                check(place, &store, &change, row, expected).await;
            }
        }
        let delete = format!("DELETE FROM audit WHERE writer = 'w1' AND seq = {row}");
        check(place, &store, &delete, row, AuditDamage::Missing).await;
    }
    let all = "DELETE FROM audit WHERE writer = 'w1'";
    check(place, &store, all, 1, AuditDamage::Missing).await;
    // A row too many, and what is kept about the end.
    let more = "INSERT INTO audit SELECT writer, 5, at, user_id, agent, server, tool, decision, rule, outcome, took_ms,
        request_bytes, result_bytes, arguments, call_id, bytes, hash FROM audit WHERE writer = 'w1' AND seq = 4";
    check(place, &store, more, 5, AuditDamage::Changed).await;
    let head = "DELETE FROM audit_heads WHERE writer = 'w1'";
    check(place, &store, head, 5, AuditDamage::Missing).await;
    let end = "UPDATE audit_heads SET hash = anchor_hash WHERE writer = 'w1'";
    check(place, &store, end, 4, AuditDamage::Changed).await;
    // The end of the log removed, and the end of the chain set back to hide it.
    let anchor = "UPDATE audit_heads SET anchor_seq = 1 WHERE writer = 'w1'";
    check(place, &store, anchor, 1, AuditDamage::Changed).await;
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 2 * ROWS });
    // A rotated chain is as closely watched.
    let keep = kitbag::store::Retention { older_than: at(3), most_rows: u64::MAX, most_bytes: u64::MAX };
    store.rotate(&keep).await.unwrap();
    let change = "UPDATE audit SET rule = 'eve' WHERE writer = 'w1' AND seq = 3";
    check(place, &store, change, 3, AuditDamage::Changed).await;
    let delete = "DELETE FROM audit WHERE writer = 'w1' AND seq = 3";
    check(place, &store, delete, 3, AuditDamage::Missing).await;
}

#[tokio::test]
async fn t44_a_changed_or_missing_row_is_named_in_sqlite() {
    let place = Place::sqlite();
    every_change_is_found(&place).await;
    // SQLite takes any value in any column.
    let store = place.open();
    let change = "UPDATE audit SET took_ms = 'x' WHERE writer = 'w1' AND seq = 4";
    check(&place, &store, change, 4, AuditDamage::Changed).await;
    let change = "UPDATE audit SET seq = 'x' WHERE writer = 'w1' AND seq = 4";
    check(&place, &store, change, 4, AuditDamage::Changed).await;
    let change = "UPDATE audit_heads SET seq = 'x' WHERE writer = 'w1'";
    check(&place, &store, change, 0, AuditDamage::Changed).await;
}

#[tokio::test]
async fn t44_a_changed_or_missing_row_is_named_in_postgres() {
    let server = Server::start().await;
    every_change_is_found(&server.place()).await;
}
