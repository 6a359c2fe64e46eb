//! What an endpoint serves, and to whom: the same for every transport.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use kitbag::{AgentRules, BoxFuture, Kitbag, Mode, ServerName, UserId, View};
use kitbag_core::names::NameForm;

use crate::audience::{Audience, Style};
use crate::load::Places;
use crate::metrics::Metrics;
use crate::parked::Parked;
use crate::rpc::{RpcError, code};
use crate::tools::{self, Listed};

/// How many lists are kept as they were written: one for each user, scope and state in use.
const LISTS: usize = 64;

/// The handles of all users.
pub trait Kits: Send + Sync + 'static {
    /// The handle of a user; none where the user is not known.
    fn kit<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Option<Kitbag>>;

    /// Whether a user is known now. Who is not is let in no more, and what goes on for them ends.
    fn knows(&self, user: &UserId) -> bool;

    /// The handles that are open, for what is told of all of them.
    fn open(&self) -> BoxFuture<'_, Vec<Kitbag>>;
}

/// One handle for the one user there is.
impl Kits for Kitbag {
    fn kit<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Option<Kitbag>> {
        let kit = (self.user() == user).then(|| self.clone());
        Box::pin(std::future::ready(kit))
    }

    fn knows(&self, user: &UserId) -> bool {
        self.user() == user
    }

    fn open(&self) -> BoxFuture<'_, Vec<Kitbag>> {
        Box::pin(std::future::ready(vec![self.clone()]))
    }
}

/// How an endpoint shows what it has, where its operator says so. A client may ask for something else.
#[derive(Clone, Debug, Default)]
pub struct EndpointOptions {
    /// Which form of name tools have; what the settings say otherwise, else [`NameForm::Short`]: hosts put their own prefix
    /// before it.
    pub names: Option<NameForm>,
    /// How tools are shown: `Native`, `Gateway` or `Auto`; what the settings say otherwise, else what suits each client.
    pub mode: Option<Mode>,
    /// The one part that is served, at whatever address it is asked for: for an endpoint that is one agent's own.
    pub only: Option<Scope>,
    /// The most characters a name may have, where one known program comes; what the program calls itself says so otherwise.
    pub longest: Option<usize>,
}

/// Which part of everything one address serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All a user may have.
    #[default]
    Everything,
    /// One server's.
    Server(ServerName),
    /// What an agent of the settings sees.
    Agent(String),
}

/// Everything that is served; clones are the same endpoint.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    kits: Box<dyn Kits>,
    options: EndpointOptions,
    lists: Mutex<Vec<Kept>>,
    /// Until when a list waits for a user's servers: they were started not long ago.
    waits: Mutex<HashMap<UserId, Instant>>,
    places: Places,
    /// Where calls are counted, if somebody can ask.
    metrics: OnceLock<Arc<Metrics>>,
    parked: Arc<Parked>,
}

/// A list, and for whom it was written.
struct Kept {
    view: Arc<View>,
    style: Style,
    listed: Arc<Listed>,
}

impl Endpoint {
    /// An endpoint over these handles.
    pub fn new(kits: impl Kits, options: EndpointOptions) -> Self {
        Self(Arc::new(Inner {
            kits: Box::new(kits),
            options,
            lists: Mutex::default(),
            waits: Mutex::default(),
            places: Places::default(),
            metrics: OnceLock::new(),
            parked: Arc::default(),
        }))
    }

    /// Calls that wait until their clients have answered a question.
    pub(crate) fn parked(&self) -> &Arc<Parked> {
        &self.0.parked
    }

    /// The handle of a user.
    pub(crate) async fn kit(&self, user: &UserId) -> Option<Kitbag> {
        let kit = self.0.kits.kit(user).await?;
        let until = Instant::now() + kit.limits().wait_agent;
        lock(&self.0.waits).entry(user.clone()).or_insert(until);
        Some(kit)
    }

    pub(crate) fn knows(&self, user: &UserId) -> bool {
        self.0.kits.knows(user)
    }

    /// The handles that are open.
    pub(crate) async fn open(&self) -> Vec<Kitbag> {
        self.0.kits.open().await
    }

    /// The calls that each user has open.
    pub(crate) fn places(&self) -> &Places {
        &self.0.places
    }

    /// Where calls are counted. Nothing is counted before somebody can ask for it.
    pub(crate) fn metrics(&self) -> Option<&Arc<Metrics>> {
        self.0.metrics.get()
    }

    /// Begins to count.
    pub(crate) fn count(&self) -> Arc<Metrics> {
        self.0.metrics.get_or_init(|| Arc::new(Metrics::new())).clone()
    }

    /// Waits for servers that are just being started: many hosts ask for tools once, right after their start.
    pub(crate) async fn wait(&self, kit: &Kitbag, user: &UserId) {
        let until = lock(&self.0.waits).get(user).copied();
        let left = until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default();
        if !left.is_zero() {
            kit.wait(left).await;
        }
    }

    /// What a client of a user sees in a scope now, and how. What is not there, and what may not be seen, is equally unknown.
    pub(crate) fn view(
        &self,
        kit: &Kitbag,
        user: &UserId,
        scope: &Scope,
        audience: &Audience,
    ) -> Result<(Arc<View>, Style), RpcError> {
        let unknown = |what: String| RpcError::new(code::INVALID_PARAMS, what);
        let mut agent = match self.0.options.only.as_ref().unwrap_or(scope) {
            Scope::Agent(name) => kit.agent(name).map_err(|error| unknown(error.to_string()))?,
            Scope::Server(server) => {
                AgentRules { servers: vec![literal(server.as_str())], ..AgentRules::default() }
            }
            Scope::Everything => AgentRules::default(),
        };
        let style = audience.style(&kit.setup(), &self.0.options, &mut agent);
        let view = kit.view(user, &agent).map_err(|clash| unknown(clash.to_string()))?;
        Ok((view, style))
    }

    /// The tools of a view as a client sees them. Written once for each view and style.
    pub(crate) fn list(&self, kit: &Kitbag, view: &Arc<View>, style: &Style) -> Arc<Listed> {
        let is_its = |kept: &&Kept| Arc::ptr_eq(&kept.view, view) && kept.style == *style;
        if let Some(kept) = lock(&self.0.lists).iter().find(is_its) {
            return kept.listed.clone();
        }
        // Nobody waits meanwhile: counting what many tools take needs a moment.
        let listed = Arc::new(tools::list(kit, view, style));
        let mut lists = lock(&self.0.lists);
        if LISTS <= lists.len() {
            lists.remove(0);
        }
        lists.push(Kept { view: view.clone(), style: *style, listed: listed.clone() });
        listed
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name as a pattern that means just it.
fn literal(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
