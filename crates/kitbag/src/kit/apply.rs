//! From one world to the next: the one way in which servers are opened, replaced and let go of.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag_core::catalog::ServerTools;
use kitbag_core::{Fault, FaultKind, ServerName, UserId};

use super::{Inner, Kitbag};
use crate::connect::{Lease, Link, reads_alike};
use crate::roster::{Before, Lists, New, Now, Opened, Phase, Switch, part_of};
use crate::world::{InOrder, Makings, World};
use crate::{Setup, SetupError};

/// The error of [`Kitbag::apply`], [`Kitbag::reload`], [`Kitbag::restart`] and [`Kitbag::stop`].
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Everything was ended.
    #[error("this Kitbag is closed")]
    Closed,
    /// The setup is another user's.
    #[error("this Kitbag was opened for {own}, not for {other}")]
    OtherUser {
        /// For whom it was opened.
        own: UserId,
        /// For whom the setup is.
        other: UserId,
    },
    /// Nobody uses a server of this name.
    #[error("no server in use is called {0}")]
    NoServer(ServerName),
    /// What was asked for cannot be looked at.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// The links of a new world.
#[derive(Default)]
struct Relinked {
    links: Arc<BTreeMap<ServerName, Arc<Opened>>>,
    /// Those that were not there before.
    new: Vec<Arc<Opened>>,
    /// Those in whose place others stand now.
    replaced: Vec<Arc<Opened>>,
    /// Those whose servers are no longer used.
    gone: Vec<Arc<Opened>>,
}

impl Kitbag {
    /// Puts what a setup says in place: servers are added, replaced and removed, rules and limits changed. Only what
    /// changed is touched: other servers keep their process and session. Calls in flight to a server that goes may
    /// end first (the limit `drain`). What is wrong with the setup is handed back.
    ///
    /// ```no_run
    /// use kitbag::{Env, Kitbag, ServerName, ServerSpec, Setup};
    ///
    /// # async fn example(kit: Kitbag, env: Env) -> Result<(), Box<dyn std::error::Error>> {
    /// let time = ServerSpec::program(ServerName::parse("time")?, "uvx", ["mcp-server-time"]);
    /// kit.apply(Setup::from_specs(env.clone(), vec![time])).await?;
    /// kit.apply(Setup::empty(env)).await?; // and it is gone
    /// # Ok(())
    /// # }
    /// ```
    pub async fn apply(&self, setup: Setup) -> Result<Vec<Fault>, ApplyError> {
        let _reading = self.0.reading.lock().await;
        self.0.put_in_place(setup).await?;
        Ok(self.faults())
    }

    /// Reads the files again and applies them. A file that cannot be read now, half written perhaps, says what it
    /// said before; what is wrong with it is handed back.
    pub async fn reload(&self) -> Result<Vec<Fault>, ApplyError> {
        let _reading = self.0.reading.lock().await;
        self.0.read_again().await?;
        Ok(self.faults())
    }

    /// Reads the files again, and starts one server anew once its calls have ended.
    pub async fn restart(&self, server: &ServerName) -> Result<(), ApplyError> {
        let _reading = self.0.reading.lock().await;
        self.0.read_again().await?;
        let link = self.link(server).ok_or_else(|| ApplyError::NoServer(server.clone()))?;
        link.restart(self.limits().drain).await;
        Ok(())
    }

    /// Ends one server for this handle once its calls have ended, until it is restarted or the files are read again.
    /// Others in this process who use it keep it.
    pub async fn stop(&self, server: &ServerName) -> Result<(), ApplyError> {
        let now = self.0.now();
        let opened = now.links.get(server).ok_or_else(|| ApplyError::NoServer(server.clone()))?;
        let link = opened.let_go();
        self.0.roster.stopped(opened);
        if let Some(link) = link {
            link.end(now.world.limits.drain).await;
        }
        Ok(())
    }
}

impl Inner {
    async fn read_again(&self) -> Result<(), ApplyError> {
        let setup = self.now().world.setup.clone();
        // Files may lie on a slow disk, and others have calls to make.
        let read = tokio::task::spawn_blocking(move || setup.again()).await;
        let fresh = match read {
            Ok(fresh) => fresh?,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        };
        self.put_in_place(self.with_answers(fresh).await).await
    }

    /// The same with the answers of the store, if there is one. Those that cannot be read now are as they were.
    async fn with_answers(&self, mut fresh: Setup) -> Setup {
        let Some(store) = self.options.store.as_ref().filter(|_| fresh.needs_answers()) else { return fresh };
        match fresh.read_answers(&**store).await {
            Ok(()) => fresh,
            Err(error) => {
                fresh.merged.faults.push(Fault::error(FaultKind::Store, error.to_string()));
                fresh.with_answers_of(&self.now().world.setup)
            }
        }
    }

    async fn put_in_place(&self, setup: Setup) -> Result<(), ApplyError> {
        if setup.user != self.user {
            return Err(ApplyError::OtherUser { own: self.user.clone(), other: setup.user });
        }
        if self.now().phase == Phase::Closed {
            return Err(ApplyError::Closed);
        }
        let drain = self.now().world.limits.drain;
        let ending = self.switch(Arc::new(setup));
        futures_util::future::join_all(ending.iter().map(|link| link.end(drain))).await;
        Ok(())
    }

