//! What surrounds a flow: where its lines go, its environment, its limits, and the kit whose tools its agents may use.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kitbag::{BoxFuture, Env, Kitbag, Limits};
use tokio::sync::OnceCell;

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
    kit: Arc<LazyKit>,
}

/// Opens a kit.
type Opener = dyn Fn() -> BoxFuture<'static, Result<Kitbag, String>> + Send + Sync;

/// A kit that is opened when the first agent needs it.
struct LazyKit {
    opened: OnceCell<Kitbag>,
    open: Box<Opener>,
}

impl Host {
    /// One without the tools of servers; agents need those of [`Host::kit`] or [`Host::kit_when_needed`].
    pub fn new(env: Env, output: impl Output) -> Self {
        let none = || -> BoxFuture<'static, Result<Kitbag, String>> {
            Box::pin(std::future::ready(Err("agents need the tools of a kit: Host::kit".to_owned())))
        };
        Self { output: Arc::new(output), env, limits: Arc::default(), kit: LazyKit::new(none) }
    }

    /// With the tools of a kit, and its limits.
    #[must_use]
    pub fn kit(self, kit: Kitbag) -> Self {
        let limits = kit.limits();
        let open = move || -> BoxFuture<'static, Result<Kitbag, String>> {
            Box::pin(std::future::ready(Ok(kit.clone())))
        };
        Self { limits, kit: LazyKit::new(open), ..self }
    }

    /// With the tools of a kit that is opened when the first agent runs: until then no server is started.
    #[must_use]
    pub fn kit_when_needed(
        self,
        open: impl Fn() -> BoxFuture<'static, Result<Kitbag, String>> + Send + Sync + 'static,
    ) -> Self {
        Self { kit: LazyKit::new(open), ..self }
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

    /// The kit whose tools its agents may use, if one of them needed it yet.
    pub fn opened(&self) -> Option<&Kitbag> {
        self.kit.opened.get()
    }

    pub(crate) async fn open_kit(&self) -> Result<Kitbag, String> {
        self.kit.opened.get_or_try_init(|| (self.kit.open)()).await.cloned()
    }
}

impl LazyKit {
    fn new(
        open: impl Fn() -> BoxFuture<'static, Result<Kitbag, String>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { opened: OnceCell::new(), open: Box::new(open) })
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("has_kit", &self.opened().is_some()).finish_non_exhaustive()
    }
}
