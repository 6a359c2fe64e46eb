//! Names for a host that has less room for them, because it puts a prefix of its own before each.
//!
//! A name that is too long is cut and ends in the hash of its pair. Such a name is made of nothing but the pair and the
//! room, so it is the same whenever and beside whatever it is made, and nobody else's name changes for it.

use std::collections::BTreeSet;

use super::assign::{HASH, hash};
use super::{SHORTEST_SHOWN, ServerName, ShownName, ToolName, base32};

#[cfg(test)]
mod tests;

/// A name and the pair it belongs to.
pub(crate) type Named<'a> = (ShownName, &'a ServerName, &'a ToolName);

/// The same names, distinct as before, none longer than this. What fits stays as it is, unless it looks like the cut name
/// of another: that one could not be called otherwise.
pub(crate) fn fit(rows: &[Named<'_>], longest: usize) -> Vec<ShownName> {
    let longest = longest.max(SHORTEST_SHOWN);
    let is_long = |name: &ShownName| longest < name.as_str().len();
    let mut cuts: BTreeSet<ShownName> = BTreeSet::new();
    let mut fitted: Vec<ShownName> = rows.iter().map(|(name, ..)| name.clone()).collect();
    for ((name, server, tool), place) in rows.iter().zip(&mut fitted).filter(|((name, ..), _)| is_long(name))
    {
        *place = cut(name, server, tool, longest, |name| cuts.contains(name));
        cuts.insert(place.clone());
    }
    if cuts.is_empty() {
        return fitted;
    }
    let mut taken: BTreeSet<ShownName> = fitted.iter().cloned().collect();
    for ((name, server, tool), place) in rows.iter().zip(&mut fitted) {
        if !is_long(name) && cuts.contains(name) {
            *place = cut(name, server, tool, longest, |name| taken.contains(name));
            taken.insert(place.clone());
        }
    }
    fitted
}

/// The name of a server's gateway within this many characters.
#[cfg(feature = "present")]
pub(crate) fn fit_gateway(name: &ShownName, server: &ServerName, longest: usize) -> ShownName {
    use sha2::{Digest as _, Sha256};
    let longest = longest.max(SHORTEST_SHOWN);
    if name.as_str().len() <= longest {
        return name.clone();
    }
    ended(name.as_str(), &base32(&Sha256::digest(server.as_str())), longest)
}

fn cut(
    name: &ShownName,
    server: &ServerName,
    tool: &ToolName,
    longest: usize,
    is_taken: impl Fn(&ShownName) -> bool,
) -> ShownName {
    let mut round = 0_u32;
    loop {
        let cut = ended(name.as_str(), &hash(server, tool, round), longest);
        if !is_taken(&cut) {
            return cut;
        }
        round = round.wrapping_add(1);
    }
}

/// The beginning of a name and a hash; a name that ended so already keeps it once.
fn ended(name: &str, hash: &str, longest: usize) -> ShownName {
    let readable = name.strip_suffix(hash).and_then(|rest| rest.strip_suffix('_')).unwrap_or(name);
    let readable = &readable[..readable.len().min(longest - HASH - 1)];
    ShownName(format!("{readable}_{hash}").into())
}
