//! What one user's agent sees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kitbag_core::catalog::{Snapshot, ToolChange, changes};
use kitbag_core::model::AgentRules;
use kitbag_core::shape::{ClashError, View, ViewRequest};
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, ServerName, Stage, UserId};
use tokio::sync::watch;

use super::{Inner, Kitbag};
use crate::code::Trouble;
use crate::execute::guarded_now;
use crate::roster::Now;
use crate::world::{Permits, Within, World};

/// The error of [`Kitbag::agent`]: no file describes an agent of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no agent is called {name:?}")]
pub struct UnknownAgent {
    /// What was asked for.
    pub name: String,
    /// What may have been meant.
    pub near: Option<String>,
}

impl Kitbag {
    /// What the files say about an agent. Whoever keeps it sees no more by it than the files allow by then: ask again
    /// for what they allow more.
    pub fn agent(&self, name: &str) -> Result<AgentRules, UnknownAgent> {
        let world = self.0.now().world.clone();
        world.agent(name).ok_or_else(|| {
            let near = nearest(name, world.agents().map(|(name, _)| name.as_str())).map(str::to_owned);
            UnknownAgent { name: name.to_owned(), near }
        })
    }

    /// What a user's agent sees now. Equal states give the same view.
    pub fn view(&self, user: &UserId, agent: &AgentRules) -> Result<Arc<View>, ClashError> {
        self.0.view(user, agent)
    }

    /// What whoever this was opened for sees without any agent's wishes.
    pub fn own_view(&self) -> Arc<View> {
        self.0.own_view()
    }

    /// What happens to tools from now on: a list of changes whenever there are any. Ends with the catalog.
    pub fn changes(&self) -> BoxStream<'static, Vec<ToolChange>> {
        let mut watch = self.watch();
        let last = watch.borrow_and_update().clone();
        let next = async |(mut watch, mut last): (watch::Receiver<Arc<Snapshot>>, Arc<Snapshot>)| loop {
            watch.changed().await.ok()?;
            let now = watch.borrow_and_update().clone();
            let found = changes(&last, &now);
            last = now;
            if !found.is_empty() {
                return Some((found, (watch, last)));
            }
        };
        stream::unfold((watch, last), next).boxed()
    }
}

impl Inner {
    pub(super) fn own_view(&self) -> Arc<View> {
        self.own_view_or().unwrap_or_else(|trouble| Arc::new(failed(&self.user, &trouble)))
    }

    /// The same, or what trouble the program's own rules or permit make.
    pub(super) fn own_view_or(&self) -> Result<Arc<View>, Trouble> {
        let now = self.roster.glance();
        // Before the view: what is kept must not be older than its revision says.
        let revision = self.revision();
        if let Some(made) = self.views.own.load().as_ref().filter(|made| made.holds(&now, revision)) {
            return Ok(made.view.clone());
        }
        let view = match self.view_in(&now, &self.user, &AgentRules::default()) {
            Ok(view) => view,
            Err(Unseen::Trouble(trouble)) => return Err(trouble),
            // Only the policy that asks for an error can end in one, and this is another.
            Err(Unseen::Clash(_)) => Arc::new(View::empty(&self.user)),
        };
        let made = Made { view: view.clone(), world: now.world.clone(), revision };
        self.views.own.store(Some(Arc::new(made)));
        Ok(view)
    }

    /// How often the permit and the pins changed; not known where the permit panics, as where it does not say.
    fn revision(&self) -> Option<(u64, u64)> {
        let permit = guarded_now(|| self.permit.revision()).flatten()?;
        Some((permit, self.pins.revision()))
    }

    /// What the agent of a view sees at this moment; none where that is the view itself.
    pub(super) fn present(&self, view: &View, now: &Arc<Now>) -> Result<Option<Arc<View>>, Unseen> {
        let own = self.views.own.load();
        let own = own.as_ref().filter(|own| std::ptr::eq(&*own.view, view));
        if own.is_some_and(|own| own.holds(now, self.revision())) {
            return Ok(None);
        }
        let present = self.view_in(now, view.user(), view.agent())?;
        Ok(Some(present).filter(|present| !std::ptr::eq(&**present, view)))
    }

    pub(super) fn view(&self, user: &UserId, agent: &AgentRules) -> Result<Arc<View>, ClashError> {
        match self.view_in(&self.roster.glance(), user, agent) {
            Ok(view) => Ok(view),
            Err(Unseen::Clash(clash)) => Err(clash),
            Err(Unseen::Trouble(trouble)) => Ok(Arc::new(failed(user, &trouble))),
        }
    }

    /// What a user's agent sees at one moment.
    pub(super) fn view_in(
        &self,
        now: &Arc<Now>,
        user: &UserId,
        agent: &AgentRules,
    ) -> Result<Arc<View>, Unseen> {
        let revision = self.revision();
        let before = self.views.get(user, agent);
        if let Some(made) = before.as_ref().filter(|made| made.holds(now, revision)) {
            return Ok(made.view.clone());
        }
        // No lock is held here: rules and permits are others' code, and may ask for a view themselves.
        let view = Arc::new(self.made(user, agent, now, before.as_ref())?);
        let view = match before.filter(|before| before.is_same(now, &view)) {
            Some(before) => before.view,
            None => view,
        };
        self.views.keep(user, agent, Made { view: view.clone(), world: now.world.clone(), revision });
        Ok(view)
    }

