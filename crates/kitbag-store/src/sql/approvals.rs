//! Approvals in SQL. Whatever ends one does so by `… WHERE state = 'pending'`: of several that try, the database lets one.

use std::time::SystemTime;

use kitbag::store::chain::{millis, time};
use kitbag::store::{
    AnswerError, ApprovalAnswer, ApprovalAsk, ApprovalId, ApprovalState, ApprovalStore, Grant,
    PendingApproval, StoreError, StoreFuture,
};
use kitbag::{ServerName, ToolName, UserId};
use sqlx::any::AnyRow;
use sqlx::{Any, Transaction};

use super::SqlStore;

const ASK: &str = "
    INSERT INTO approvals (id, user_id, session, server, tool, definition, arguments, shown, created, expires, state)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending')";

const ANSWER: &str = "
    UPDATE approvals SET state = 'answered', answer = $3, ended = $4, arguments = ''
    WHERE id = $1 AND user_id = $2 AND state = 'pending' AND $4 < expires";

const EXPIRE: &str = "
    UPDATE approvals SET state = 'expired', ended = expires, arguments = ''
    WHERE id = $1 AND user_id = $2 AND state = 'pending' AND expires <= $3";

const WITHDRAW: &str = "
    UPDATE approvals SET state = 'withdrawn', arguments = ''
    WHERE id = $1 AND user_id = $2 AND state = 'pending'";

const GRANT: &str = "
    INSERT INTO grants (user_id, server, tool, definition, given)
    SELECT user_id, server, tool, definition, ended FROM approvals WHERE id = $1
    ON CONFLICT (user_id, server, tool, definition) DO UPDATE SET given = excluded.given";

impl ApprovalStore for SqlStore {
    fn ask<'a>(&'a self, ask: &'a ApprovalAsk) -> StoreFuture<'a, ApprovalId> {
        Box::pin(self.database.in_time(async move {
            let mut step = self.database.begin().await?;
            let waiting = sqlx::query_scalar::<_, i64>(
                "SELECT COUNT(*) FROM approvals WHERE user_id = $1 AND state = 'pending' AND $2 < expires",
            );
            let waiting = waiting.bind(ask.user.as_str()).bind(millis(ask.created));
            let waiting = waiting.fetch_one(&mut *step).await.map_err(|error| self.failed(error))?;
            if self.limits.approvals <= usize::try_from(waiting).unwrap_or(usize::MAX) {
                return Err(StoreError::TooMany { what: "approvals that wait", most: self.limits.approvals });
            }
            let id = ApprovalId::random()?;
            let insert = sqlx::query(ASK)
                .bind(id.as_str())
                .bind(ask.user.as_str())
                .bind(&ask.session)
                .bind(ask.server.as_str())
                .bind(ask.tool.as_str())
                .bind(ask.definition.to_string())
                .bind(&ask.arguments)
                .bind(&ask.shown)
                .bind(millis(ask.created))
                .bind(millis(ask.expires));
            insert.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            step.commit().await.map_err(|error| self.failed(error))?;
            Ok(id)
        }))
    }

    fn pending<'a>(&'a self, user: &'a UserId, now: SystemTime) -> StoreFuture<'a, Vec<PendingApproval>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let query = sqlx::query(
                "SELECT * FROM approvals WHERE user_id = $1 AND state = 'pending' AND $2 < expires",
            );
            let query = query.bind(user.as_str()).bind(millis(now));
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            let mut found = rows.iter().map(|row| self.asked(row)).collect::<Result<Vec<_>, _>>()?;
            found.sort_by(|a, b| (a.ask.created, &a.id).cmp(&(b.ask.created, &b.id)));
            Ok(found)
        }))
    }

    fn answer<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
        answer: ApprovalAnswer,
        now: SystemTime,
    ) -> StoreFuture<'a, (), AnswerError> {
        Box::pin(self.database.in_time(async move {
            if self.database.to_read().await?.is_none() {
                return Err(AnswerError::Unknown);
            }
            let mut step = self.database.begin().await?;
            let update = sqlx::query(ANSWER)
                .bind(id.as_str())
                .bind(user.as_str())
                .bind(answer.as_str())
                .bind(millis(now));
            let done = update.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            let outcome = if done.rows_affected() == 1 {
                if answer == ApprovalAnswer::Always {
                    let grant = sqlx::query(GRANT).bind(id.as_str());
                    grant.execute(&mut *step).await.map_err(|error| self.failed(error))?;
                }
                Ok(())
            } else {
                Err(refusal(self.expired_or(&mut step, user, id, now).await?))
            };
            step.commit().await.map_err(|error| self.failed(error))?;
            outcome
        }))
    }

    fn answer_of<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
        now: SystemTime,
    ) -> StoreFuture<'a, Option<ApprovalState>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(None) };
            let query = sqlx::query("SELECT * FROM approvals WHERE id = $1 AND user_id = $2");
            let query = query.bind(id.as_str()).bind(user.as_str());
            let row = query.fetch_optional(pool).await.map_err(|error| self.failed(error))?;
            let Some(row) = row else { return Ok(None) };
            let state = self.approval_state(&row)?;
            if state != ApprovalState::Pending || now < self.columns("approvals", &row).time("expires")? {
                return Ok(Some(state));
            }
            let mut step = self.database.begin().await?;
            let state = self.expired_or(&mut step, user, id, now).await?;
            step.commit().await.map_err(|error| self.failed(error))?;
            Ok(state)
        }))
    }

    fn withdraw<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
    ) -> StoreFuture<'a, Option<ApprovalState>> {
        Box::pin(self.database.in_time(async move {
            if self.database.to_read().await?.is_none() {
                return Ok(None);
            }
            let mut step = self.database.begin().await?;
            let update = sqlx::query(WITHDRAW).bind(id.as_str()).bind(user.as_str());
            update.execute(&mut *step).await.map_err(|error| self.failed(error))?;
            let state = self.state_in(&mut step, user, id).await?;
            step.commit().await.map_err(|error| self.failed(error))?;
            Ok(state)
        }))
    }

    fn sweep_approvals(&self, before: SystemTime) -> StoreFuture<'_, usize> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(0) };
            let sweep = sqlx::query("DELETE FROM approvals WHERE expires < $1").bind(millis(before));
            let done = sweep.execute(pool).await.map_err(|error| self.failed(error))?;
            Ok(usize::try_from(done.rows_affected()).unwrap_or(usize::MAX))
        }))
    }

    fn grants<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<Grant>> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(Vec::new()) };
            let query = sqlx::query("SELECT * FROM grants WHERE user_id = $1").bind(user.as_str());
            let rows = query.fetch_all(pool).await.map_err(|error| self.failed(error))?;
            let mut found = rows.iter().map(|row| self.grant(row)).collect::<Result<Vec<_>, _>>()?;
            found.sort_by(|a, b| (&a.server, &a.tool, a.definition).cmp(&(&b.server, &b.tool, b.definition)));
            Ok(found)
        }))
    }

    fn revoke_grant<'a>(&'a self, grant: &'a Grant) -> StoreFuture<'a, bool> {
        Box::pin(self.database.in_time(async move {
            let Some(pool) = self.database.to_read().await? else { return Ok(false) };
            let revoke = sqlx::query(
                "DELETE FROM grants WHERE user_id = $1 AND server = $2 AND tool = $3 AND definition = $4",
            );
            let revoke = revoke
                .bind(grant.user.as_str())
                .bind(grant.server.as_str())
                .bind(grant.tool.as_str())
                .bind(grant.definition.to_string());
            let done = revoke.execute(pool).await.map_err(|error| self.failed(error))?;
            Ok(0 < done.rows_affected())
        }))
    }
}

