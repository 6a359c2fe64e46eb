//! Links to resources that results held: whoever reads one later is led to the server that gave it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use kitbag_core::{ServerName, UserId};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Which server gave a link, by user and URI. Nobody is led by what another user's results held.
#[derive(Default)]
pub(in crate::kit) struct Links(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    servers: HashMap<(UserId, Arc<str>), Vec<ServerName>>,
    /// The oldest first.
    order: VecDeque<(UserId, Arc<str>)>,
}

/// Servers remembered of one URI.
const MOST_SERVERS: usize = 4;

impl Links {
    /// Takes down the links of a result; at most so many are kept, and none that is longer than a URI may be.
    pub(in crate::kit) fn note(
        &self,
        user: &UserId,
        server: &ServerName,
        result: &RawValue,
        most: usize,
        longest: usize,
    ) {
        // Most results hold none, and need no closer look.
        static LINK: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new("\"resource"));
        if LINK.find(result.get().as_bytes()).is_none() {
            return;
        }
        let mut kept = self.lock();
        for uri in uris(result).into_iter().filter(|uri| uri.len() <= longest) {
            kept.add(user, server, uri.into(), most);
        }
    }

    /// The servers that gave this link to a user, the last one first.
    pub(super) fn servers(&self, user: &UserId, uri: &str) -> Vec<ServerName> {
        self.lock().servers.get(&(user.clone(), uri.into())).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn add(&mut self, user: &UserId, server: &ServerName, uri: Arc<str>, most: usize) {
        let key = (user.clone(), uri);
        if let Some(servers) = self.servers.get_mut(&key) {
            servers.retain(|known| known != server);
            servers.insert(0, server.clone());
            servers.truncate(MOST_SERVERS);
            return;
        }
        while most.max(1) <= self.order.len() {
            let Some(oldest) = self.order.pop_front() else { break };
            self.servers.remove(&oldest);
        }
        self.servers.insert(key.clone(), vec![server.clone()]);
        self.order.push_back(key);
    }
}

#[derive(Deserialize)]
struct Holder {
    #[serde(default)]
    content: Option<Vec<Block>>,
    #[serde(default)]
    messages: Option<Vec<PromptText>>,
}

#[derive(Deserialize)]
struct PromptText {
    #[serde(default)]
    content: Option<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    resource: Option<Embedded>,
}

#[derive(Deserialize)]
struct Embedded {
    #[serde(default)]
    uri: Option<String>,
}

/// The URIs in the content of a result or the messages of a prompt. What is written otherwise than the protocol says is not
/// looked at.
fn uris(result: &RawValue) -> Vec<String> {
    let Ok(holder) = serde_json::from_str::<Holder>(result.get()) else { return Vec::new() };
    let messages = holder.messages.into_iter().flatten().filter_map(|message| message.content);
    let blocks = holder.content.into_iter().flatten().chain(messages);
    blocks.filter_map(|block| block.uri.or_else(|| block.resource?.uri)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(uris: &[&str]) -> Box<RawValue> {
        let blocks: Vec<_> =
            uris.iter().map(|uri| serde_json::json!({"type": "resource_link", "uri": uri})).collect();
        serde_json::value::to_raw_value(&serde_json::json!({"content": blocks})).unwrap()
    }

    #[test]
    fn links_are_their_users_and_the_oldest_go_first() {
        let (links, ada, bob) =
            (Links::default(), UserId::parse("ada").unwrap(), UserId::parse("bob").unwrap());
        let server = ServerName::parse("x").unwrap();
        links.note(&ada, &server, &result(&["a:1", "a:2", "a:3"]), 2, 10);
        assert!(links.servers(&ada, "a:1").is_empty());
        assert_eq!(links.servers(&ada, "a:3"), std::slice::from_ref(&server));
        assert!(links.servers(&bob, "a:3").is_empty());
        links.note(&bob, &server, &result(&["a:45678901"]), 2, 9);
        assert!(links.servers(&bob, "a:45678901").is_empty(), "longer than a URI may be");
        let other = ServerName::parse("y").unwrap();
        links.note(&ada, &other, &result(&["a:3"]), 2, 10);
        assert_eq!(links.servers(&ada, "a:3"), [other, server]);
    }
}
