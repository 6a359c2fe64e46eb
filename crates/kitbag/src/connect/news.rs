//! What a server says about its lists by itself, and whether it will: one that tells of changes need not be asked for
//! them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, broadcast, watch};

use super::list::ListKind;

/// News of one conversation.
#[derive(Default)]
pub(crate) struct News {
    /// Told when the server says that its tools changed.
    pub(crate) changed: Notify,
    source: watch::Sender<ListSource>,
    /// Told of everything else.
    link: Arc<LinkNews>,
}

/// What a server tells beside changes of its tools. It outlives conversations: each that begins is news, too.
pub(crate) struct LinkNews {
    changes: watch::Sender<ListChanges>,
    updated: broadcast::Sender<Arc<str>>,
}

/// Updates of resources that wait to be taken; whoever lags behind is told so.
const UPDATES: usize = 256;

impl Default for LinkNews {
    fn default() -> Self {
        Self { changes: watch::Sender::default(), updated: broadcast::Sender::new(UPDATES) }
    }
}

/// How often the lists of a server may have become others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListChanges {
    resources: u64,
    prompts: u64,
    conversations: u64,
}

impl ListChanges {
    /// Changes whenever one list may be another.
    pub(crate) fn of(self, kind: ListKind) -> [u64; 2] {
        let own = match kind {
            ListKind::Resources | ListKind::Templates => self.resources,
            ListKind::Prompts => self.prompts,
        };
        [self.conversations, own]
    }
}

impl LinkNews {
    /// Another conversation has begun: nothing is known of its lists.
    pub(crate) fn begin(&self) {
        self.changes.send_modify(|changes| changes.conversations += 1);
    }

    /// Which conversation this is.
    pub(crate) fn conversation(&self) -> u64 {
        self.changes.borrow().conversations
    }

    pub(crate) fn changes(&self) -> watch::Receiver<ListChanges> {
        self.changes.subscribe()
    }

    /// The URIs of resources that changed, as they come.
    pub(crate) fn updates(&self) -> broadcast::Receiver<Arc<str>> {
        self.updated.subscribe()
    }
}

/// Why changes are, or are not, expected to be told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct ListSource {
    /// An older server says at the start whether it tells of changes.
    declared: bool,
    /// A newer one acknowledges a subscription; and a transport may know that nothing can come.
    acknowledged: Option<bool>,
}

impl ListSource {
    fn tells(self) -> bool {
        self.acknowledged.unwrap_or(self.declared)
    }
}

impl News {
    /// Of a conversation of a link.
    pub(crate) fn of(link: &Arc<LinkNews>) -> Self {
        Self { link: link.clone(), ..Self::default() }
    }

    /// The server says at the start that it tells of changes.
    pub(crate) fn declare(&self) {
        self.source.send_modify(|source| source.declared = true);
    }

    /// Takes a notification, if it is about a list or a resource.
    pub(crate) fn hear(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/tools/list_changed" => self.changed.notify_one(),
            "notifications/resources/list_changed" => {
                self.link.changes.send_modify(|changes| changes.resources += 1);
            }
            "notifications/prompts/list_changed" => {
                self.link.changes.send_modify(|changes| changes.prompts += 1);
            }
            "notifications/resources/updated" => {
                // Without anybody who listens it is nobody's news.
                if let Some(uri) = params.and_then(updated_uri) {
                    let _ = self.link.updated.send(uri.into());
                }
            }
            "notifications/subscriptions/acknowledged" => {
                // One about resources says nothing of lists, and what was agreed stays agreed.
                let tells = params.is_some_and(is_about_tools);
                self.source.send_modify(|source| {
                    source.acknowledged = Some(tells || source.acknowledged == Some(true));
                });
            }
            _ => {}
        }
    }

    /// Waits until changes are told, or until they are not.
    pub(super) async fn until(&self, telling: Telling) {
        let mut source = self.source.subscribe();
        // The sender is ours, so it does not end before us.
        let _ = source.wait_for(|source| source.tells() == (telling == Telling::Changes)).await;
    }
}

/// What a server tells of by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    Changes,
    Nothing,
}

fn updated_uri(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Updated {
        uri: String,
    }
    serde_json::from_str::<Updated>(params.get()).ok().map(|updated| updated.uri)
}

fn is_about_tools(params: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Acknowledged {
        #[serde(default)]
        notifications: Accepted,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Accepted {
        tools_list_changed: bool,
    }
    serde_json::from_str::<Acknowledged>(params.get())
        .is_ok_and(|acknowledged| acknowledged.notifications.tools_list_changed)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::News;

    #[test]
    fn a_subscription_to_resources_does_not_end_that_of_tools() {
        let (news, acknowledged) = (News::default(), "notifications/subscriptions/acknowledged");
        let hear = |notifications: &str| {
            let params = format!(r#"{{"notifications":{notifications}}}"#);
            news.hear(acknowledged, Some(&RawValue::from_string(params).unwrap()));
            news.source.borrow().tells()
        };
        assert!(!hear("{}"), "what is not agreed is not told");
        assert!(hear(r#"{"toolsListChanged":true}"#));
        assert!(hear(r#"{"resourceSubscriptions":["a:b"]}"#));
    }
}
