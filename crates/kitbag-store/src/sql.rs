//! The store in SQL: one module for each kind of row. Every statement is plain SQL that both databases understand, with
//! numbered parameters. What is sorted is sorted here, because databases order texts by rules of their own.

use kitbag::Limits;
use kitbag::store::{Hash256, StoreError};
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Row as _, Type};

use crate::database::Database;
use crate::key::KeyFile;

mod approvals;
mod audit;
mod inputs;
mod pins;
mod rotate;
mod tokens;
mod verify;

/// Everything Kitbag keeps, in one database.
pub(crate) struct SqlStore {
    pub(crate) database: Database,
    pub(crate) key: KeyFile,
    pub(crate) limits: Limits,
}

impl SqlStore {
    fn failed(&self, error: sqlx::Error) -> StoreError {
        self.database.failed(&error)
    }

    /// Reads rows of one table.
    fn columns<'a>(&'a self, table: &'static str, row: &'a AnyRow) -> Columns<'a> {
        Columns { store: self, table, row }
    }
}

/// One row of a table, whose columns are parsed as they are read: what Kitbag did not write is damage.
struct Columns<'a> {
    store: &'a SqlStore,
    table: &'static str,
    row: &'a AnyRow,
}

impl<'a> Columns<'a> {
    fn get<T: Decode<'a, Any> + Type<Any>>(&self, column: &str) -> Result<T, StoreError> {
        self.row.try_get(column).map_err(|error| self.store.database.damaged(self.table, error))
    }

    fn text(&self, column: &str) -> Result<String, StoreError> {
        self.get(column)
    }

    /// A text that is parsed.
    fn parsed<T, E: std::fmt::Display>(
        &self,
        column: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        let text = self.text(column)?;
        parse(&text).map_err(|error| self.store.database.damaged(self.table, error))
    }

    fn hash(&self, column: &str) -> Result<Hash256, StoreError> {
        self.parsed(column, |text| Hash256::parse(text).ok_or(format!("{column} is not a hash")))
    }

    fn time(&self, column: &str) -> Result<std::time::SystemTime, StoreError> {
        self.get(column).map(kitbag::store::chain::time)
    }

    fn time_or_none(&self, column: &str) -> Result<Option<std::time::SystemTime>, StoreError> {
        let millis: Option<i64> = self.get(column)?;
        Ok(millis.map(kitbag::store::chain::time))
    }
}
