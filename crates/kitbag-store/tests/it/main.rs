//! One suite for every store, and what is special about SQLite and PostgreSQL.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod approvals;
mod audit;
mod crash;
mod files;
mod keys;
mod postgres;
mod queue;
mod rows;
mod stores;
mod suite;
mod tamper;