    /// Compiles a setup and puts it in place; the links that nobody holds any more.
    pub(super) fn switch(&self, setup: Arc<Setup>) -> Vec<Link> {
        let _one = self.applying();
        let before = self.now();
        if before.phase == Phase::Closed {
            return Vec::new();
        }
        let makings = Makings {
            limits: self.options.limits.as_ref(),
            only: self.options.only.as_deref(),
            start: self.options.start,
        };
        let world = Arc::new(World::compile(setup, &makings, &before.world));
        self.results.follow(&world.setup.folders.state, &world.limits);
        let Relinked { links, new, replaced, gone } = self.relink(&world, &before);
        if let Some(names) = &self.names {
            let own = new.iter().filter(|opened| opened.server.user.is_some());
            names.add_own(own.map(|opened| opened.link().name().clone()));
        }
        let local = self.local_part(&world.local, &world.limits);
        self.roster.switch(Switch {
            new: new.iter().map(|opened| self.as_new(opened, &world, &before)).collect(),
            gone: gone.iter().map(|opened| opened.link().name().clone()).collect(),
            relisted: relisted(&links, &world, &before),
            links,
            phase: Phase::Open,
            local,
            world,
        });
        for opened in new {
            self.record_restarts(&opened);
            self.roster.follow(opened, self.stop.clone());
        }
        let ending = replaced.iter().chain(&gone).filter_map(|opened| opened.let_go()).collect();
        // Ten thousand descriptions take longer to free than to compare, and nobody has to wait for that.
        self.tasks.spawn_blocking(move || drop(before));
        ending
    }

    /// A link for every server of a world: the one it has, where that still runs what the world says. The map is
    /// the one before as long as nothing in it changes.
    fn relink(&self, world: &World, before: &Now) -> Relinked {
        let mut relinked = Relinked { links: before.links.clone(), ..Relinked::default() };
        let mut known = InOrder::new(&before.links);
        let mut found = 0;
        for (name, server) in &world.servers {
            let known = known.get(name);
            found += usize::from(known.is_some());
            let kept = known.filter(|opened| opened.runs(server));
            let changed = match kept {
                Some(kept) => {
                    // What changed may be what it lacked: a program that is there by now.
                    kept.link().revive();
                    (!Arc::ptr_eq(&kept.server, server)).then(|| kept.under(server.clone()))
                }
                None => {
                    relinked.replaced.extend(known.cloned());
                    let start = || Link::start(server.plan.clone(), &world.context);
                    let opened = Opened::new(Lease::take(server.key.clone(), start), server.clone());
                    relinked.new.push(opened.clone());
                    Some(opened)
                }
            };
            if !server.lazy
                && let Some(opened) = changed.as_ref().or(kept)
            {
                opened.link().want();
            }
            if let Some(opened) = changed {
                Arc::make_mut(&mut relinked.links).insert(name.clone(), opened);
            }
        }
        if found < before.links.len() {
            let is_gone = |name: &ServerName| !world.servers.contains_key(name);
            let gone = before.links.iter().filter(|(name, _)| is_gone(name));
            relinked.gone = gone.map(|(_, opened)| opened.clone()).collect();
            Arc::make_mut(&mut relinked.links).retain(|name, _| !is_gone(name));
        }
        relinked
    }

    /// A server with another link than before, with what is known of its tools.
    fn as_new(&self, opened: &Opened, world: &World, before: &Now) -> New {
        let name = opened.link().name().clone();
        let known = before.links.get(&name).map(|known| &known.server.plan);
        let is_same = known.is_some_and(|known| known.is_same_server(&opened.server.plan));
        let remembered = Lists::of(&world.setup).recall(&opened.server, &world.limits);
        New { name, remembered, before: if is_same { Before::Same } else { Before::Other } }
    }

    /// Takes no more calls; the links that nobody else holds.
    pub(super) fn let_go_of_all(&self) -> Vec<Link> {
        let _one = self.applying();
        let now = self.now();
        self.roster.close();
        now.links.values().filter_map(|opened| opened.let_go()).collect()
    }
}

/// The tools of servers that stay linked, where the limits within which definitions are read are others now.
fn relisted(links: &BTreeMap<ServerName, Arc<Opened>>, world: &World, before: &Now) -> Vec<ServerTools> {
    let limits = &world.limits;
    if Arc::ptr_eq(limits, &before.world.limits) || reads_alike(limits, &before.world.limits) {
        return Vec::new();
    }
    let lists = Lists::of(&world.setup);
    let stays = |(name, opened): &(&ServerName, &Arc<Opened>)| {
        before.links.get(*name).is_some_and(|known| known.link().is(opened.link()))
    };
    let part = |(_, opened): (&ServerName, &Arc<Opened>)| match opened.link().listed() {
        Some(list) => Some(part_of(&opened.server, &list, limits)),
        None => lists.recall(&opened.server, limits).map(|remembered| remembered.part),
    };
    links.iter().filter(stays).filter_map(part).collect()
}
