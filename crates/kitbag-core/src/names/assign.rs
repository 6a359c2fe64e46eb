//! Shown names are looked up in a table, never split: `mcp_a_b_c` may be tool `c` of `a_b` or `b_c` of `a`.
//!
//! One pure function gives every pair of server and tool its name. A pair that has one keeps it for ever; a
//! name that was given is never given to another pair; of new pairs that want the same name none gets it
//! plain. So names are distinct, do not depend on the order of arrival, and a new server never renames the
//! tools of another.

use sha2::{Digest as _, Sha256};

use super::{Naming, Pair, ShownName, Table};

#[cfg(test)]
mod tests;

/// Characters of hash that make a name its own.
const HASH: usize = 10;

/// Gives every new pair a name, and nobody else another one. Pairs that `held` knows may be left out: what
/// changed is enough, and costs only itself.
pub fn assign(held: &Table, pairs: impl IntoIterator<Item = Pair>, naming: &Naming) -> Table {
    let new = pairs.into_iter().filter(|(server, tool)| held.name(server, tool).is_none());
    let mut wishes: Vec<(String, Pair)> = new.map(|pair| (naming.form().plain(&pair), pair)).collect();
    wishes.sort_unstable();
    wishes.dedup();
    let mut table = held.clone();
    let mut denied: Vec<&(String, Pair)> = Vec::new();
    for alike in wishes.chunk_by(|a, b| a.0 == b.0) {
        match alike {
            [(plain, pair)] if naming.takes(plain) && !held.has(plain) => {
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

/// The plain name, cut, with a piece of the pair's own hash; more rounds only if even that is taken.
///
/// There is no last round: whoever names tools after the hashes of another's cannot take its last name.
fn hashed(plain: &str, (server, tool): &Pair, naming: &Naming, table: &Table) -> ShownName {
    let readable = naming.readable(plain, HASH + 1);
    let mut round = 0_u32;
    loop {
        let mut sha = Sha256::new();
        sha.update(server.as_str());
        sha.update([0]);
        sha.update(tool.as_str());
        if 0 < round {
            sha.update([0]);
            sha.update(round.to_be_bytes());
        }
        let name = format!("{readable}_{}", base32(&sha.finalize()));
        if !table.has(&name) && !naming.reserves(&name) {
            return ShownName(name.into());
        }
        round = round.wrapping_add(1);
    }
}

/// The first characters of a hash in lower-case base 32.
pub(crate) fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let word = bytes.iter().take(8).fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    (0..HASH).map(|place| char::from(DIGITS[(word >> (59 - 5 * place) & 31) as usize])).collect()
}
