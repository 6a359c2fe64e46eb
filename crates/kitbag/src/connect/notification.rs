//! What a server says about a call while the call runs.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A notification of a server during a call: progress or a log message.
#[derive(Clone, Debug)]
pub struct Notification {
    /// `notifications/progress` or `notifications/message`.
    pub method: String,
    /// Its parameters, as received.
    pub params: Box<RawValue>,
}

impl Notification {
    /// A progress notification, as a local tool sends it.
    pub(crate) fn of_progress(progress: &Progress) -> Option<Self> {
        let params = serde_json::value::to_raw_value(progress).ok()?;
        Some(Self { method: PROGRESS.to_owned(), params })
    }

    /// How far the call is, if this tells it.
    pub fn progress(&self) -> Option<Progress> {
        (self.method == PROGRESS).then(|| serde_json::from_str(self.params.get()).ok()).flatten()
    }
}

const PROGRESS: &str = "notifications/progress";

/// How far a call is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done; grows with every notification.
    pub progress: f64,
    /// How much there is to do, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
