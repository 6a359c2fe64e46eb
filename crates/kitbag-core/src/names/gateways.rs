//! What the one tool of a server is called that stands for all of its tools.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::{LONGEST_SHOWN, ServerName, ShownName, base32};

/// A name for the gateway of each server: `mcp_` and the server's name in letters, digits and `_`. A server
/// that has a name keeps it; of new ones that would be called the same, or like a tool, each gets a piece of
/// its own hash.
pub fn gateways<'a>(
    held: &BTreeMap<ServerName, ShownName>,
    servers: impl IntoIterator<Item = &'a ServerName>,
    is_a_tool: impl Fn(&ShownName) -> bool,
) -> BTreeMap<ServerName, ShownName> {
    let mut names = held.clone();
    let new: BTreeSet<&ServerName> =
        servers.into_iter().filter(|server| !held.contains_key(*server)).collect();
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    new.iter().for_each(|server| *wanted.entry(plain(server)).or_default() += 1);
    let mut given: BTreeSet<ShownName> = held.values().cloned().collect();
    let mut denied = Vec::new();
    let is_taken = |given: &BTreeSet<ShownName>, name: &ShownName| given.contains(name) || is_a_tool(name);
    for server in new {
        let plain = plain(server);
        let alone = wanted.get(&plain) == Some(&1) && is_readable(&plain);
        match ShownName::parse(&plain).ok().filter(|name| alone && !is_taken(&given, name)) {
            Some(name) => {
                given.insert(name.clone());
                names.insert(server.clone(), name);
            }
            None => denied.push((server, plain)),
        }
    }
    for (server, plain) in denied {
        if let Some(name) = hashed(server, &plain, |name| is_taken(&given, name)) {
            given.insert(name.clone());
            names.insert(server.clone(), name);
        }
    }
    names
}

fn plain(server: &ServerName) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    "mcp_".chars().chain(server.as_str().chars().map(word)).collect()
}

/// `文` and `語` are both `_`.
fn is_readable(plain: &str) -> bool {
    plain.len() <= LONGEST_SHOWN && plain.bytes().skip(4).any(|byte| byte != b'_')
}

fn hashed(server: &ServerName, plain: &str, is_taken: impl Fn(&ShownName) -> bool) -> Option<ShownName> {
    let readable = if plain.bytes().skip(4).any(|byte| byte != b'_') { plain } else { "mcp_server" };
    (0_u32..).find_map(|round| {
        let mut sha = Sha256::new();
        sha.update(server.as_str());
        if 0 < round {
            sha.update([0]);
            sha.update(round.to_be_bytes());
        }
        let hash = base32(&sha.finalize());
        let room = LONGEST_SHOWN - hash.len() - 1;
        let name = format!("{}_{hash}", &readable[..readable.len().min(room)]);
        ShownName::parse(&name).ok().filter(|name| !is_taken(name))
    })
}
