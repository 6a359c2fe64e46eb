//! The audit log in SQL: appending and reading.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use kitbag::store::chain::{AuditColumns, ChainPoint, millis};
use kitbag::store::{
    AuditBatch, AuditEntry, AuditPosition, AuditQuery, AuditScope, AuditStore, AuditVerdict, Hash256,
    Retention, StoreError, StoreFuture, WriterId,
};
use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Transaction};

use super::SqlStore;
use crate::target::Target;

/// Locks the end of a chain, or begins a chain before its first row.
const LOCK: &str = "
    INSERT INTO audit_heads (writer, seq, hash, anchor_seq, anchor_hash, at) VALUES ($1, $2, $3, $2, $3, 0)
    ON CONFLICT (writer) DO UPDATE SET at = audit_heads.at";

const INSERT: &str = "
    INSERT INTO audit (writer, seq, at, user_id, agent, server, tool, decision, rule, outcome, took_ms,
        request_bytes, result_bytes, arguments, call_id, bytes, hash) VALUES ";
const COLUMNS: usize = 17;
/// Rows of one statement: each costs a way to the database and back.
const TOGETHER: usize = 50;

impl AuditStore for SqlStore {
    fn append<'a>(&'a self, batch: &'a AuditBatch) -> StoreFuture<'a, ()> {
        Box::pin(self.database.in_time(async move {
            let mut step = self.database.begin().await?;
            let mut head = self.lock_head(&mut step, batch).await?;
            if head.row + 1 < batch.first {
                return Err(batch.gap_after(head.row));
            }
            let known = usize::try_from(head.row + 1 - batch.first).unwrap_or(usize::MAX);
            let mut last_ms = None;
            for rows in batch.rows.get(known..).unwrap_or_default().chunks(TOGETHER) {
                let mut placed = Vec::with_capacity(rows.len());
                for row in rows {
                    let columns = AuditColumns::from(row);
                    head = head.then(&batch.writer, &columns);
                    last_ms = Some(columns.at_ms);
                    placed.push((head, columns));
                }
                self.insert(&mut step, &batch.writer, placed).await?;
            }
            if let Some(at) = last_ms {
                let update =
                    sqlx::query("UPDATE audit_heads SET seq = $2, hash = $3, at = $4 WHERE writer = $1")
                        .bind(batch.writer.as_str())
                        .bind(number(head.row))
                        .bind(head.hash.to_string())
                        .bind(at);
                update.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            }
            step.commit().await.map_err(|error| self.failed(error))
        }))
    }

    fn page<'a>(&'a self, query: &'a AuditQuery) -> StoreFuture<'a, Vec<AuditEntry>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let (sql, values) = select(query);
            // Made of constants alone; every value is a parameter.
            let mut query = sqlx::query(AssertSqlSafe(sql));
            for value in values {
                query = match value {
                    Value::Text(text) => query.bind(text),
                    Value::Number(number) => query.bind(number),
                };
            }
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            rows.iter().map(|row| self.entry(row)).collect()
        }))
    }

    fn verify(&self) -> StoreFuture<'_, AuditVerdict> {
        Box::pin(self.verify_chains())
    }

    fn begin_rotation(&self, now: SystemTime, every: Duration) -> StoreFuture<'_, bool> {
        Box::pin(self.database.in_time(self.rotation_begins(now, every)))
    }

    fn rotate<'a>(&'a self, keep: &'a Retention) -> StoreFuture<'a, u64> {
        Box::pin(self.rotate_chains(keep))
    }

    fn head<'a>(&'a self, writer: &'a WriterId) -> StoreFuture<'a, Option<(u64, Hash256)>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(None) };
            let query =
                sqlx::query("SELECT seq, hash FROM audit_heads WHERE writer = $1").bind(writer.as_str());
            let row = query.fetch_optional(pool).await.map_err(|error| self.failed(error))?;
            let Some(row) = row else { return Ok(None) };
            self.point(&row, "seq", "hash").map(|point| Some((point.row, point.hash)))
        }))
    }
}

/// The statement that inserts so many rows. SQLite looks for each parameter that has a name among all of them.
fn insert_of(rows: usize, target: &Target) -> String {
    let mut sql = INSERT.to_owned();
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for column in 1..=COLUMNS {
            sql.push_str(if column == 1 { "" } else { ", " });
            match target {
                // Writing to a string does not fail.
                Target::Server { .. } => drop(write!(sql, "${}", row * COLUMNS + column)),
                Target::File(_) | Target::Memory => sql.push('?'),
            }
        }
        sql.push(')');
    }
    sql
}

/// A number as it is kept.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

enum Value<'a> {
    Text(&'a str),
    Number(i64),
}

