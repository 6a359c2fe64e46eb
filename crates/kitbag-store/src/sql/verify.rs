//! Whether the audit log is as it was written.

use kitbag::store::chain::{ChainCheck, ChainPoint};
use kitbag::store::{AuditDamage, AuditVerdict, Hash256, StoreError, WriterId};
use sqlx::any::AnyRow;
use sqlx::{Any, Transaction};

use super::SqlStore;

/// Rows looked at in one go: the log may be larger than memory.
const ROWS: i64 = 500;

const HEADS: &str = "SELECT writer, seq, hash, anchor_seq, anchor_hash FROM audit_heads ORDER BY writer";

const NEXT: &str = "SELECT * FROM audit WHERE writer = $1 AND $2 < seq ORDER BY seq LIMIT $3";

/// The last rows of chains whose end is not known.
const ENDLESS: &str = "
    SELECT writer, MAX(seq) AS seq FROM audit
    WHERE writer NOT IN (SELECT writer FROM audit_heads) GROUP BY writer ORDER BY writer";

/// What is kept about the end of a chain.
struct Head {
    writer: WriterId,
    anchor: ChainPoint,
    end: ChainPoint,
}

/// A row that is not as it was, or trouble with the database.
enum Stop {
    Damage(u64, AuditDamage),
    Trouble(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Trouble(error)
    }
}

impl From<(u64, AuditDamage)> for Stop {
    fn from((row, why): (u64, AuditDamage)) -> Self {
        Self::Damage(row, why)
    }
}

impl SqlStore {
    pub(super) async fn verify_chains(&self) -> Result<AuditVerdict, StoreError> {
        let Some(mut moment) = self.database.snapshot().await? else {
            return Ok(AuditVerdict::Intact { rows: 0 });
        };
        let heads = sqlx::query(HEADS).fetch_all(&mut *moment).await.map_err(|error| self.failed(error))?;
        let mut rows = 0;
        for row in &heads {
            let head = match self.read_head(row)? {
                Ok(head) => head,
                Err(writer) => {
                    return Ok(AuditVerdict::Broken { writer, row: 0, why: AuditDamage::Changed });
                }
            };
            match self.follow(&mut moment, &head).await {
                Ok(count) => rows += count,
                Err(Stop::Damage(row, why)) => {
                    return Ok(AuditVerdict::Broken { writer: head.writer, row, why });
                }
                Err(Stop::Trouble(error)) => return Err(error),
            }
        }
        let endless =
            sqlx::query(ENDLESS).fetch_optional(&mut *moment).await.map_err(|error| self.failed(error))?;
        let Some(row) = endless else { return Ok(AuditVerdict::Intact { rows }) };
        let row = self.columns("audit", &row);
        let last = u64::try_from(row.get::<i64>("seq")?).unwrap_or_default();
        let writer = WriterId::new(row.text("writer")?);
        Ok(AuditVerdict::Broken { writer, row: last.saturating_add(1), why: AuditDamage::Missing })
    }

    /// The end of a chain; only its writer where somebody wrote something else over it.
    fn read_head(&self, row: &AnyRow) -> Result<Result<Head, WriterId>, StoreError> {
        let writer = WriterId::new(self.columns("audit_heads", row).text("writer")?);
        let points = (self.point(row, "anchor_seq", "anchor_hash"), self.point(row, "seq", "hash"));
        let (Ok(anchor), Ok(end)) = points else { return Ok(Err(writer)) };
        Ok(Ok(Head { writer, anchor, end }))
    }

    /// Looks at one chain; how many rows it has.
    async fn follow(&self, moment: &mut Transaction<'static, Any>, head: &Head) -> Result<u64, Stop> {
        let mut check = ChainCheck::new(&head.writer, head.anchor);
        let mut count = 0;
        let mut last = i64::MIN;
        loop {
            let next = sqlx::query(NEXT).bind(head.writer.as_str()).bind(last).bind(ROWS);
            let rows = next.fetch_all(&mut **moment).await.map_err(|error| self.failed(error))?;
            for row in &rows {
                count += 1;
                let here = head.anchor.row.saturating_add(count);
                let changed = |_| Stop::Damage(here, AuditDamage::Changed);
                let columns = self.columns("audit", row);
                last = columns.get("seq").map_err(changed)?;
                let number = u64::try_from(last).map_err(|_| Stop::Damage(here, AuditDamage::Changed))?;
                let hash: Hash256 = columns.hash("hash").map_err(changed)?;
                let bytes = columns.get("bytes").map_err(changed)?;
                check.row(number, &self.audit_columns(row).map_err(changed)?, &hash, bytes)?;
            }
            if rows.len() < usize::try_from(ROWS).unwrap_or(usize::MAX) {
                break;
            }
        }
        check.end(head.end)?;
        Ok(count)
    }
}
