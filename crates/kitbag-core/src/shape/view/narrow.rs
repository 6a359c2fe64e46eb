//! What a view was narrowed by. It is kept with the view, so that a fresh view of the same agent can be
//! narrowed alike: a narrowing that got lost would let calls through that it kept out.

use std::fmt;
use std::sync::Arc;

use super::ViewTool;

type Keep = Arc<dyn Fn(&ViewTool) -> bool + Send + Sync>;

/// Conditions a tool has to meet, all of them.
#[derive(Clone, Default)]
pub(super) struct Narrowing(Vec<Keep>);

impl Narrowing {
    /// Narrowed by one condition.
    pub(super) fn by(keep: impl Fn(&ViewTool) -> bool + Send + Sync + 'static) -> Self {
        Self(vec![Arc::new(keep)])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn keeps(&self, shown: &ViewTool) -> bool {
        self.0.iter().all(|keep| keep(shown))
    }

    /// The conditions that another does not have already.
    pub(super) fn beyond(&self, other: &Self) -> Self {
        let is_new = |keep: &&Keep| !other.0.iter().any(|old| Arc::ptr_eq(keep, old));
        Self(self.0.iter().filter(is_new).cloned().collect())
    }

    /// All conditions of both.
    pub(super) fn and(&self, more: &Self) -> Self {
        Self(self.0.iter().chain(&more.0).cloned().collect())
    }
}

impl fmt::Debug for Narrowing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Narrowing({})", self.0.len())
    }
}
