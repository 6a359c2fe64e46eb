//! Tokens in SQL.

use std::time::SystemTime;

use kitbag::UserId;
use kitbag::store::chain::millis;
use kitbag::store::{Hash256, StoreError, StoreFuture, TokenEntry, TokenError, TokenStore};
use sqlx::any::AnyRow;

use super::SqlStore;

impl TokenStore for SqlStore {
    fn add_token<'a>(&'a self, token: &'a TokenEntry) -> StoreFuture<'a, (), TokenError> {
        Box::pin(self.database.in_time(async move {
            let pool = self.database.to_write().await?;
            let add = sqlx::query(
                "INSERT INTO tokens (hash, user_id, name, created, expires) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT DO NOTHING",
            );
            let add = add
                .bind(token.hash.to_string())
                .bind(token.user.as_str())
                .bind(&token.name)
                .bind(millis(token.created))
                .bind(token.expires.map(millis));
            let added = add.execute(pool).await.map_err(|error| self.failed(error))?;
            if added.rows_affected() == 1 {
                return Ok(());
            }
            let named = self.tokens(&token.user).await?.iter().any(|other| other.name == token.name);
            Err(if named { TokenError::NameTaken } else { TokenError::HashTaken })
        }))
    }

    fn tokens<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<TokenEntry>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let query = sqlx::query("SELECT * FROM tokens WHERE user_id = $1").bind(user.as_str());
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            let mut tokens = rows.iter().map(|row| self.token(row)).collect::<Result<Vec<_>, _>>()?;
            tokens.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(tokens)
        }))
    }

    fn all_tokens(&self) -> StoreFuture<'_, Vec<TokenEntry>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let query = sqlx::query("SELECT * FROM tokens");
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            let mut tokens = rows.iter().map(|row| self.token(row)).collect::<Result<Vec<_>, _>>()?;
            tokens.sort_by(|a, b| (&a.user, &a.name).cmp(&(&b.user, &b.name)));
            Ok(tokens)
        }))
    }

    fn token_used<'a>(&'a self, hash: &'a Hash256, at: SystemTime) -> StoreFuture<'a, ()> {
        Box::pin(self.database.in_time(async move {
            let pool = self.database.to_write().await?;
            let note = "UPDATE tokens SET used = $1 WHERE hash = $2 AND (used IS NULL OR used < $1)";
            let note = sqlx::query(note).bind(millis(at)).bind(hash.to_string());
            note.execute(pool).await.map(drop).map_err(|error| self.failed(error))
        }))
    }

    fn revoke_token<'a>(&'a self, user: &'a UserId, name: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(false) };
            let revoke = sqlx::query("DELETE FROM tokens WHERE user_id = $1 AND name = $2");
            let revoke = revoke.bind(user.as_str()).bind(name);
            let done = revoke.execute(pool).await.map_err(|error| self.failed(error))?;
            Ok(0 < done.rows_affected())
        }))
    }

    fn find_token<'a>(&'a self, hash: &'a Hash256) -> StoreFuture<'a, Option<TokenEntry>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(None) };
            let query = sqlx::query("SELECT * FROM tokens WHERE hash = $1").bind(hash.to_string());
            let row = query.fetch_optional(pool).await.map_err(|error| self.failed(error))?;
            row.map(|row| self.token(&row)).transpose()
        }))
    }
}

impl SqlStore {
    fn token(&self, row: &AnyRow) -> Result<TokenEntry, StoreError> {
        let row = self.columns("tokens", row);
        Ok(TokenEntry {
            user: row.parsed("user_id", UserId::parse)?,
            name: row.text("name")?,
            hash: row.hash("hash")?,
            created: row.time("created")?,
            expires: row.time_or_none("expires")?,
            used: row.time_or_none("used")?,
        })
    }
}
