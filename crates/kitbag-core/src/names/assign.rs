//! Shown names are looked up in a table, never split: `mcp_a_b_c` may be tool `c` of `a_b` or `b_c` of `a`.
//!
//! One pure function gives every pair of server and tool its name. A pair that has one keeps it for ever; a
//! name that was given is never given to another pair; of new pairs that want the same name none gets it
//! plain. So names are distinct, do not depend on the order of arrival, and a new server never renames the
//! tools of another.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::{ServerName, ShownName, ToolName};

#[cfg(test)]
mod tests;

/// The longest name every provider takes.
pub const LONGEST: usize = 64;
/// Characters of hash that make a name its own.
const HASH: usize = 10;

/// Who a name belongs to.
pub type Pair = (ServerName, ToolName);

/// Names and the pairs they belong to, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    by_pair: BTreeMap<Pair, ShownName>,
    by_name: BTreeMap<ShownName, Pair>,
}

impl Table {
    /// The name of a pair.
    pub fn name(&self, server: &ServerName, tool: &ToolName) -> Option<&ShownName> {
        self.by_pair.get(&(server.clone(), tool.clone()))
    }

    /// The pair of a name.
    pub fn pair(&self, name: &ShownName) -> Option<&Pair> {
        self.by_name.get(name)
    }

    /// All names in order, with their pairs.
    pub fn iter(&self) -> impl Iterator<Item = (&ShownName, &Pair)> {
        self.by_name.iter()
    }

    fn give(&mut self, pair: Pair, name: ShownName) {
        self.by_name.insert(name.clone(), pair.clone());
        self.by_pair.insert(pair, name);
    }
}

/// Gives every new pair a name of the form `mcp_<server>_<tool>` of at most `longest` characters.
pub fn assign(held: &Table, pairs: impl IntoIterator<Item = Pair>, longest: usize) -> Table {
    let mut table = held.clone();
    let new: BTreeSet<Pair> = pairs.into_iter().filter(|pair| !held.by_pair.contains_key(pair)).collect();
    let mut wanted: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    for pair in new {
        wanted.entry(plain(&pair)).or_default().push(pair);
    }
    for (plain, pairs) in wanted {
        let free = plain.len() <= longest && pairs.len() == 1;
        let name = ShownName::parse(&plain).ok().filter(|name| free && !held.by_name.contains_key(name));
        match (name, pairs) {
            (Some(name), pairs) => pairs.into_iter().for_each(|pair| table.give(pair, name.clone())),
            (None, pairs) => {
                for pair in pairs {
                    if let Some(name) = hashed(&plain, &pair, longest, &table) {
                        table.give(pair, name);
                    }
                }
            }
        }
    }
    table
}

/// What a pair would be called if it were alone.
fn plain((server, tool): &Pair) -> String {
    let word = |text: &str| {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>()
    };
    format!("mcp_{}_{}", word(server.as_str()), word(tool.as_str()))
}

/// The plain name, cut, with a piece of the pair's own hash; more rounds only if even that is taken.
fn hashed(plain: &str, pair: &Pair, longest: usize, table: &Table) -> Option<ShownName> {
    let readable = &plain[..plain.len().min(longest.saturating_sub(HASH + 1))];
    (0_u8..=255).find_map(|round| {
        let mut sha = Sha256::new();
        sha.update(pair.0.as_str().as_bytes());
        sha.update([0]);
        sha.update(pair.1.as_str().as_bytes());
        if 0 < round {
            sha.update([0, round]);
        }
        let name = ShownName::parse(&format!("{readable}_{}", base32(&sha.finalize()))).ok()?;
        (!table.by_name.contains_key(&name)).then_some(name)
    })
}

/// The first characters of a hash in lower-case base 32.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let word = bytes.iter().take(8).fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    (0..HASH).map(|place| char::from(DIGITS[(word >> (59 - 5 * place) & 31) as usize])).collect()
}
