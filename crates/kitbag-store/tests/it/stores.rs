//! Stores to test, each in a place of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag::store::{MemoryStore, Store};
use kitbag::{Limits, ServerName, ToolName, UserId};
use sqlx::{AnyConnection, Connection as _};
use tempfile::TempDir;

/// A folder for a store, and how to open it.
pub(crate) struct Place {
    folder: TempDir,
    url: String,
    pub(crate) limits: Limits,
}

impl Place {
    /// With a database of SQLite in a state folder that does not exist yet.
    pub(crate) fn sqlite() -> Self {
        Self::with_url("sqlite:")
    }

    pub(crate) fn with_url(url: &str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: url.to_owned(), limits: small_limits() }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.state().join("kitbag.db")
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Opens the store, as one process would.
    pub(crate) fn open(&self) -> Arc<dyn Store> {
        kitbag_store::open(&self.url, &self.state(), &self.limits).unwrap()
    }

    /// The database without the store, as somebody with the file or a password has it.
    pub(crate) async fn raw(&self) -> AnyConnection {
        sqlx::any::install_default_drivers();
        let file = format!("sqlite://{}", self.file().display());
        let url = if self.url == "sqlite:" { &file } else { &self.url };
        AnyConnection::connect(url).await.unwrap()
    }

    /// Runs statements on it.
    pub(crate) async fn run(&self, sql: &str) -> u64 {
        let mut raw = self.raw().await;
        let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
        let done = statement.execute(&mut raw).await.unwrap();
        raw.close().await.unwrap();
        done.rows_affected()
    }
}

/// Bounds that a test can reach.
pub(crate) fn small_limits() -> Limits {
    let mut limits = Limits::default();
    limits.approvals = 5;
    limits
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(&small_limits()))
}

/// A moment, so many milliseconds after some other.
pub(crate) fn at(millis: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_000 + millis)
}

pub(crate) fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

pub(crate) fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

pub(crate) fn tool(name: &str) -> ToolName {
    ToolName::parse(name).unwrap()
}
