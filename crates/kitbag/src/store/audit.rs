//! The audit log: one row for each decision, newest first when it is read, and a chain of hashes that shows when a row was
//! changed or removed.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use kitbag_core::{ErrorKind, ServerName, UserId};

use super::{Hash256, StoreError, StoreFuture};

/// What was decided about a call or a server, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// When it ended.
    pub at: SystemTime,
    /// For whom; none for what concerns no single user, as the restart of a shared server.
    pub user: Option<UserId>,
    /// Which agent.
    pub agent: Option<String>,
    /// Which server.
    pub server: Option<ServerName>,
    /// Which tool, by the server's own name, or what was asked for.
    pub tool: Option<String>,
    /// What was decided.
    pub decision: AuditDecision,
    /// The rule, setting or reason that decided.
    pub rule: Option<String>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// How long it took; kept in milliseconds.
    pub took: Duration,
    /// The size of the request, in bytes.
    pub request_bytes: u64,
    /// The size of the result, in bytes.
    pub result_bytes: u64,
    /// The arguments: masked and cut, or in full where `[audit] payload` says so.
    pub arguments: Option<String>,
    /// The call, to find its other rows and its log lines.
    pub call: Option<String>,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditDecision {
    /// The call was allowed.
    Allowed,
    /// A person allowed it.
    Approved,
    /// It was refused by a rule.
    Denied,
    /// A person refused it, or nobody could be asked.
    ApprovalDenied,
    /// The tool or server is held: its definition or its entry is not approved.
    Held,
    /// The result was cut.
    Truncated,
    /// A server was started again.
    Restarted,
    /// So many rows were lost, because they came faster than they could be written.
    Lost(u64),
}

impl AuditDecision {
    const WORDS: [(Self, &str); 7] = [
        (Self::Allowed, "allowed"),
        (Self::Approved, "approved"),
        (Self::Denied, "denied"),
        (Self::ApprovalDenied, "approval_denied"),
        (Self::Held, "held"),
        (Self::Truncated, "truncated"),
        (Self::Restarted, "restarted"),
    ];

    /// By its word.
    pub fn parse(word: &str) -> Option<Self> {
        if let Some(rows) = word.strip_prefix("lost:") {
            return rows.parse().ok().map(Self::Lost);
        }
        Self::WORDS.into_iter().find(|(_, its)| *its == word).map(|(decision, _)| decision)
    }
}

impl fmt::Display for AuditDecision {
    /// The word used in output and in the database.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, Self::WORDS.iter().find(|(decision, _)| decision == self)) {
            (Self::Lost(rows), _) => write!(f, "lost:{rows}"),
            (_, Some((_, word))) => f.write_str(word),
            // Every other one is in the table; a test looks.
            (_, None) => Ok(()),
        }
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuditOutcome {
    /// Well.
    Ok,
    /// With an error of this kind.
    Failed(ErrorKind),
}

impl AuditOutcome {
    /// The word used in output and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed(kind) => kind.as_str(),
        }
    }

    /// By its word.
    pub fn parse(word: &str) -> Option<Self> {
        let failed = || ErrorKind::ALL.iter().find(|kind| kind.as_str() == word).copied().map(Self::Failed);
        if word == "ok" { Some(Self::Ok) } else { failed() }
    }
}

/// Who writes: one process, from its start to its end. Each has a chain of its own, so that several can write at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriterId(String);

impl WriterId {
    /// A new one, of 128 random bits.
    pub fn random() -> Result<Self, StoreError> {
        super::hash::random_word().map(Self)
    }

    /// One that was kept.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WriterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Rows to be appended.
#[derive(Clone, Debug)]
pub struct AuditBatch {
    /// Who writes them.
    pub writer: WriterId,
    /// The number of the first row in the writer's chain, from 1. A row whose number is there already is not written again,
    /// so a batch whose fate is not known can be sent once more.
    pub first: u64,
    /// The rows.
    pub rows: Vec<AuditRow>,
}

impl AuditBatch {
    /// The error of a store whose last row of this writer is too far before the batch.
    pub fn gap_after(&self, last: u64) -> StoreError {
        let why = format!("row {} of writer {} was to follow row {last}", self.first, self.writer);
        StoreError::Other { what: "audit log".to_owned(), why }
    }
}

/// Where a row stands among all rows: by time, then by writer and number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPosition {
    /// Its time, in milliseconds since 1970.
    pub at_ms: i64,
    /// Its writer.
    pub writer: WriterId,
    /// Its number in the writer's chain.
    pub row: u64,
}

