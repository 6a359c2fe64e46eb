//! Shown names are looked up in a table, never split: `mcp_a_b_c` may be tool `c` of `a_b` or `b_c` of `a`.
//!
//! One pure function gives every pair of server and tool its name. A pair that has one keeps it for ever; a
//! name that was given is never given to another pair; of new pairs that want the same name none gets it
//! plain. So names are distinct, do not depend on the order of arrival, and a new server never renames the
//! tools of another.
//!
//! For one server only so many names are kept. A list that does not fit beside them is named with hashes: such a
//! name is made of its pair alone, so it can be forgotten and given again. Plain names are never forgotten.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE32_NOPAD;
use sha2::{Digest as _, Sha256};

use super::{NameTable, Naming, ServerName, ShownName, ToolKey, ToolName};

#[cfg(test)]
mod tests;

/// Characters of hash that make a name its own.
pub(super) const HASH: usize = 10;

/// Gives every new pair a name, and nobody else another one. Pairs that `held` knows may be left out: what
/// changed is enough, and costs only itself.
pub fn assign(held: &NameTable, pairs: impl IntoIterator<Item = ToolKey>, naming: &Naming) -> NameTable {
    let new = pairs.into_iter().filter(|(server, tool)| held.name(server, tool).is_none());
    let mut wishes: Vec<(String, ToolKey)> = new.map(|pair| (naming.form().plain(&pair), pair)).collect();
    wishes.sort_unstable();
    wishes.dedup();
    let full = without_room(held, &wishes, naming);
    let mut table = held.clone();
    let mut denied: Vec<&(String, ToolKey)> = Vec::new();
    for alike in wishes.chunk_by(|a, b| a.0 == b.0) {
        match alike {
            [(plain, pair)] if naming.takes(plain) && !held.has(plain) && !full.contains(&pair.0) => {
                table.give(pair.clone(), ShownName(plain.as_str().into()));
            }
            _ => denied.extend(alike),
        }
    }
    // Only when every plain name is given: a hashed one may be what somebody else is called plainly.
    for (plain, pair) in denied {
        let name = hashed(plain, pair, naming, &table);
        table.give(pair.clone(), name);
    }
    table
}

/// Servers whose new tools would have more names than are kept.
fn without_room(held: &NameTable, new: &[(String, ToolKey)], naming: &Naming) -> BTreeSet<ServerName> {
    let mut counts: BTreeMap<&ServerName, usize> = BTreeMap::new();
    for (_, (server, _)) in new {
        *counts.entry(server).or_default() += 1;
    }
    let is_full = |(server, new): &(&ServerName, usize)| naming.most() < held.count(server) + new;
    counts.into_iter().filter(is_full).map(|(server, _)| server.clone()).collect()
}

/// Lets names go that one server has beyond those that are kept: of tools it no longer lists, and only such as would
/// be given again.
pub fn trim(table: &mut NameTable, server: &ServerName, listed: &BTreeSet<&ToolName>, naming: &Naming) {
    let beyond = table.count(server).saturating_sub(naming.most());
    if beyond == 0 {
        return;
    }
    let goes = |(tool, name): &(&ToolName, &ShownName)| {
        let plain = || naming.form().plain(&(server.clone(), (*tool).clone()));
        !listed.contains(*tool) && name.as_str() != plain()
    };
    let goes = table.of(server).filter(goes).take(beyond);
    let goes: Vec<(ToolName, ShownName)> = goes.map(|(tool, name)| (tool.clone(), name.clone())).collect();
    for (tool, name) in goes {
        table.free(server, &tool, &name);
    }
}

/// The plain name, cut, with a piece of the pair's own hash; more rounds only if even that is taken.
///
/// There is no last round: whoever names tools after the hashes of another's cannot take its last name.
fn hashed(plain: &str, (server, tool): &ToolKey, naming: &Naming, table: &NameTable) -> ShownName {
    let readable = naming.readable(plain, HASH + 1);
    let mut round = 0_u32;
    loop {
        let name = format!("{readable}_{}", hash(server, tool, round));
        if !table.has(&name) && !naming.reserves(&name) {
            return ShownName(name.into());
        }
        round = round.wrapping_add(1);
    }
}

/// What a pair's names end in where they are not plain; another one in each round.
pub(super) fn hash(server: &ServerName, tool: &ToolName, round: u32) -> String {
    let mut sha = Sha256::new();
    sha.update(server.as_str());
    sha.update([0]);
    sha.update(tool.as_str());
    if 0 < round {
        sha.update([0]);
        sha.update(round.to_be_bytes());
    }
    base32(&sha.finalize())
}

/// The first characters of a hash in lower-case base 32.
pub(crate) fn base32(bytes: &[u8]) -> String {
    let mut text = BASE32_NOPAD.encode(bytes).to_ascii_lowercase();
    text.truncate(HASH);
    text
}