/// Why an approval in this state takes no answer.
fn refusal(state: Option<ApprovalState>) -> AnswerError {
    match state {
        // Pending is not among them: one that is pending and not expired would have taken the answer.
        None | Some(ApprovalState::Pending) => AnswerError::Unknown,
        Some(ApprovalState::Answered { answer, .. }) => AnswerError::AlreadyAnswered(answer),
        Some(ApprovalState::Expired) => AnswerError::Expired,
        Some(ApprovalState::Withdrawn) => AnswerError::Withdrawn,
    }
}

impl SqlStore {
    /// What has become of an approval, which expires by this look if its time is over.
    async fn expired_or(
        &self,
        step: &mut Transaction<'static, Any>,
        user: &UserId,
        id: &ApprovalId,
        now: SystemTime,
    ) -> Result<Option<ApprovalState>, StoreError> {
        let expire = sqlx::query(EXPIRE).bind(id.as_str()).bind(user.as_str()).bind(millis(now));
        expire.execute(&mut **step).await.map_err(|error| self.failed(error))?;
        self.state_in(step, user, id).await
    }

    async fn state_in(
        &self,
        step: &mut Transaction<'static, Any>,
        user: &UserId,
        id: &ApprovalId,
    ) -> Result<Option<ApprovalState>, StoreError> {
        let query = sqlx::query("SELECT state, answer, ended FROM approvals WHERE id = $1 AND user_id = $2");
        let query = query.bind(id.as_str()).bind(user.as_str());
        let row = query.fetch_optional(&mut **step).await.map_err(|error| self.failed(error))?;
        row.map(|row| self.approval_state(&row)).transpose()
    }

    fn approval_state(&self, row: &AnyRow) -> Result<ApprovalState, StoreError> {
        let row = self.columns("approvals", row);
        match row.text("state")?.as_str() {
            "pending" => Ok(ApprovalState::Pending),
            "expired" => Ok(ApprovalState::Expired),
            "withdrawn" => Ok(ApprovalState::Withdrawn),
            "answered" => {
                let answer = |word: &str| ApprovalAnswer::parse(word).ok_or("unknown answer");
                let at = time(row.get("ended")?);
                Ok(ApprovalState::Answered { answer: row.parsed("answer", answer)?, at })
            }
            _ => Err(self.database.damaged("approvals", "unknown state")),
        }
    }

    fn asked(&self, row: &AnyRow) -> Result<PendingApproval, StoreError> {
        let row = self.columns("approvals", row);
        let ask = ApprovalAsk {
            user: row.parsed("user_id", UserId::parse)?,
            session: row.text("session")?,
            server: row.parsed("server", ServerName::parse)?,
            tool: row.parsed("tool", ToolName::parse)?,
            definition: row.hash("definition")?,
            arguments: row.text("arguments")?,
            shown: row.text("shown")?,
            created: row.time("created")?,
            expires: row.time("expires")?,
        };
        Ok(PendingApproval { id: ApprovalId::new(row.text("id")?), ask })
    }

    fn grant(&self, row: &AnyRow) -> Result<Grant, StoreError> {
        let row = self.columns("grants", row);
        Ok(Grant {
            user: row.parsed("user_id", UserId::parse)?,
            server: row.parsed("server", ServerName::parse)?,
            tool: row.parsed("tool", ToolName::parse)?,
            definition: row.hash("definition")?,
            at: row.time("given")?,
        })
    }
}
