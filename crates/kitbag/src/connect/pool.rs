//! One link for everybody in this process who wants the same server in the same way. It is ended when the
//! last of them lets go of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use kitbag_core::model::{Identity, ResolvedTarget, Timeouts};
use kitbag_core::{Limits, ServerName, UserId};

use super::client::Greeting;
use super::http::Route;
use super::link::Link;
use super::plan::{LinkContext, Plan};
use super::stdio;
use super::trace::Tracer;
use crate::guard::Launcher;

/// What makes two wishes the same: the values, whose they are, what is offered, the bounds, and where tasks run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    server: ServerName,
    identity: Identity,
    owner: Option<UserId>,
    greeting: Greeting,
    /// Whoever reads along reads what a handle of theirs sends, not that of others.
    trace: Option<Tracer>,
    clocks: Timeouts,
    limits: Arc<Limits>,
    concurrency: usize,
    place: Place,
    logs: PathBuf,
    runtime: tokio::runtime::Id,
}

/// What of our own surroundings reaches a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// A program sees variables that every one gets, and the folder it starts in.
    Program { env: Arc<str>, folder: PathBuf, launcher: Launcher },
    /// An address is reached by this proxy and trusted by these certificates.
    Address(Arc<Route>),
    /// A server inside this program sees nothing of them.
    Memory,
}

impl Key {
    /// None while its values are not known: then there is nothing to share.
    pub(crate) fn of(plan: &Plan, context: &LinkContext) -> Option<Self> {
        let resolved = plan.resolved.as_ref().as_ref().ok()?;
        let place = match &resolved.link {
            ResolvedTarget::Stdio { cwd, .. } => Place::Program {
                env: context.program(plan.reach),
                folder: stdio::folder(cwd.as_deref(), &context.env),
                launcher: context.launcher.clone(),
            },
            ResolvedTarget::Remote { .. } => Place::Address(context.route.clone()),
            ResolvedTarget::InProcess(_) => Place::Memory,
        };
        Some(Self {
            server: plan.spec.name.clone(),
            identity: plan.identity?,
            owner: plan.owner.clone(),
            greeting: context.greeting.of(&plan.spec),
            trace: context.trace.clone(),
            clocks: plan.clocks,
            limits: plan.limits.clone(),
            concurrency: plan.concurrency,
            place,
            logs: plan.log_folder(&context.logs),
            runtime: tokio::runtime::Handle::try_current().ok()?.id(),
        })
    }
}

struct Shared {
    link: Link,
    users: usize,
}

static OPEN: LazyLock<Mutex<HashMap<Key, Shared>>> = LazyLock::new(Mutex::default);

fn open() -> MutexGuard<'static, HashMap<Key, Shared>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A hold on a link. The last one to be let go of ends it.
pub(crate) struct Lease {
    link: Link,
    key: Option<Key>,
    released: AtomicBool,
}

impl Lease {
    /// The link that is open under this key, or a new one. One that had given up tries again: whoever asks anew
    /// may know better.
    pub(crate) fn take(key: Option<Key>, start: impl FnOnce() -> Link) -> Self {
        let released = AtomicBool::new(false);
        let Some(key) = key else { return Self { link: start(), key: None, released } };
        let mut open = open();
        if let Some(shared) = open.get_mut(&key).filter(|shared| !shared.link.is_stopped()) {
            shared.users += 1;
            shared.link.revive();
            return Self { link: shared.link.clone(), key: Some(key), released };
        }
        let link = start();
        open.insert(key.clone(), Shared { link: link.clone(), users: 1 });
        Self { link, key: Some(key), released }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// What it is held by.
    pub(crate) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// Whether it was let go of.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::SeqCst)
    }

    /// Lets go of it; the link, if nobody else holds it: then whoever let go of it has to end it.
    pub(crate) fn release(&self) -> Option<Link> {
        if self.released.swap(true, Ordering::SeqCst) {
            return None;
        }
        let Some(key) = &self.key else { return Some(self.link.clone()) };
        let mut open = open();
        let Some(shared) = open.get_mut(key).filter(|shared| shared.link.is(&self.link)) else {
            return Some(self.link.clone());
        };
        shared.users -= 1;
        if 0 < shared.users {
            return None;
        }
        open.remove(key);
        Some(self.link.clone())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(link) = self.release() {
            link.stop();
        }
    }
}

#[cfg(test)]
mod tests;
