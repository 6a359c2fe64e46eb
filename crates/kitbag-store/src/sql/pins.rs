//! Pins in SQL.

use kitbag::store::chain::millis;
use kitbag::store::{Pin, PinKey, PinState, PinStore, RowOwner, StoreError, StoreFuture};
use kitbag::{ServerName, ToolName, UserId};
use sqlx::any::AnyRow;

use super::SqlStore;

/// A definition that was only seen replaces no other one; an approval replaces any.
const PUT: &str = "
    INSERT INTO pins (owner, server, tool, hash, definition, approved_by, approved_at, first_seen, last_seen)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (owner, server, tool) DO UPDATE SET
        hash = excluded.hash,
        definition = excluded.definition,
        approved_by = COALESCE(excluded.approved_by, pins.approved_by),
        approved_at = COALESCE(excluded.approved_at, pins.approved_at),
        first_seen = CASE WHEN pins.hash = excluded.hash THEN pins.first_seen ELSE excluded.first_seen END,
        last_seen = CASE WHEN pins.hash = excluded.hash AND excluded.last_seen < pins.last_seen
                         THEN pins.last_seen ELSE excluded.last_seen END
    WHERE pins.hash = excluded.hash OR excluded.approved_by IS NOT NULL";

impl PinStore for SqlStore {
    fn pins<'a>(&'a self, owner: &'a RowOwner) -> StoreFuture<'a, Vec<Pin>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let query = sqlx::query("SELECT * FROM pins WHERE owner = $1").bind(owner.as_str());
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            let mut pins = rows.iter().map(|row| self.pin(row)).collect::<Result<Vec<_>, _>>()?;
            pins.sort_by(|a, b| a.key.cmp(&b.key));
            Ok(pins)
        }))
    }

    fn put_pins<'a>(&'a self, pins: &'a [Pin]) -> StoreFuture<'a, ()> {
        Box::pin(self.database.in_time(async move {
            // Always in one order, so that two processes never wait for each other.
            let mut pins: Vec<_> = pins.iter().collect();
            pins.sort_by(|a, b| a.key.cmp(&b.key));
            let mut step = self.database.begin().await?;
            for pin in pins {
                let (by, at) = match &pin.state {
                    PinState::Seen => (None, None),
                    PinState::Approved { by, at } => (Some(by.as_str()), Some(millis(*at))),
                };
                let put = sqlx::query(PUT)
                    .bind(pin.key.owner.as_str())
                    .bind(pin.key.server.as_str())
                    .bind(pin.key.tool.as_str())
                    .bind(pin.hash.to_string())
                    .bind(&pin.definition)
                    .bind(by)
                    .bind(at)
                    .bind(millis(pin.first_seen))
                    .bind(millis(pin.last_seen));
                put.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            }
            step.commit().await.map_err(|error| self.failed(error))
        }))
    }

    fn remove_pins<'a>(&'a self, keys: &'a [PinKey]) -> StoreFuture<'a, usize> {
        Box::pin(self.database.in_time(async move {
            if self.database.to_read().await?.is_none() {
                return Ok(0);
            }
            let mut step = self.database.begin().await?;
            let mut count = 0;
            for key in keys {
                let remove = sqlx::query("DELETE FROM pins WHERE owner = $1 AND server = $2 AND tool = $3")
                    .bind(key.owner.as_str())
                    .bind(key.server.as_str())
                    .bind(key.tool.as_str());
                let done = remove.execute(&mut *step).await.map_err(|error| self.failed(error))?;
                count += done.rows_affected();
            }
            step.commit().await.map_err(|error| self.failed(error))?;
            Ok(usize::try_from(count).unwrap_or(usize::MAX))
        }))
    }
}

impl SqlStore {
    fn pin(&self, row: &AnyRow) -> Result<Pin, StoreError> {
        let row = self.columns("pins", row);
        let key = PinKey {
            owner: row.parsed("owner", RowOwner::parse)?,
            server: row.parsed("server", ServerName::parse)?,
            tool: row.parsed("tool", ToolName::parse)?,
        };
        let state = match row.get::<Option<String>>("approved_by")? {
            None => PinState::Seen,
            Some(_) => PinState::Approved {
                by: row.parsed("approved_by", UserId::parse)?,
                at: row.time("approved_at")?,
            },
        };
        Ok(Pin {
            key,
            hash: row.hash("hash")?,
            definition: row.text("definition")?,
            state,
            first_seen: row.time("first_seen")?,
            last_seen: row.time("last_seen")?,
        })
    }
}