    /// Makes a view: where rules or permits of the program take part, on a thread that may hang.
    fn made(
        &self,
        user: &UserId,
        agent: &AgentRules,
        now: &Arc<Now>,
        before: Option<&Made>,
    ) -> Result<View, Unseen> {
        let is_ours = self.options.permit.is_none() && self.options.rules.is_empty();
        let Some(kit) = self.me.upgrade().filter(|_| !is_ours) else {
            return self.make(user, agent, now, before).map_err(Unseen::Clash);
        };
        let limits = now.world.limits.clone();
        let (user, agent, now, before) = (user.clone(), agent.clone(), now.clone(), before.cloned());
        let made = self.threads.run_now(&limits, move || kit.make(&user, &agent, &now, before.as_ref()));
        made.map_err(Unseen::Trouble)?.map_err(Unseen::Clash)
    }

    fn make(
        &self,
        user: &UserId,
        agent: &AgentRules,
        now: &Now,
        before: Option<&Made>,
    ) -> Result<View, ClashError> {
        let world = &now.world;
        let within = Within::of(world, agent);
        let permissions =
            Permits { world, user, within: within.as_ref(), pins: &self.pins, permit: &*self.permit };
        let is_visible = |server: &ServerName| {
            world.policy.denies_server(user, server).is_none()
                && within.as_ref().is_none_or(|within| within.denies_server(server).is_none())
        };
        let servers: Vec<ServerName> = now.links.keys().cloned().collect();
        let same_rules = |server: &ServerName| {
            before.is_some_and(|before| {
                before.world.form == world.form && before.world.same_server(world, server)
            })
        };
        View::new(&ViewRequest {
            snapshot: &now.snapshot,
            shapers: &**world,
            rules: &self.options.rules,
            agent,
            form: agent.names.unwrap_or(world.form),
            user,
            permissions: &permissions,
            local: Some(&world.local),
            denied: world.policy.denies(user),
            visible: &is_visible,
            servers: &servers,
            before: before.map(|made| &*made.view),
            same_rules: &same_rules,
        })
    }
}

/// Why there is no view.
pub(super) enum Unseen {
    Clash(ClashError),
    /// The program's own rules or permit.
    Trouble(Trouble),
}

/// Better nothing than what a rule or permit would have kept away.
fn failed(user: &UserId, trouble: &Trouble) -> View {
    let fault = Fault::error(FaultKind::RuleFailed, format!("{WHOSE} {trouble}"));
    View::failed(user, Fault { stage: Stage::Shape, ..fault })
}

/// Whose code makes trouble when a view is made.
pub(super) const WHOSE: &str = "a rule or the permit of the program";

/// A view, and what it was made from.
#[derive(Clone)]
struct Made {
    view: Arc<View>,
    world: Arc<World>,
    revision: Option<(u64, u64)>,
}

impl Made {
    /// Whether a new one would be the same.
    fn holds(&self, now: &Now, revision: Option<(u64, u64)>) -> bool {
        revision.is_some()
            && self.revision == revision
            && Arc::ptr_eq(&self.world, &now.world)
            && Arc::ptr_eq(self.view.snapshot(), &now.snapshot)
    }

    /// Whether this one is as good as one made anew.
    fn is_same(&self, now: &Now, view: &View) -> bool {
        let all =
            |view: &View| view.tools().iter().chain(view.shadowed()).map(Arc::as_ptr).collect::<Vec<_>>();
        Arc::ptr_eq(&self.world, &now.world)
            && Arc::ptr_eq(self.view.snapshot(), view.snapshot())
            && all(&self.view) == all(view)
    }
}

/// Views that are kept; one that asks for everything under new rules each time must not fill the memory.
const KEPT: usize = 1_000;

type OfUser = HashMap<AgentRules, Made>;

/// The views made so far, by user and agent. Whoever looks takes no lock.
#[derive(Default)]
pub(super) struct Views {
    made: ArcSwap<HashMap<UserId, Arc<OfUser>>>,
    /// The one that is asked for most: of whom this was opened for, without an agent's wishes.
    own: ArcSwapOption<Made>,
    writing: Mutex<()>,
}

impl Views {
    fn get(&self, user: &UserId, agent: &AgentRules) -> Option<Made> {
        self.made.load().get(user)?.get(agent).cloned()
    }

    fn keep(&self, user: &UserId, agent: &AgentRules, made: Made) {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = HashMap::clone(&self.made.load());
        if KEPT <= all.values().map(|of_user| of_user.len()).sum() {
            all.clear();
        }
        let of_user = all.entry(user.clone()).or_default();
        Arc::make_mut(of_user).insert(agent.clone(), made);
        self.made.store(Arc::new(all));
    }
}
