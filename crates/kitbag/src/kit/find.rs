//! Which tool a name means. Names are looked up, never split; what is not sure is not guessed.

use std::time::Duration;

use kitbag_core::text::nearest;
use kitbag_core::{Fault, ServerName};

use super::{Found, Kitbag, ToolRow};
use crate::connect::Link;

/// Why a name means no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nobody has it.
    #[error("no tool is called {name:?}")]
    NotFound {
        /// The name.
        name: String,
        /// A name that differs by a slip.
        near: Option<String>,
        /// Servers that did not answer in time, and why: they may have it.
        away: Vec<String>,
    },
    /// Several have it.
    #[error("{name:?} may mean any of {}", names.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// What they are called in full.
        names: Vec<String>,
    },
}

impl Kitbag {
    /// The tool a name means: `server/tool`, a shown name, or a tool's own name when only one server has it.
    /// Waits only for servers that could have it.
    pub async fn find(&self, name: &str, at_most: Duration) -> Result<Found, FindError> {
        let all = async {
            for link in self.candidates(name) {
                link.settled().await;
            }
        };
        let _ = tokio::time::timeout(at_most, all).await;
        match self.lookup(name) {
            Some(found) => found,
            None => {
                let shown: Vec<String> = self.tools().into_iter().map(|row| row.shown.to_string()).collect();
                let candidates = self.candidates(name);
                let could =
                    |fault: &Fault| candidates.iter().any(|link| Some(link.name()) == fault.server.as_ref());
                let faults = self.faults().into_iter().filter(could);
                let away: Vec<String> =
                    faults.filter_map(|fault| Some(format!("{} {}", fault.server?, fault.message))).collect();
                // A name that begins with the name of a server that is away was meant as it stands.
                let meant = !away.is_empty() && candidates.len() < self.leases.len();
                let near = nearest(name, shown.iter().map(String::as_str)).map(str::to_owned);
                let near = near.filter(|_| !meant);
                Err(FindError::NotFound { name: name.to_owned(), near, away })
            }
        }
    }

    fn candidates(&self, name: &str) -> Vec<&Link> {
        let names = could_have(self.links().map(Link::name), name);
        self.links().filter(|link| names.contains(link.name())).collect()
    }

    /// Exactly, then without regard to `-`, `_` and case, then by the tool's own name; each only if one fits.
    fn lookup(&self, name: &str) -> Option<Result<Found, FindError>> {
        let rows = self.tools();
        let pair = |row: &&ToolRow| name == format!("{}/{}", row.server, row.tool.name);
        let exact = |row: &&ToolRow| name == row.shown.as_str();
        let loose = |row: &&ToolRow| fold(name) == fold(row.shown.as_str());
        let own = |row: &&ToolRow| name == row.tool.name.as_str();
        let steps: [&dyn Fn(&&ToolRow) -> bool; 4] = [&pair, &exact, &loose, &own];
        steps.iter().find_map(|fits| {
            let fitting: Vec<&ToolRow> = rows.iter().filter(fits).collect();
            match fitting.as_slice() {
                [] => None,
                [row] => Some(Ok(Found {
                    server: row.server.clone(),
                    tool: row.tool.name.clone(),
                    raw: row.tool.clone(),
                })),
                many => {
                    let names = many.iter().map(|row| row.shown.to_string()).collect();
                    Some(Err(FindError::Ambiguous { name: name.to_owned(), names }))
                }
            }
        })
    }
}

fn fold(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// The servers whose tool a name could be: the one it names, those it seems to begin with, else all.
pub fn could_have<'a>(servers: impl Iterator<Item = &'a ServerName>, name: &str) -> Vec<ServerName> {
    let servers: Vec<&ServerName> = servers.collect();
    let named =
        |server: &&ServerName| name.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let folded = fold(name);
    let shown = folded.strip_prefix("mcp_").unwrap_or_default();
    // A long server name is cut in a shown name.
    let begun = |server: &&ServerName| shown.starts_with(&word(server)[..word(server).len().min(40)]);
    let some = |fits: &dyn Fn(&&ServerName) -> bool| {
        let fitting: Vec<ServerName> = servers.iter().copied().filter(fits).cloned().collect();
        Some(fitting).filter(|servers| !servers.is_empty())
    };
    some(&named).or_else(|| some(&begun)).unwrap_or_else(|| servers.into_iter().cloned().collect())
}

/// A name as it stands in a shown name, without regard to case.
fn word(server: &ServerName) -> String {
    fold(
        &server.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>(),
    )
}
