//! A database that is opened when it is first needed, and the connections to it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::future::Future;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use kitbag::Limits;
use kitbag::store::StoreError;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{Any, AnyConnection, AnyPool, ConnectOptions as _, Connection as _, SqlSafeStr as _, Transaction};
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};

use crate::target::Target;
use crate::{failure, schema};

/// Connections of one process: SQLite has one writer at a time anyway, and a server shares its own among many processes.
const CONNECTIONS: u32 = 4;
/// Between two looks at a database that another process is creating at the moment: SQLite does not always wait by itself
/// while the mode of its journal changes.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// One database.
pub(crate) struct Database {
    target: Target,
    limits: Limits,
    pool: OnceCell<AnyPool>,
}

impl Database {
    pub(crate) fn new(target: Target, limits: &Limits) -> Self {
        Self { target, limits: limits.clone(), pool: OnceCell::new() }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn name(&self) -> String {
        self.target.name()
    }

    pub(crate) fn failed(&self, error: &sqlx::Error) -> StoreError {
        failure::sort(&self.target, error)
    }

    /// A row that is not as Kitbag writes it.
    pub(crate) fn damaged(&self, table: &str, why: impl std::fmt::Display) -> StoreError {
        failure::damaged(self.name(), format!("table {table}: {why}"))
    }

    /// To write to it; created if it was not there.
    pub(crate) async fn to_write(&self) -> Result<&AnyPool, StoreError> {
        self.pool.get_or_try_init(|| self.connect()).await
    }

    /// To read from it; none where there is nothing to read.
    pub(crate) async fn to_read(&self) -> Result<Option<&AnyPool>, StoreError> {
        match &self.target {
            Target::File(file) if !self.pool.initialized() && !file.exists() => Ok(None),
            _ => self.to_write().await.map(Some),
        }
    }

    /// Several statements as one step. In SQLite it is the only one that writes from its beginning on, so it never has to
    /// be given up half-way because another one was faster.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        let begin = match &self.target {
            Target::Server { .. } => "BEGIN",
            Target::File(_) | Target::Memory => "BEGIN IMMEDIATE",
        };
        self.to_write().await?.begin_with(begin.into_sql_str()).await.map_err(|error| self.failed(&error))
    }

    /// Several statements that see the database at one moment.
    pub(crate) async fn snapshot(&self) -> Result<Option<Transaction<'static, Any>>, StoreError> {
        let begin = match &self.target {
            Target::Server { .. } => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Target::File(_) | Target::Memory => "BEGIN",
        };
        let Some(pool) = self.to_read().await? else { return Ok(None) };
        pool.begin_with(begin.into_sql_str()).await.map(Some).map_err(|error| self.failed(&error))
    }

    /// Waits for an answer no longer than `store_query`.
    pub(crate) async fn in_time<T, E: From<StoreError>>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        let after = self.limits.store_query;
        timeout(after, work).await.unwrap_or_else(|_| {
            let why = format!("no answer within {after:?}");
            Err(StoreError::Unavailable { what: self.name(), why }.into())
        })
    }

    async fn connect(&self) -> Result<AnyPool, StoreError> {
        // The way that any number of users of sqlx in one program may take.
        sqlx::any::install_default_drivers();
        if let Target::File(file) = &self.target {
            let failed =
                |error: io::Error| StoreError::Unavailable { what: self.name(), why: error.to_string() };
            create(file).map_err(failed)?;
        }
        let last = Instant::now() + self.limits.store_wait;
        loop {
            match self.try_connect().await {
                Err(StoreError::Busy { .. }) if Instant::now() < last => sleep(LOOK_AGAIN).await,
                other => return other,
            }
        }
    }

    async fn try_connect(&self) -> Result<AnyPool, StoreError> {
        let options =
            AnyConnectOptions::from_str(&self.target.url()?).map_err(|error| self.failed(&error))?;
        let options = options.disable_statement_logging();
        let settings = self.settings();
        let pool = AnyPoolOptions::new()
            .max_connections(if matches!(self.target, Target::Memory) { 1 } else { CONNECTIONS })
            .acquire_timeout(self.limits.store_wait)
            .after_connect(move |connection, _| {
                let settings = settings.clone();
                Box::pin(async move { set(connection, &settings).await })
            });
        if matches!(self.target, Target::Memory) {
            // Its one connection is the database: it is never let go.
            let pool = pool.idle_timeout(None).max_lifetime(None).connect_lazy_with(options);
            let mut connection = pool.acquire().await.map_err(|error| self.failed(&error))?;
            schema::bring_up(self, &mut connection).await?;
            drop(connection);
            return Ok(pool);
        }
        // Not through the pool, which only says that it waited in vain.
        let mut first = self.first(&options).await?;
        let ready = schema::bring_up(self, &mut first).await;
        let _ = first.close().await;
        ready.map(|()| pool.connect_lazy_with(options))
    }

    async fn first(&self, options: &AnyConnectOptions) -> Result<AnyConnection, StoreError> {
        let after = self.limits.store_wait;
        let connect = async {
            let mut connection = AnyConnection::connect_with(options).await?;
            set(&mut connection, &self.settings()).await?;
            Ok(connection)
        };
        let late =
            |_| StoreError::Unavailable { what: self.name(), why: format!("no connection within {after:?}") };
        timeout(after, connect).await.map_err(late)?.map_err(|error: sqlx::Error| match self.failed(&error) {
            // Whatever a server that is being connected says, it cannot be used now.
            StoreError::Other { what, why } => StoreError::Unavailable { what, why },
            sorted => sorted,
        })
    }

    /// What every connection is told first.
    fn settings(&self) -> Vec<String> {
        let wait = self.limits.store_wait.as_millis();
        match &self.target {
            Target::Server { .. } => vec![
                format!("SET lock_timeout = {wait}"),
                format!("SET statement_timeout = {}", self.limits.store_query.as_millis()),
            ],
            Target::File(_) | Target::Memory => vec![
                format!("PRAGMA busy_timeout = {wait}"),
                "PRAGMA journal_mode = WAL".to_owned(),
                // A commit is on disk before it is acknowledged.
                "PRAGMA synchronous = FULL".to_owned(),
                // What is forgotten is overwritten: arguments may hold secrets.
                "PRAGMA secure_delete = ON".to_owned(),
                // A file that somebody prepared runs no code of its own.
                "PRAGMA trusted_schema = OFF".to_owned(),
            ],
        }
    }
}

async fn set(connection: &mut AnyConnection, settings: &[String]) -> Result<(), sqlx::Error> {
    for setting in settings {
        // Made of constants and numbers alone.
        sqlx::raw_sql(sqlx::AssertSqlSafe(setting.clone())).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Creates the file of a database for its owner alone; SQLite gives the files beside it the same mode.
fn create(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => {
            // The name of the file is on disk, too, before anything in it is acknowledged.
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
