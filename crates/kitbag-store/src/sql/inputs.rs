//! Answers to inputs in SQL, encrypted.

use kitbag::store::{InputKey, InputStore, StoreError, StoreFuture};
use kitbag::{Secret, UserId};
use sqlx::any::AnyRow;
use sqlx::{Any, Transaction};

use super::SqlStore;
use crate::key::Key;

const PUT: &str = "
    INSERT INTO inputs (user_id, scope, id, key_id, sealed) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (user_id, scope, id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed";

impl InputStore for SqlStore {
    fn put_input<'a>(&'a self, key: &'a InputKey, value: &'a Secret) -> StoreFuture<'a, ()> {
        Box::pin(self.database.in_time(async move {
            let mut step = self.database.begin().await?;
            let sealing = self.key_to_seal(&mut step).await?;
            let put = sqlx::query(PUT)
                .bind(key.user.as_str())
                .bind(&key.scope)
                .bind(&key.id)
                .bind(&sealing.id)
                .bind(sealing.seal(key, value)?);
            put.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            step.commit().await.map_err(|error| self.failed(error))
        }))
    }

    fn input<'a>(&'a self, key: &'a InputKey) -> StoreFuture<'a, Option<Secret>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(None) };
            let query = sqlx::query("SELECT * FROM inputs WHERE user_id = $1 AND scope = $2 AND id = $3");
            let query = query.bind(key.user.as_str()).bind(&key.scope).bind(&key.id);
            let row = query.fetch_optional(pool).await.map_err(|error| self.failed(error))?;
            let Some(row) = row else { return Ok(None) };
            self.unsealed(&self.key_to_open()?, &row).map(|(_, value)| Some(value))
        }))
    }

    fn inputs<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<(InputKey, Secret)>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let query = sqlx::query("SELECT * FROM inputs WHERE user_id = $1").bind(user.as_str());
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            if rows.is_empty() {
                return Ok(Vec::new());
            }
            let key = self.key_to_open()?;
            let mut all = rows.iter().map(|row| self.unsealed(&key, row)).collect::<Result<Vec<_>, _>>()?;
            all.sort_by(|a, b| a.0.cmp(&b.0));
            Ok(all)
        }))
    }

    fn remove_input<'a>(&'a self, key: &'a InputKey) -> StoreFuture<'a, bool> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(false) };
            let remove = sqlx::query("DELETE FROM inputs WHERE user_id = $1 AND scope = $2 AND id = $3");
            let remove = remove.bind(key.user.as_str()).bind(&key.scope).bind(&key.id);
            let done = remove.execute(pool).await.map_err(|error| self.failed(error))?;
            Ok(0 < done.rows_affected())
        }))
    }
}

impl SqlStore {
    /// The key for one more answer. A new key is made for the first one only: with answers of another key there, a new one
    /// would make a mixture that no file opens.
    async fn key_to_seal(&self, step: &mut Transaction<'static, Any>) -> Result<Key, StoreError> {
        let others = sqlx::query_scalar::<_, String>("SELECT DISTINCT key_id FROM inputs");
        let others = others.fetch_all(&mut **step).await.map_err(|error| self.failed(error))?;
        if others.is_empty() {
            return self.key.read_or_create();
        }
        let key = self.key_to_open()?;
        if !others.contains(&key.id) {
            return Err(self
                .key
                .wrong("the answers there are were encrypted with another key; restore that one"));
        }
        Ok(key)
    }

    fn key_to_open(&self) -> Result<Key, StoreError> {
        let missing = || {
            self.key.wrong(
                "it is missing, and answers were encrypted with it; restore it, or copy it from the machine that \
                 wrote them",
            )
        };
        self.key.read()?.ok_or_else(missing)
    }

    fn unsealed(&self, key: &Key, row: &AnyRow) -> Result<(InputKey, Secret), StoreError> {
        let row = self.columns("inputs", row);
        let belongs_to = InputKey {
            user: row.parsed("user_id", UserId::parse)?,
            scope: row.text("scope")?,
            id: row.text("id")?,
        };
        let value = key.open(&belongs_to, &row.get::<Vec<u8>>("sealed")?)?;
        Ok((belongs_to, value))
    }
}
