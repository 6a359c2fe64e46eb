//! Settings that are planned and that nothing obeys yet. Accepting them in silence would promise what is not
//! kept, so each one that is used is a fault. None of them restricts.

use super::super::source::Source;
use super::super::tree::{KeyValue, Node};
use super::closed::title;
use crate::fault::{Fault, FaultKind};

/// A setting that nothing obeys yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotYet {
    /// Its path, `*` for a name of the user's choice; with a section, everything in it.
    pub path: &'static str,
    /// Only these values, if there are any.
    pub values: &'static [&'static str],
}

const fn key(path: &'static str) -> NotYet {
    NotYet { path, values: &[] }
}

const fn modes(path: &'static str) -> NotYet {
    NotYet { path, values: &["search", "auto"] }
}

/// Every setting that nothing obeys yet.
pub const NOT_YET: &[NotYet] = &[
    modes("present.mode"),
    modes("servers.*.mode"),
    modes("agents.*.mode"),
    key("agents.*.budget"),
    NotYet { path: "serve.mode", values: &["search"] },
];

/// Whether nothing obeys this key yet, whatever its value; the path as in [`key_paths`](super::key_paths).
pub fn is_not_yet(path: &str) -> bool {
    let covers = |row: &NotYet| {
        path.strip_prefix(row.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    NOT_YET.iter().any(|row| row.values.is_empty() && covers(row))
}

/// A fault for each such setting that a file uses.
pub(super) fn faults(source: &Source<'_>, root: &Node, most: usize) -> Vec<Fault> {
    let found = NOT_YET.iter().flat_map(|row| {
        let path: Vec<&str> = row.path.split('.').collect();
        let mut found = Vec::new();
        find(root, &path, &mut Vec::new(), most, &mut found);
        found.into_iter().map(move |(table, pair)| (row, table, pair))
    });
    let faults = found.filter_map(|(row, table, pair)| {
        // The line is not shown: its value does not matter here and may be a secret.
        Some(fault(row, &table, pair)?.at(source.place(pair.at)))
    });
    faults.take(most).collect()
}

fn fault(row: &NotYet, table: &str, pair: &KeyValue) -> Option<Fault> {
    let what = match (row.values, table) {
        ([], "[]") => title(&[&pair.key]),
        ([], _) => format!("{:?} in {table}", pair.key),
        (values, _) => {
            let value = values.iter().find(|value| pair.value.text() == Some(**value))?;
            format!("{value:?} for {:?} in {table}", pair.key)
        }
    };
    let message = format!("{what} is not supported yet");
    Some(Fault::warning(FaultKind::NotYet, message).hint("it has no effect; remove it"))
}

/// The pairs at the end of a path, each with the heading of its table, at most so many.
fn find<'n>(
    node: &'n Node,
    path: &[&str],
    above: &mut Vec<&'n str>,
    most: usize,
    found: &mut Vec<(String, &'n KeyValue)>,
) {
    let Some((first, rest)) = path.split_first() else { return };
    let fits = |pair: &&'n KeyValue| *first == "*" || *first == pair.key;
    for pair in node.map().unwrap_or_default().iter().filter(fits) {
        if most <= found.len() {
            return;
        }
        if rest.is_empty() {
            found.push((title(above), pair));
        } else {
            above.push(&pair.key);
            find(&pair.value, rest, above, most, found);
            above.pop();
        }
    }
}
