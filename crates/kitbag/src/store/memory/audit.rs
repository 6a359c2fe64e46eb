//! The audit log in memory, with the same chains as on disk.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime};

use super::super::chain::{AuditColumns, ChainCheck, ChainPoint, millis};
use super::super::{
    AuditBatch, AuditEntry, AuditPosition, AuditQuery, AuditScope, AuditStore, AuditVerdict, Hash256,
    Retention, StoreError, StoreFuture, WriterId,
};
use super::MemoryStore;

#[derive(Default)]
pub(super) struct Table {
    chains: Chains,
    /// When it was last looked at for what must go.
    rotated: Option<SystemTime>,
}

type Chains = BTreeMap<WriterId, Chain>;

pub(super) struct Chain {
    /// Behind the rows that were rotated away.
    anchor: ChainPoint,
    head: ChainPoint,
    /// The time of the last row.
    last_ms: i64,
    rows: VecDeque<Kept>,
}

struct Kept {
    columns: AuditColumns,
    hash: Hash256,
}

impl Chain {
    /// Its rows with their numbers.
    fn numbered(&self) -> impl DoubleEndedIterator<Item = (u64, &Kept)> {
        // From the anchor on, without a gap.
        let number = |(index, kept)| (self.anchor.row + 1 + index as u64, kept);
        self.rows.iter().enumerate().map(number)
    }

    fn append(&mut self, batch: &AuditBatch) {
        let known = usize::try_from((self.head.row + 1).saturating_sub(batch.first)).unwrap_or(usize::MAX);
        for row in batch.rows.iter().skip(known) {
            let columns = AuditColumns::from(row);
            self.head = self.head.then(&batch.writer, &columns);
            self.last_ms = columns.at_ms;
            self.rows.push_back(Kept { columns, hash: self.head.hash });
        }
    }

    fn cut(&mut self, last: u64) -> u64 {
        let mut count = 0;
        while self.anchor.row < last
            && let Some(kept) = self.rows.pop_front()
        {
            self.anchor = ChainPoint { row: self.anchor.row + 1, hash: kept.hash };
            count += 1;
        }
        count
    }
}

/// All rows with their positions, the newest first.
fn newest(table: &Chains) -> Vec<(i64, &WriterId, u64, &Kept)> {
    let mut all = Vec::new();
    for (writer, chain) in table {
        all.extend(chain.numbered().map(|(row, kept)| (kept.columns.at_ms, writer, row, kept)));
    }
    all.sort_by(|a, b| (b.0, b.1, b.2).cmp(&(a.0, a.1, a.2)));
    all
}

fn is_wanted(query: &AuditQuery, at: (i64, &WriterId, u64), columns: &AuditColumns) -> bool {
    let of_user = match &query.scope {
        AuditScope::All => true,
        AuditScope::User(user) => columns.user.as_deref() == Some(user.as_str()),
    };
    of_user
        && query.server.as_ref().is_none_or(|server| columns.server.as_deref() == Some(server.as_str()))
        && query.since.is_none_or(|since| millis(since) <= at.0)
        && query.until.is_none_or(|until| at.0 < millis(until))
        && query.before.as_ref().is_none_or(|before| at < (before.at_ms, &before.writer, before.row))
}

fn page(table: &Chains, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
    let rows = newest(table).into_iter();
    let wanted = rows.filter(|(at, writer, row, kept)| is_wanted(query, (*at, writer, *row), &kept.columns));
    let entry = |(at_ms, writer, row, kept): (i64, &WriterId, u64, &Kept)| {
        let position = AuditPosition { at_ms, writer: writer.clone(), row };
        let read = kept.columns.clone().read();
        let row =
            read.map_err(|column| StoreError::Other { what: "audit log".into(), why: column.into() })?;
        Ok(AuditEntry { position, row })
    };
    wanted.take(query.limit).map(entry).collect()
}

fn verify(table: &Chains) -> AuditVerdict {
    let mut rows = 0;
    for (writer, chain) in table {
        let mut check = ChainCheck::new(writer, chain.anchor);
        let follow = || {
            for (row, kept) in chain.numbered() {
                check.row(row, &kept.columns, &kept.hash, kept.columns.bytes())?;
            }
            check.end(chain.head)
        };
        if let Err((row, why)) = follow() {
            return AuditVerdict::Broken { writer: writer.clone(), row, why };
        }
        rows += chain.rows.len() as u64;
    }
    AuditVerdict::Intact { rows }
}

fn rotate(table: &mut Chains, keep: &Retention) -> u64 {
    let oldest = millis(keep.older_than);
    let (mut rows, mut bytes) = (0u64, 0u64);
    let mut cuts: BTreeMap<WriterId, u64> = BTreeMap::new();
    for (at, writer, row, kept) in newest(table) {
        rows += 1;
        bytes = bytes.saturating_add(u64::try_from(kept.columns.bytes()).unwrap_or(0));
        if at < oldest || keep.most_rows < rows || keep.most_bytes < bytes {
            let last = cuts.entry(writer.clone()).or_default();
            *last = row.max(*last);
        }
    }
    let count =
        cuts.iter().map(|(writer, last)| table.get_mut(writer).map_or(0, |chain| chain.cut(*last))).sum();
    // Chains do not grow in number for ever: one that lost all its rows and has no new ones is forgotten.
    table.retain(|_, chain| !chain.rows.is_empty() || oldest <= chain.last_ms);
    count
}

impl AuditStore for MemoryStore {
    fn append<'a>(&'a self, batch: &'a AuditBatch) -> StoreFuture<'a, ()> {
        self.with(move |tables| {
            let start = ChainPoint { row: batch.first.saturating_sub(1), ..ChainPoint::START };
            let fresh = || Chain { anchor: start, head: start, last_ms: 0, rows: VecDeque::new() };
            let chain = tables.audit.chains.entry(batch.writer.clone()).or_insert_with(fresh);
            if chain.head.row + 1 < batch.first {
                return Err(batch.gap_after(chain.head.row));
            }
            chain.append(batch);
            Ok(())
        })
    }

    fn page<'a>(&'a self, query: &'a AuditQuery) -> StoreFuture<'a, Vec<AuditEntry>> {
        self.with(move |tables| page(&tables.audit.chains, query))
    }

    fn verify(&self) -> StoreFuture<'_, AuditVerdict> {
        self.with(move |tables| Ok(verify(&tables.audit.chains)))
    }

    fn rotate<'a>(&'a self, keep: &'a Retention) -> StoreFuture<'a, u64> {
        self.with(move |tables| Ok(rotate(&mut tables.audit.chains, keep)))
    }

    fn begin_rotation(&self, now: SystemTime, every: Duration) -> StoreFuture<'_, bool> {
        self.with(move |tables| {
            let rotated = &mut tables.audit.rotated;
            let is_due = rotated.is_none_or(|last| match now.duration_since(last) {
                Ok(age) => every <= age,
                Err(ahead) => every < ahead.duration(),
            });
            if is_due {
                *rotated = Some(now);
            }
            Ok(is_due)
        })
    }

    fn head<'a>(&'a self, writer: &'a WriterId) -> StoreFuture<'a, Option<(u64, Hash256)>> {
        self.with(move |tables| {
            Ok(tables.audit.chains.get(writer).map(|chain| (chain.head.row, chain.head.hash)))
        })
    }
}
