//! For whoever writes a store: rows of the audit log as they are kept, their hashes, and what breaks a chain. All stores
//! use it, so that they cannot differ.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kitbag_core::{ServerName, UserId};

use super::{AuditDamage, AuditDecision, AuditOutcome, AuditRow, Hash256, WriterId};

/// Milliseconds since 1970, as times are kept; negative before.
pub fn millis(time: SystemTime) -> i64 {
    let signed = |millis: u128| i64::try_from(millis).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => signed(after.as_millis()),
        Err(before) => -signed(before.duration().as_millis()),
    }
}

/// The time of these milliseconds since 1970.
pub fn time(millis: i64) -> SystemTime {
    let apart = Duration::from_millis(millis.unsigned_abs());
    let time = if millis < 0 { UNIX_EPOCH.checked_sub(apart) } else { UNIX_EPOCH.checked_add(apart) };
    time.unwrap_or(UNIX_EPOCH)
}

/// As many bytes as most rows have.
const ROW: usize = 512;

/// A row as it is kept: plain columns, so that also a row somebody tampered with can be read and named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditColumns {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// For whom.
    pub user: Option<String>,
    /// Which agent.
    pub agent: Option<String>,
    /// Which server.
    pub server: Option<String>,
    /// Which tool.
    pub tool: Option<String>,
    /// The word of the decision.
    pub decision: String,
    /// What decided.
    pub rule: Option<String>,
    /// The word of the outcome.
    pub outcome: String,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// The size of the request.
    pub request_bytes: i64,
    /// The size of the result.
    pub result_bytes: i64,
    /// The arguments.
    pub arguments: Option<String>,
    /// The call.
    pub call: Option<String>,
}

impl From<&AuditRow> for AuditColumns {
    fn from(row: &AuditRow) -> Self {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let text = |text: &Option<String>| text.as_deref().map(storable);
        Self {
            at_ms: millis(row.at),
            user: row.user.as_ref().map(|user| user.to_string()),
            agent: text(&row.agent),
            server: row.server.as_ref().map(|server| server.to_string()),
            tool: text(&row.tool),
            decision: row.decision.to_string(),
            rule: text(&row.rule),
            outcome: row.outcome.as_str().to_owned(),
            took_ms: i64::try_from(row.took.as_millis()).unwrap_or(i64::MAX),
            request_bytes: number(row.request_bytes),
            result_bytes: number(row.result_bytes),
            arguments: text(&row.arguments),
            call: text(&row.call),
        }
    }
}

/// PostgreSQL keeps no text with a NUL in it; one such row must not cost the batch it is in.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

impl AuditColumns {
    /// The row they were made of; the name of a column that is not as Kitbag writes it.
    pub fn read(self) -> Result<AuditRow, &'static str> {
        let number = |number: i64, column| u64::try_from(number).map_err(|_| column);
        Ok(AuditRow {
            at: time(self.at_ms),
            user: self.user.map(|user| UserId::parse(&user)).transpose().map_err(|_| "user")?,
            agent: self.agent,
            server: self.server.map(|name| ServerName::parse(&name)).transpose().map_err(|_| "server")?,
            tool: self.tool,
            decision: AuditDecision::parse(&self.decision).ok_or("decision")?,
            rule: self.rule,
            outcome: AuditOutcome::parse(&self.outcome).ok_or("outcome")?,
            took: Duration::from_millis(number(self.took_ms, "took_ms")?),
            request_bytes: number(self.request_bytes, "request_bytes")?,
            result_bytes: number(self.result_bytes, "result_bytes")?,
            arguments: self.arguments,
            call: self.call,
        })
    }

    /// How much room the row takes: what [`Retention::most_bytes`](super::Retention::most_bytes) counts.
    pub fn bytes(&self) -> i64 {
        i64::try_from(self.canonical().len()).unwrap_or(i64::MAX)
    }

    /// The hash of this row, as the one with this number behind the row with the hash `previous`.
    pub fn hash(&self, previous: &Hash256, writer: &WriterId, row: u64) -> Hash256 {
        let mut bytes = Vec::with_capacity(ROW);
        bytes.extend(previous.as_bytes());
        push(&mut bytes, Some(writer.as_str()));
        bytes.extend(row.to_be_bytes());
        bytes.extend(self.canonical());
        Hash256::of(bytes)
    }

    /// One sequence of bytes for one row and no other: every text has its length before it.
    fn canonical(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ROW);
        bytes.extend(self.at_ms.to_be_bytes());
        for text in [&self.user, &self.agent, &self.server, &self.tool] {
            push(&mut bytes, text.as_deref());
        }
        push(&mut bytes, Some(&self.decision));
        push(&mut bytes, self.rule.as_deref());
        push(&mut bytes, Some(&self.outcome));
        for number in [self.took_ms, self.request_bytes, self.result_bytes] {
            bytes.extend(number.to_be_bytes());
        }
        push(&mut bytes, self.arguments.as_deref());
        push(&mut bytes, self.call.as_deref());
        bytes
    }
}

fn push(bytes: &mut Vec<u8>, text: Option<&str>) {
    match text {
        None => bytes.push(0),
        Some(text) => {
            bytes.push(1);
            bytes.extend((text.len() as u64).to_be_bytes());
            bytes.extend(text.as_bytes());
        }
    }
}

/// A place in a chain: the number of a row, and its hash. Before the first row stands number 0 with [`Hash256::ZERO`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPoint {
    /// The number of the row, from 1.
    pub row: u64,
    /// Its hash.
    pub hash: Hash256,
}

impl ChainPoint {
    /// Before the first row.
    pub const START: Self = Self { row: 0, hash: Hash256::ZERO };

    /// The point after a row is put behind this one.
    pub fn then(self, writer: &WriterId, columns: &AuditColumns) -> Self {
        let row = self.row + 1;
        Self { row, hash: columns.hash(&self.hash, writer, row) }
    }
}

/// Follows one writer's chain, row by row in their order.
#[derive(Debug)]
pub struct ChainCheck<'a> {
    writer: &'a WriterId,
    at: ChainPoint,
}

impl<'a> ChainCheck<'a> {
    /// Behind the rows that were rotated away.
    pub fn new(writer: &'a WriterId, anchor: ChainPoint) -> Self {
        Self { writer, at: anchor }
    }

    /// The next row there is, with the hash and the size kept beside it.
    pub fn row(
        &mut self,
        row: u64,
        columns: &AuditColumns,
        hash: &Hash256,
        bytes: i64,
    ) -> Result<(), (u64, AuditDamage)> {
        let next = self.at.then(self.writer, columns);
        if next.row < row {
            return Err((next.row, AuditDamage::Missing));
        }
        if next.row != row || next.hash != *hash || bytes != columns.bytes() {
            return Err((row, AuditDamage::Changed));
        }
        self.at = next;
        Ok(())
    }

    /// After the last row there is: what the chain's end should be.
    pub fn end(self, head: ChainPoint) -> Result<(), (u64, AuditDamage)> {
        if self.at.row < head.row {
            return Err((self.at.row + 1, AuditDamage::Missing));
        }
        if self.at != head {
            return Err((self.at.row, AuditDamage::Changed));
        }
        Ok(())
    }
}
