//! What surrounds a flow: where its lines go, its environment, its limits, and the kit whose tools its agents may use.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kitbag::{Env, Kitbag, Limits};

/// Where what a flow prints goes, and what is told of its nodes.
pub trait Output: Send + Sync + 'static {
    /// A line, or several.
    fn print(&self, text: &str);

    /// A node was done.
    fn done(&self, _step: &NodeDone<'_>) {}
}

/// What is told of a node that was done.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeDone<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its id.
    pub id: &'a str,
    /// How many nodes contain it, such as loops.
    pub depth: usize,
    /// How long it took, with all it contains.
    pub took: Duration,
    /// Whether it failed.
    pub failed: bool,
}

/// What surrounds a flow.
#[derive(Clone)]
pub struct Host {
    output: Arc<dyn Output>,
    env: Env,
    limits: Arc<Limits>,
    kit: Option<Kitbag>,
}

impl Host {
    /// One without the tools of servers.
    pub fn new(env: Env, output: impl Output) -> Self {
        Self { output: Arc::new(output), env, limits: Arc::default(), kit: None }
    }

    /// With the tools of a kit, and its limits.
    #[must_use]
    pub fn kit(self, kit: Kitbag) -> Self {
        Self { limits: kit.limits(), kit: Some(kit), ..self }
    }

    /// With other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits: Arc::new(limits), ..self }
    }

    /// Where its lines go.
    pub fn output(&self) -> &dyn Output {
        &*self.output
    }

    /// Its environment.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Its limits.
    pub fn bounds(&self) -> &Limits {
        &self.limits
    }

    /// The kit whose tools its agents may use.
    pub fn tools(&self) -> Option<&Kitbag> {
        self.kit.as_ref()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("has_kit", &self.kit.is_some()).finish_non_exhaustive()
    }
}
