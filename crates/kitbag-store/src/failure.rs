//! What a database's error means for whoever asked.

use kitbag::store::StoreError;
use sqlx::error::DatabaseError;

use crate::target::Target;

/// Sorts an error of the driver into the kinds that callers decide by.
pub(crate) fn sort(target: &Target, error: &sqlx::Error) -> StoreError {
    let what = target.name();
    match error {
        sqlx::Error::Database(error) => match target {
            Target::Server { .. } => of_postgres(what, error.as_ref()),
            Target::File(_) | Target::Memory => of_sqlite(what, error.as_ref()),
        },
        sqlx::Error::PoolTimedOut => {
            StoreError::Unavailable { what, why: "no connection came free in time".into() }
        }
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StoreError::Unavailable { what, why: error.to_string() }
        }
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_) => {
            damaged(what, error.to_string())
        }
        _ => StoreError::Other { what, why: error.to_string() },
    }
}

/// A database, or a row in it, that is not as Kitbag writes it.
pub(crate) fn damaged(what: String, why: String) -> StoreError {
    let hint = "nothing was deleted: restore it from a copy, or move it away to begin anew".to_owned();
    StoreError::Damaged { what, why, hint }
}

fn of_sqlite(what: String, error: &dyn DatabaseError) -> StoreError {
    let why = error.message().to_owned();
    // The lower byte is the kind, the rest says more about it.
    match error.code().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff) {
        // SQLITE_BUSY, SQLITE_LOCKED
        Some(5 | 6) => StoreError::Busy { what },
        // SQLITE_CORRUPT, SQLITE_NOTADB
        Some(11 | 26) => damaged(what, why),
        // SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_AUTH
        Some(3 | 8 | 10 | 13 | 14 | 23) => StoreError::Unavailable { what, why },
        _ => StoreError::Other { what, why },
    }
}

fn of_postgres(what: String, error: &dyn DatabaseError) -> StoreError {
    let why = error.message().to_owned();
    let code = error.code().unwrap_or_default().into_owned();
    match code.as_str() {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => StoreError::Busy { what },
        // No such database.
        "3D000" => StoreError::Unavailable { what, why },
        // Damaged data or index.
        "XX001" | "XX002" => damaged(what, why),
        // Connection, authorization, resources, operator intervention, system.
        _ if ["08", "28", "53", "57", "58"].iter().any(|class| code.starts_with(class)) => {
            StoreError::Unavailable { what, why }
        }
        _ => StoreError::Other { what, why },
    }
}
