//! What Kitbag keeps between runs beside its configuration: pins, approvals, tokens, answers to inputs, the audit log. Here are the traits and their rows, so that the library needs no database; [`MemoryStore`] keeps all of
//! it until the program ends, and the crate `kitbag-store` in SQLite or PostgreSQL. All three behave alike.
//!
//! Each row belongs to a user, or to everybody ([`RowOwner`]). A method that is given a user finds that user's rows alone: the
//! rows of others do not exist for it. Times come in as values, so that a test has no clock to wait for; they are kept in
//! milliseconds.

mod approvals;
mod audit;
mod audit_writer;
pub mod chain;
mod error;
mod hash;
mod inputs;
mod memory;
mod owner;
mod pins;
mod rotation;
mod tokens;

pub use approvals::{
    AnswerError, ApprovalAnswer, ApprovalAsk, ApprovalId, ApprovalState, ApprovalStore, Grant,
    PendingApproval,
};
pub use audit::{
    AuditBatch, AuditDamage, AuditDecision, AuditEntry, AuditOutcome, AuditPosition, AuditQuery, AuditRow,
    AuditScope, AuditStore, AuditVerdict, Retention, WriterId,
};
pub use audit_writer::{AuditWriter, Unwritten};
pub use error::StoreError;
pub use hash::Hash256;
pub use inputs::{InputKey, InputStore};
pub use memory::MemoryStore;
pub use owner::RowOwner;
pub use pins::{Pin, PinKey, PinState, PinStore};
pub use tokens::{TokenEntry, TokenError, TokenStore};

use futures_util::future::BoxFuture;

/// What every method of a store returns.
pub type StoreFuture<'a, T, E = StoreError> = BoxFuture<'a, Result<T, E>>;

/// Everything Kitbag keeps, as one object: `Arc<dyn Store>`.
///
/// What is written is kept when the future is done, also if the machine loses power a moment later. A store is opened
/// lazily: nothing is created before something is written, and reading what is not there gives nothing.
pub trait Store:
    PinStore + ApprovalStore + TokenStore + InputStore + AuditStore + Send + Sync + 'static
{
}

impl<T> Store for T where
    T: PinStore + ApprovalStore + TokenStore + InputStore + AuditStore + Send + Sync + 'static
{
}
