//! One link for everybody in this process who wants the same server in the same way. It is ended when the
//! last of them lets go of it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use kitbag_core::UserId;
use kitbag_core::model::{Resolved, ResolvedLink};
use kitbag_core::names::fingerprint;

use super::http::Trust;
use super::link::{Link, Surroundings};

/// What makes two wishes the same: server, values, owner of the values, bounds, and where tasks run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(String);

impl Key {
    /// None when it cannot be shared: somebody answers its questions, and it must not ask anyone else.
    pub(crate) fn of(
        server: &str,
        resolved: &Resolved,
        owner: Option<&UserId>,
        around: &Surroundings,
    ) -> Option<Self> {
        if around.responder.is_some() {
            return None;
        }
        let runtime = tokio::runtime::Handle::try_current().ok()?.id().to_string();
        let mut texts = vec![server.to_owned(), runtime, format!("{:?}", around.launcher)];
        texts.push(owner.map_or_else(String::new, |user| format!("user {user}")));
        texts.push(format!("{:?} {:?} {:?}", around.limits, around.logs, around.env.cwd()));
        match &resolved.link {
            ResolvedLink::Stdio { command, args, env, env_file, cwd } => {
                texts.push(command.clone());
                texts.extend(args.iter().map(|arg| arg.expose().to_owned()));
                texts.extend(env.iter().map(|(name, value)| format!("{name}={}", value.expose())));
                texts.push(format!("{env_file:?} {cwd:?}"));
                // What is passed on by name, and where programs are found.
                texts.push(around.env.digest());
            }
            ResolvedLink::Remote { transport, url, headers } => {
                texts.push(format!("{transport:?} {}", url.expose()));
                texts.extend(headers.iter().map(|(name, value)| format!("{name}: {}", value.expose())));
                texts.push(format!("{:?}", Trust::of(&around.env)));
            }
        }
        Some(Self(fingerprint(&texts.iter().map(String::as_str).collect::<Vec<_>>())))
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

/// A hold on a link. The last one to be dropped ends it.
pub(crate) struct Lease {
    link: Link,
    key: Option<Key>,
}

impl Lease {
    /// The link that is open under this key, or a new one.
    pub(crate) fn take(key: Option<Key>, start: impl FnOnce() -> Link) -> Self {
        let Some(key) = key else { return Self { link: start(), key: None } };
        let mut open = open();
        if let Some(shared) = open.get_mut(&key).filter(|shared| !shared.link.is_stopped()) {
            shared.users += 1;
            return Self { link: shared.link.clone(), key: Some(key) };
        }
        let link = start();
        open.insert(key.clone(), Shared { link: link.clone(), users: 1 });
        Self { link, key: Some(key) }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Lets go of it; the link, if it ends by that.
    pub(crate) fn release(self) -> Option<Link> {
        let link = self.link.clone();
        drop(self);
        link.is_stopped().then_some(link)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(key) = &self.key else { return self.link.stop() };
        let mut open = open();
        let Some(shared) = open.get_mut(key).filter(|shared| shared.link.is(&self.link)) else {
            return self.link.stop();
        };
        shared.users -= 1;
        if shared.users == 0 {
            open.remove(key);
            self.link.stop();
        }
    }
}
