//! The tables, and how a database comes to have them.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection as _, SqlSafeStr as _};

use kitbag::store::StoreError;

use crate::database::Database;
use crate::target::Target;

/// The newest version this program knows.
const KNOWN: i64 = 3;

fn migrations() -> Migrator {
    let tables = include_str!("../migrations/0001_tables.sql").into_sql_str();
    let tokens = include_str!("../migrations/0002_tokens.sql").into_sql_str();
    let rotation = include_str!("../migrations/0003_rotation.sql").into_sql_str();
    Migrator::with_migrations(vec![
        Migration::new(1, "tables".into(), MigrationType::Simple, tables, false),
        Migration::new(2, "tokens".into(), MigrationType::Simple, tokens, false),
        Migration::new(KNOWN, "rotation".into(), MigrationType::Simple, rotation, false),
    ])
}

/// Creates what is missing, once, also when several processes come at the same time.
pub(crate) async fn bring_up(database: &Database, connection: &mut AnyConnection) -> Result<(), StoreError> {
    match version(connection).await {
        Some(KNOWN) => return Ok(()),
        Some(found) if KNOWN < found => {
            return Err(StoreError::Newer { what: database.name(), found, known: KNOWN });
        }
        _ => {}
    }
    let migrated = match database.target() {
        // The driver's own lock: others wait for it.
        Target::Server { .. } => migrations().run_direct(None, &mut *connection, false).await,
        // SQLite's driver has none, so the whole of it is one transaction that nobody else can be in.
        Target::File(_) | Target::Memory => {
            let mut alone =
                connection.begin_with("BEGIN EXCLUSIVE").await.map_err(|error| database.failed(&error))?;
            let migrated = migrations().run_direct(None, &mut *alone, false).await;
            if migrated.is_ok() {
                alone.commit().await.map_err(|error| database.failed(&error))?;
            }
            migrated
        }
    };
    migrated.map_err(|error| failed(database, error))
}

fn failed(database: &Database, error: sqlx::migrate::MigrateError) -> StoreError {
    use sqlx::migrate::MigrateError::{Execute, ExecuteMigration, VersionMissing};
    match error {
        Execute(error) | ExecuteMigration(error, _) => database.failed(&error),
        VersionMissing(found) => StoreError::Newer { what: database.name(), found, known: KNOWN },
        error => crate::failure::damaged(database.name(), error.to_string()),
    }
}

/// The version a database has; none where there is none, or where that cannot be told: then migrating says why.
async fn version(connection: &mut AnyConnection) -> Option<i64> {
    let newest = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations WHERE success");
    newest.fetch_one(connection).await.ok()
}
