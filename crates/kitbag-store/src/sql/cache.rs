//! The cache in SQL.

use std::time::SystemTime;

use kitbag::store::chain::millis;
use kitbag::store::{CacheEntry, CacheKey, CacheStore, StoreError, StoreFuture};

use super::SqlStore;

const PUT: &str = "
    INSERT INTO cache (kind, owner, name, identity, written, content) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (kind, owner, name, identity) DO UPDATE SET written = excluded.written, content = excluded.content";

const CROWD_OUT: &str = "
    DELETE FROM cache WHERE kind = $1 AND owner = $2 AND name = $3 AND identity IN (
        SELECT identity FROM cache WHERE kind = $1 AND owner = $2 AND name = $3 AND identity <> $4
        ORDER BY written DESC, identity DESC LIMIT 1000 OFFSET $5)";

impl CacheStore for SqlStore {
    fn put_cached<'a>(&'a self, key: &'a CacheKey, entry: &'a CacheEntry) -> StoreFuture<'a, ()> {
        Box::pin(self.database.in_time(async move {
            if self.limits.cached < entry.blob.len() {
                return Err(StoreError::TooMany { what: "bytes to remember", most: self.limits.cached });
            }
            let mut step = self.database.begin().await?;
            let put = sqlx::query(PUT)
                .bind(key.kind.as_str())
                .bind(key.owner.as_str())
                .bind(&key.key)
                .bind(&key.identity)
                .bind(millis(entry.at))
                .bind(entry.blob.as_slice());
            put.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            let others = i64::try_from(CacheKey::IDENTITIES - 1).unwrap_or(i64::MAX);
            let crowd_out = sqlx::query(CROWD_OUT)
                .bind(key.kind.as_str())
                .bind(key.owner.as_str())
                .bind(&key.key)
                .bind(&key.identity)
                .bind(others);
            crowd_out.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            step.commit().await.map_err(|error| self.failed(error))
        }))
    }

    fn cached<'a>(&'a self, key: &'a CacheKey, most: usize) -> StoreFuture<'a, Option<CacheEntry>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(None) };
            let query = sqlx::query(
                "SELECT written, content FROM cache
                 WHERE kind = $1 AND owner = $2 AND name = $3 AND identity = $4 AND LENGTH(content) <= $5",
            );
            let query = query
                .bind(key.kind.as_str())
                .bind(key.owner.as_str())
                .bind(&key.key)
                .bind(&key.identity)
                .bind(i64::try_from(most).unwrap_or(i64::MAX));
            let row = query.fetch_optional(pool).await.map_err(|error| self.failed(error))?;
            let Some(row) = row else { return Ok(None) };
            let row = self.columns("cache", &row);
            Ok(Some(CacheEntry { blob: row.get("content")?, at: row.time("written")? }))
        }))
    }

    fn remove_cached<'a>(&'a self, key: &'a CacheKey) -> StoreFuture<'a, bool> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(false) };
            let remove = sqlx::query(
                "DELETE FROM cache WHERE kind = $1 AND owner = $2 AND name = $3 AND identity = $4",
            );
            let remove =
                remove.bind(key.kind.as_str()).bind(key.owner.as_str()).bind(&key.key).bind(&key.identity);
            let done = remove.execute(pool).await.map_err(|error| self.failed(error))?;
            Ok(0 < done.rows_affected())
        }))
    }

    fn sweep_cache(&self, before: SystemTime) -> StoreFuture<'_, usize> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(0) };
            let sweep = sqlx::query("DELETE FROM cache WHERE written < $1").bind(millis(before));
            let done = sweep.execute(pool).await.map_err(|error| self.failed(error))?;
            Ok(usize::try_from(done.rows_affected()).unwrap_or(usize::MAX))
        }))
    }
}