impl fmt::Display for AuditPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.at_ms, self.row, self.writer)
    }
}

impl FromStr for AuditPosition {
    type Err = StoreError;

    /// What [`Display`](fmt::Display) wrote.
    fn from_str(text: &str) -> Result<Self, StoreError> {
        let parts = || {
            let (at, rest) = text.split_once('.')?;
            let (row, writer) = rest.split_once('.')?;
            Some(Self { at_ms: at.parse().ok()?, writer: WriterId::new(writer), row: row.parse().ok()? })
        };
        parts().ok_or_else(|| StoreError::Other {
            what: "position in the audit log".to_owned(),
            why: "it is not one that was given out".to_owned(),
        })
    }
}

/// A row as it was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Where it stands.
    pub position: AuditPosition,
    /// What it says.
    pub row: AuditRow,
}

/// Whose rows are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditScope {
    /// Everybody's, and those of no user: for whoever runs this Kitbag.
    All,
    /// This user's alone.
    User(UserId),
}

/// Which rows to read.
#[derive(Clone, Debug)]
pub struct AuditQuery {
    /// Whose.
    pub scope: AuditScope,
    /// Of this server alone.
    pub server: Option<ServerName>,
    /// Not older than this.
    pub since: Option<SystemTime>,
    /// Older than this.
    pub until: Option<SystemTime>,
    /// Behind the last row of the page before.
    pub before: Option<AuditPosition>,
    /// So many at most.
    pub limit: usize,
}

impl AuditQuery {
    /// The newest rows.
    pub fn newest(scope: AuditScope, limit: usize) -> Self {
        Self { scope, server: None, since: None, until: None, before: None, limit }
    }
}

/// Whether the log is as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditVerdict {
    /// It is.
    Intact {
        /// So many rows were looked at.
        rows: u64,
    },
    /// It is not: the first row that is not as it was.
    Broken {
        /// Whose chain.
        writer: WriterId,
        /// Which row of it, from 1.
        row: u64,
        /// What happened to it.
        why: AuditDamage,
    },
}

/// What happened to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditDamage {
    /// It is not there.
    Missing,
    /// It, or what is kept about it, does not say what it said.
    Changed,
}

/// How much of the log is kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// What is older goes. A row that was written before such a one goes, too: a chain loses its beginning, never a part of
    /// its middle.
    pub older_than: SystemTime,
    /// Of more rows, the oldest go.
    pub most_rows: u64,
    /// Of more bytes, the oldest go.
    pub most_bytes: u64,
}

/// Keeps the audit log.
///
/// Each writer's rows are a chain: the hash of a row covers the hash of the row before. The end of each chain is kept
/// beside the rows and changes in one step with them. Who may write to the database can still remove a whole chain with
/// its end, or compute all hashes again.
pub trait AuditStore {
    /// Appends rows to their writer's chain, all or none of them.
    fn append<'a>(&'a self, batch: &'a AuditBatch) -> StoreFuture<'a, ()>;

    /// Rows, the newest first.
    fn page<'a>(&'a self, query: &'a AuditQuery) -> StoreFuture<'a, Vec<AuditEntry>>;

    /// Looks at every chain from its beginning, or from where [`AuditStore::rotate`] cut it, to its end.
    fn verify(&self) -> StoreFuture<'_, AuditVerdict>;

    /// Removes the beginnings of chains; how many rows. The hash of the last row removed is kept, so that what stays can
    /// still be verified.
    fn rotate<'a>(&'a self, keep: &'a Retention) -> StoreFuture<'a, u64>;

    /// Whether it is time to rotate: nobody did within `every`. Of several who ask at once one is told so. A time further in
    /// the future than that is the word of a clock that was wrong.
    fn begin_rotation(&self, now: SystemTime, every: Duration) -> StoreFuture<'_, bool>;

    /// The end of a writer's chain: its last row and that row's hash. Who writes it down elsewhere can tell later whether
    /// the chain was rewritten.
    fn head<'a>(&'a self, writer: &'a WriterId) -> StoreFuture<'a, Option<(u64, Hash256)>>;
}
