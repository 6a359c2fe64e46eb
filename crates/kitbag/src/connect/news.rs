//! What a server says about its list of tools by itself, and whether it will: one that tells of changes need not be
//! asked for them.

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};

/// News of one conversation.
#[derive(Default)]
pub(crate) struct News {
    /// Told when the server says that its tools changed.
    pub(crate) changed: Notify,
    source: watch::Sender<ListSource>,
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
    /// The server says at the start that it tells of changes.
    pub(crate) fn declare(&self) {
        self.source.send_modify(|source| source.declared = true);
    }

    /// Takes a notification, if it is about the list of tools.
    pub(crate) fn hear(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/tools/list_changed" => self.changed.notify_one(),
            "notifications/subscriptions/acknowledged" => {
                let tells = params.is_some_and(is_about_tools);
                self.source.send_modify(|source| source.acknowledged = Some(tells));
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
