//! The endpoint of one run: on this machine alone, for whoever brings the token that was made for it, with the tools of one
//! agent and nothing else. It ends with the run, and the token with it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use kitbag::store::{MemoryStore, TokenEntry, TokenStore as _};
use kitbag::{CancellationToken, Kitbag, Secret};
use kitbag_agent::{ProgramEndpoint, ProgramKind};
use kitbag_server::{Endpoint, EndpointOptions, HttpOptions, NewToken, Scope, serve_http};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::exit::{Exit, Failure};

/// Whoever comes sees every tool by itself, under its short name, whatever the settings say for others.
const LOOK: &str = "/mcp?mode=native&names=short";

pub(super) struct Door {
    address: SocketAddr,
    token: Secret,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Door {
    /// Opens one, for an agent of the settings or for everything its user may have.
    pub(super) async fn open(
        kit: &Kitbag,
        agent: Option<String>,
        kind: ProgramKind,
    ) -> Result<Self, Failure> {
        let failed = |error: &dyn std::error::Error| {
            Failure::new(Exit::Bug, format!("no endpoint for the agent: {error}"))
        };
        let NewToken { token, hash } = NewToken::random().map_err(|error| failed(&error))?;
        let tokens = MemoryStore::new(&kit.limits());
        let (user, created) = (kit.user().clone(), SystemTime::now());
        let entry = TokenEntry { user, name: "run".to_owned(), hash, created, expires: None, used: None };
        tokens.add_token(&entry).await.map_err(|error| failed(&error))?;
        let listener = TcpListener::bind((IpAddr::V4(Ipv4Addr::LOCALHOST), 0)).await;
        let listener = listener.map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let options = EndpointOptions {
            only: Some(agent.map_or(Scope::Everything, Scope::Agent)),
            longest: Some(kind.longest()),
            ..EndpointOptions::default()
        };
        let endpoint = Endpoint::new(kit.clone(), options);
        let options = HttpOptions {
            store: Some(Arc::new(tokens)),
            require_token: true,
            limits: kit.limits(),
            ..HttpOptions::default()
        };
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let ending = stop.clone();
        tasks.spawn(async move {
            // It is loopback and asks for a token: nothing is left to refuse.
            let _ = serve_http(endpoint, listener, options, ending).await;
        });
        Ok(Self { address, token, stop, tasks })
    }

    /// What the program of the run is told.
    pub(super) fn endpoint(&self) -> ProgramEndpoint {
        ProgramEndpoint { url: format!("http://{}{LOOK}", self.address), token: self.token.clone() }
    }

    /// Lets nobody in any more.
    pub(super) async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
