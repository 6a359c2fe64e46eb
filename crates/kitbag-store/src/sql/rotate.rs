//! Removing the oldest rows of the audit log.

use std::time::{Duration, SystemTime};

use kitbag::store::chain::millis;
use kitbag::store::{Retention, StoreError};

use super::SqlStore;
use super::audit::number;

/// The last row to go of each chain.
const CUTS: &str = "
    SELECT writer, MAX(seq) AS seq FROM (
        SELECT writer, seq, at,
            ROW_NUMBER() OVER (ORDER BY at DESC, writer DESC, seq DESC) AS place,
            CAST(SUM(bytes) OVER (ORDER BY at DESC, writer DESC, seq DESC) AS BIGINT) AS total
        FROM audit) AS ranked
    WHERE at < $1 OR $2 < place OR $3 < total
    GROUP BY writer ORDER BY writer";

const ANCHOR: &str = "
    UPDATE audit_heads SET anchor_seq = $2,
        anchor_hash = (SELECT hash FROM audit WHERE audit.writer = $1 AND audit.seq = $2)
    WHERE writer = $1";

/// Chains do not grow in number for ever: one that lost all its rows and has no new ones is forgotten.
const FORGET: &str = "
    DELETE FROM audit_heads
    WHERE at < $1 AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.writer = audit_heads.writer)";

/// One row, written by one of those who come at once: the others find that it is not due any more.
const BEGIN: &str = "
    INSERT INTO audit_rotation (id, at) VALUES (1, $1)
    ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE audit_rotation.at <= $2 OR $3 < audit_rotation.at";

impl SqlStore {
    pub(super) async fn rotation_begins(&self, now: SystemTime, every: Duration) -> Result<bool, StoreError> {
        let (now, every) = (millis(now), i64::try_from(every.as_millis()).unwrap_or(i64::MAX));
        let pool = self.database.to_write().await?;
        let begin =
            sqlx::query(BEGIN).bind(now).bind(now.saturating_sub(every)).bind(now.saturating_add(every));
        let done = begin.execute(pool).await.map_err(|error| self.failed(error))?;
        Ok(0 < done.rows_affected())
    }

    pub(super) async fn rotate_chains(&self, keep: &Retention) -> Result<u64, StoreError> {
        if self.database.to_read().await?.is_none() {
            return Ok(0);
        }
        let mut step = self.database.begin().await?;
        let cuts = sqlx::query(CUTS)
            .bind(millis(keep.older_than))
            .bind(number(keep.most_rows))
            .bind(number(keep.most_bytes));
        let cuts = cuts.fetch_all(&mut *step).await.map_err(|error| self.failed(error))?;
        let mut count = 0;
        for row in &cuts {
            let row = self.columns("audit", row);
            let (writer, last) = (row.text("writer")?, row.get::<i64>("seq")?);
            let anchor = sqlx::query(ANCHOR).bind(&writer).bind(last);
            anchor.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            let remove =
                sqlx::query("DELETE FROM audit WHERE writer = $1 AND seq <= $2").bind(&writer).bind(last);
            count += remove.execute(&mut *step).await.map_err(|error| self.failed(error))?.rows_affected();
        }
        let forget = sqlx::query(FORGET).bind(millis(keep.older_than));
        forget.execute(&mut *step).await.map_err(|error| self.failed(error))?;
        step.commit().await.map_err(|error| self.failed(error))?;
        Ok(count)
    }
}
