//! Which servers a name could belong to. A guess to save time: what a name means is decided by the view.

use std::time::Duration;

use kitbag_core::ServerName;

use super::Kitbag;

impl Kitbag {
    /// Waits for the servers that could have a tool, at most this long.
    pub async fn wait_for(&self, tool: &str, at_most: Duration) {
        let now = self.0.now();
        let names = could_have(now.links.keys(), tool);
        self.0.wait_for(&names, at_most).await;
    }
}

/// The servers whose tool a name could be: the one it names, those it seems to begin with, else all.
pub fn could_have<'a>(servers: impl Iterator<Item = &'a ServerName>, name: &str) -> Vec<ServerName> {
    let servers: Vec<&ServerName> = servers.collect();
    let some = |fits: &dyn Fn(&ServerName, &str) -> bool| {
        let fitting: Vec<ServerName> =
            servers.iter().filter(|server| fits(server, name)).map(|server| (*server).clone()).collect();
        Some(fitting).filter(|servers| !servers.is_empty())
    };
    let some = some(&is_named).or_else(|| some(&is_begun)).or_else(|| some(&is_spelled));
    some.unwrap_or_else(|| servers.into_iter().cloned().collect())
}

/// Whether a name speaks of a server, by its own name or as shown names do.
pub fn speaks_of(server: &ServerName, name: &str) -> bool {
    is_named(server, name) || is_begun(server, name) || is_spelled(server, name)
}

/// Whether a name is written as one of a particular server, be it there or not.
pub(super) fn is_qualified(name: &str) -> bool {
    name.contains('/') || name.get(..4).is_some_and(|begin| fold(begin) == "mcp_")
}

pub(super) fn is_named(server: &ServerName, name: &str) -> bool {
    name.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

fn is_begun(server: &ServerName, name: &str) -> bool {
    // A long server name is cut in a shown name. No more of the name is looked at, however long it is.
    let begin = format!("mcp_{}", word(server));
    let begin = &begin[..begin.len().min(44)];
    fold(name.get(..begin.len()).unwrap_or_default()) == begin
}

/// Whether a name is one of the server's as other programs write it: `server.tool`, `server__tool`, `mcp__server__tool`, or
/// with the server in another case.
fn is_spelled(server: &ServerName, name: &str) -> bool {
    let server = fold(server.as_str());
    let bare = name.get(..5).filter(|begin| fold(begin) == "mcp__").map_or(name, |_| &name[5..]);
    let rest = bare.get(..server.len()).filter(|begin| fold(begin) == server).map(|_| &bare[server.len()..]);
    rest.is_some_and(|rest| ["/", ".", "__"].iter().any(|sign| rest.starts_with(sign)))
}

/// A name as it stands in a shown name, without regard to case.
fn word(server: &ServerName) -> String {
    fold(
        &server.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>(),
    )
}

fn fold(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}
