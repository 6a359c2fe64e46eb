//! What servers are told they may ask for.

use serde_json::value::RawValue;

use super::super::wire::members;
use super::QuestionKind;

/// The most that a client may say about one capability; of one that says more, servers are told that it is there.
const DECLARED: usize = 4 << 10;

/// What we tell a server it may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Offers {
    pub(super) sampling: bool,
    pub(super) elicitation: bool,
    pub(super) roots: bool,
}

impl Offers {
    /// All there is to ask for.
    const ALL: Self = Self { sampling: true, elicitation: true, roots: true };

    /// These and no others.
    pub(crate) fn of(asks: &[QuestionKind]) -> Self {
        Self {
            sampling: asks.contains(&QuestionKind::Sampling),
            elicitation: asks.contains(&QuestionKind::Elicitation),
            roots: asks.contains(&QuestionKind::Roots),
        }
    }

    pub(crate) fn has(self, ask: QuestionKind) -> bool {
        match ask {
            QuestionKind::Sampling => self.sampling,
            QuestionKind::Elicitation => self.elicitation,
            QuestionKind::Roots => self.roots,
        }
    }

    /// As the protocol's capabilities.
    pub(crate) fn json(self) -> &'static str {
        match (self.sampling, self.elicitation, self.roots) {
            (false, false, false) => "{}",
            (false, false, true) => r#"{"roots":{}}"#,
            (false, true, false) => r#"{"elicitation":{"form":{},"url":{}}}"#,
            (false, true, true) => r#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#,
            (true, false, false) => r#"{"sampling":{}}"#,
            (true, false, true) => r#"{"sampling":{},"roots":{}}"#,
            (true, true, false) => r#"{"sampling":{},"elicitation":{"form":{},"url":{}}}"#,
            (true, true, true) => r#"{"sampling":{},"elicitation":{"form":{},"url":{}},"roots":{}}"#,
        }
    }

    /// What a client declares of this, as it wrote it; nothing of what nobody here could pass on to it.
    pub(crate) fn declared(self, capabilities: &RawValue) -> Box<str> {
        let told = members(capabilities).unwrap_or_default().into_iter().filter_map(|(key, value)| {
            QuestionKind::declared_as(&key).filter(|kind| self.has(*kind))?;
            let value = Some(value.get()).filter(|value| *value != "null")?;
            let value = if value.starts_with('{') && value.len() <= DECLARED { value } else { "{}" };
            Some(format!("\"{key}\":{value}"))
        });
        format!("{{{}}}", told.collect::<Vec<_>>().join(",")).into()
    }

    /// What of all this a client declares.
    pub(crate) fn among(capabilities: &RawValue) -> Self {
        let members = members(capabilities).unwrap_or_default();
        let there = members.iter().filter(|(_, value)| value.get() != "null");
        Self::of(&there.filter_map(|(key, _)| QuestionKind::declared_as(key)).collect::<Vec<_>>())
    }

    /// All that a client declares and that can be passed on to it.
    pub(crate) fn all_declared(capabilities: &RawValue) -> Box<str> {
        Self::ALL.declared(capabilities)
    }
}
