//! What a server was given in confidence is not printed because it says it: not in results, not while a call runs.

use kitbag::{CallResult, Kitbag, ServerName};
use kitbag_core::text::Redactor;
use serde_json::Value;

/// Hides the secrets of every server that takes part in a call; nothing by default.
#[derive(Clone, Default)]
pub(in crate::commands) struct Hide(Vec<Redactor>);

impl Hide {
    pub(in crate::commands) fn of(kit: &Kitbag) -> Self {
        let servers = kit.status().into_iter().filter_map(|row| ServerName::parse(&row.name).ok());
        Self(servers.map(|server| kit.redactor(&server)).filter(|redactor| !redactor.is_empty()).collect())
    }

    pub(in crate::commands) fn result(&self, result: &CallResult) -> CallResult {
        self.0.iter().fold(result.clone(), |result, redactor| result.masked(redactor))
    }

    pub(in crate::commands) fn value(&self, value: &Value) -> Value {
        self.0.iter().fold(value.clone(), |value, redactor| redactor.mask_value(&value))
    }

    /// What is to be saved.
    pub(in crate::commands) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.0.iter().fold(bytes, |bytes, redactor| redactor.mask_bytes(&bytes).into_owned())
    }
}