/// The statement that reads a page, and its parameters.
fn select(query: &AuditQuery) -> (String, Vec<Value<'_>>) {
    let mut sql = "SELECT * FROM audit WHERE 1 = 1".to_owned();
    let mut values = Vec::new();
    let mut and = |condition: &str, value| {
        values.push(value);
        sql.push_str(&format!(" AND {condition} ${}", values.len()));
    };
    if let AuditScope::User(user) = &query.scope {
        and("user_id =", Value::Text(user.as_str()));
    }
    if let Some(server) = &query.server {
        and("server =", Value::Text(server.as_str()));
    }
    if let Some(since) = query.since {
        and("at >=", Value::Number(millis(since)));
    }
    if let Some(until) = query.until {
        and("at <", Value::Number(millis(until)));
    }
    if let Some(before) = &query.before {
        let at = values.len();
        sql.push_str(&format!(" AND (at, writer, seq) < (${}, ${}, ${})", at + 1, at + 2, at + 3));
        values.push(Value::Number(before.at_ms));
        values.push(Value::Text(before.writer.as_str()));
        values.push(Value::Number(number(before.row)));
    }
    values.push(Value::Number(i64::try_from(query.limit).unwrap_or(i64::MAX)));
    sql.push_str(&format!(" ORDER BY at DESC, writer DESC, seq DESC LIMIT ${}", values.len()));
    (sql, values)
}

impl SqlStore {
    /// The end of a batch's chain, which nobody else moves until this step is over.
    async fn lock_head(
        &self,
        step: &mut Transaction<'static, Any>,
        batch: &AuditBatch,
    ) -> Result<ChainPoint, StoreError> {
        let lock = sqlx::query(LOCK)
            .bind(batch.writer.as_str())
            .bind(number(batch.first.saturating_sub(1)))
            .bind(Hash256::ZERO.to_string());
        lock.execute(&mut **step).await.map_err(|error| self.failed(error))?;
        let head =
            sqlx::query("SELECT seq, hash FROM audit_heads WHERE writer = $1").bind(batch.writer.as_str());
        let row = head.fetch_one(&mut **step).await.map_err(|error| self.failed(error))?;
        self.point(&row, "seq", "hash")
    }

    async fn insert(
        &self,
        step: &mut Transaction<'static, Any>,
        writer: &WriterId,
        rows: Vec<(ChainPoint, AuditColumns)>,
    ) -> Result<(), StoreError> {
        // Made of constants and numbers alone.
        let mut insert = sqlx::query(AssertSqlSafe(insert_of(rows.len(), self.database.target())));
        for (at, row) in rows {
            let bytes = row.bytes();
            insert = insert
                .bind(writer.as_str())
                .bind(number(at.row))
                .bind(row.at_ms)
                .bind(row.user)
                .bind(row.agent)
                .bind(row.server)
                .bind(row.tool)
                .bind(row.decision)
                .bind(row.rule)
                .bind(row.outcome)
                .bind(row.took_ms)
                .bind(row.request_bytes)
                .bind(row.result_bytes)
                .bind(row.arguments)
                .bind(row.call)
                .bind(bytes)
                .bind(at.hash.to_string());
        }
        insert.execute(&mut **step).await.map_err(|error| self.failed(error)).map(|_| ())
    }

    /// A place in a chain, by the names of two columns.
    pub(super) fn point(&self, row: &AnyRow, seq: &str, hash: &str) -> Result<ChainPoint, StoreError> {
        let row = self.columns("audit_heads", row);
        let number = u64::try_from(row.get::<i64>(seq)?);
        let number = number.map_err(|_| self.database.damaged("audit_heads", "negative number"))?;
        Ok(ChainPoint { row: number, hash: row.hash(hash)? })
    }

    pub(super) fn audit_columns(&self, row: &AnyRow) -> Result<AuditColumns, StoreError> {
        let row = self.columns("audit", row);
        Ok(AuditColumns {
            at_ms: row.get("at")?,
            user: row.get("user_id")?,
            agent: row.get("agent")?,
            server: row.get("server")?,
            tool: row.get("tool")?,
            decision: row.get("decision")?,
            rule: row.get("rule")?,
            outcome: row.get("outcome")?,
            took_ms: row.get("took_ms")?,
            request_bytes: row.get("request_bytes")?,
            result_bytes: row.get("result_bytes")?,
            arguments: row.get("arguments")?,
            call: row.get("call_id")?,
        })
    }

    fn entry(&self, row: &AnyRow) -> Result<AuditEntry, StoreError> {
        let columns = self.audit_columns(row)?;
        let row = self.columns("audit", row);
        let position = AuditPosition {
            at_ms: columns.at_ms,
            writer: WriterId::new(row.text("writer")?),
            row: u64::try_from(row.get::<i64>("seq")?).unwrap_or_default(),
        };
        let row = columns.read().map_err(|column| self.database.damaged("audit", column))?;
        Ok(AuditEntry { position, row })
    }
}
