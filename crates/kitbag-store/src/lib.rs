//! Kitbag's storage in SQLite, and in PostgreSQL with the feature `postgres`: [`open`] gives what `[store] url` names as a
//! [`kitbag::store::Store`].
//!
//! Both databases are used through one set of statements and one set of migrations. In SQLite what is acknowledged is on
//! disk (`synchronous = FULL`), in a file that only its owner may read.

mod database;
mod failure;
mod key;
mod schema;
mod sql;
mod target;

pub use target::open;
