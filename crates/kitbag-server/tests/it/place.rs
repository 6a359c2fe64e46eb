//! An endpoint with users, for one test.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag::store::{MemoryStore, TokenEntry, TokenStore as _};
use kitbag::{BoxFuture, CancellationToken, Env, Kitbag, Limits, OpenOptions, ServerSpec, Setup, UserId};
use kitbag_core::config::settings;
use kitbag_server::{Endpoint, EndpointOptions, HttpOptions, Kits, NewToken, serve_http};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::client::Client;
use crate::server::{Gate, server};

pub(crate) const USERS: [&str; 3] = ["ada", "bob", "eve"];

/// What every server of these tests has.
pub(crate) const TOOLS: [&str; 4] = ["alpha", "bravo", "delta", "wait"];

pub(crate) struct Place {
    pub(crate) users: Users,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) gate: Arc<Gate>,
    tokens: BTreeMap<&'static str, String>,
    specs: Vec<Arc<ServerSpec>>,
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

/// The handles of all users, open from the beginning.
#[derive(Clone)]
pub(crate) struct Users(Arc<BTreeMap<UserId, Kitbag>>);

impl Users {
    pub(crate) fn of(&self, name: &str) -> Kitbag {
        self.0[&user(name)].clone()
    }
}

impl Kits for Users {
    fn kit<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Option<Kitbag>> {
        Box::pin(std::future::ready(self.0.get(user).cloned()))
    }

    fn knows(&self, user: &UserId) -> bool {
        self.0.contains_key(user)
    }

    fn open(&self) -> BoxFuture<'_, Vec<Kitbag>> {
        Box::pin(std::future::ready(self.0.values().cloned().collect()))
    }
}

pub(crate) fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

async fn add_token(store: &MemoryStore, of: &str) -> String {
    let token = NewToken::random().unwrap();
    let (created, expires, used) = (SystemTime::now(), None, None);
    let entry = TokenEntry { user: user(of), name: "t".into(), hash: token.hash, created, expires, used };
    store.add_token(&entry).await.unwrap();
    token.token.expose().to_owned()
}

/// Two servers with the same tools, these settings, and limits that suit the test.
fn setup(of: &str, specs: &[Arc<ServerSpec>], toml: &str) -> Setup {
    let mut setup = Setup::from_specs(Env::default(), specs.to_vec());
    let (settings, faults) = settings::read(Path::new("kitbag.toml"), toml, &Limits::default());
    assert!(faults.is_empty(), "{faults:?}");
    setup.settings = vec![("kitbag.toml".into(), settings)];
    setup.for_user(user(of))
}

impl Place {
    pub(crate) async fn new(toml: &str, change: impl FnOnce(&mut Limits)) -> Self {
        let gate = Arc::new(Gate::default());
        let specs: Vec<_> = ["a", "b"].map(|name| Arc::new(server(name, &TOOLS, &gate))).into();
        let mut limits = Limits::default();
        limits.serve_tokens = Duration::from_millis(10);
        change(&mut limits);
        let store = Arc::new(MemoryStore::default());
        let options = OpenOptions {
            store: Some(store.clone()),
            limits: Some(limits.clone()),
            ..OpenOptions::default()
        };
        let (mut kits, mut tokens) = (BTreeMap::new(), BTreeMap::new());
        for name in USERS.into_iter().chain(["local"]) {
            let (kit, _) = Kitbag::open_with(setup(name, &specs, toml), options.clone()).await.unwrap();
            kits.insert(user(name), kit);
            tokens.insert(name, add_token(&store, name).await);
        }
        let users = Users(Arc::new(kits));
        let endpoint = Endpoint::new(users.clone(), EndpointOptions::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let options = HttpOptions {
            store: Some(store.clone()),
            require_token: true,
            limits: Arc::new(limits),
            ..HttpOptions::default()
        };
        let serving = serve_http(endpoint, listener, options, stop.clone());
        let serving = TaskTracker::new().spawn(async move { serving.await.unwrap() });
        Self { users, store, gate, tokens, specs, address, stop, serving }
    }

    /// The same servers by other settings, for everybody.
    pub(crate) async fn settings(&self, toml: &str) {
        for (name, kit) in &*self.users.0 {
            kit.apply(setup(name.as_str(), &self.specs, toml)).await.unwrap();
        }
    }

    /// A new token.
    pub(crate) async fn token(&self, of: &str) -> String {
        add_token(&self.store, of).await
    }

    /// A connection of a user's.
    pub(crate) async fn client(&self, of: &str) -> Client {
        Client::new(self.address, Some(&self.tokens[of])).await
    }

    /// One of nobody's.
    pub(crate) async fn stranger(&self) -> Client {
        Client::new(self.address, None).await
    }

    /// Ends everything.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        self.serving.await.unwrap();
        for kit in self.users.0.values() {
            kit.close().await;
        }
    }
}
