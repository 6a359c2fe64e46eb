//! The endpoint at an address: streamable HTTP, both eras of the protocol on one path.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::{any, get};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use kitbag::store::Store;
use kitbag::{BoxFuture, CancellationToken, Limits};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::access::{Access, TokenRule};
use crate::endpoint::Endpoint;

mod accept;
mod batch;
mod door;
mod events;
mod heads;
mod messages;
mod modern;
mod old_sse;
mod ops;
mod refusals;
mod sessions;
mod socket;
mod streams;

use door::{Door, Peer};
use messages::App;
use ops::Readiness;
use sessions::Sessions;
use socket::Socket;
use streams::Streams;

/// Where everything is.
const EVERYTHING: &str = "/mcp";

/// How an address is served.
#[derive(Clone, Default)]
pub struct HttpOptions {
    /// Where tokens are looked up.
    pub store: Option<Arc<dyn Store>>,
    /// Whether everybody must show a token, also on this machine.
    pub require_token: bool,
    /// Names of this machine beside its own addresses, as a proxy before it is called. Where they are given, also as an
    /// empty list, no other is let in.
    pub allowed_hosts: Option<Vec<String>>,
    /// Origins of web pages that may make requests beside local ones, such as `https://chat.example`.
    pub allowed_origins: Vec<String>,
    /// Limits and timeouts.
    pub limits: Arc<Limits>,
}

/// Why an address is not served.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Others can reach it, and nothing asks who they are.
    #[error("{0} can be reached by other machines: a token is needed there")]
    Open(SocketAddr),
    /// The listener does not say where it listens.
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

/// Serves an endpoint until it is told to stop; then requests in flight may end within [`Limits::drain`].
pub async fn serve(
    endpoint: Endpoint,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> Result<(), BindError> {
    let address = listener.local_addr()?;
    let is_loopback = address.ip().is_loopback();
    if !is_loopback && !options.require_token {
        return Err(BindError::Open(address));
    }
    let token = if options.require_token { TokenRule::Required } else { TokenRule::Optional };
    let (hosts, origins) = (options.allowed_hosts, options.allowed_origins);
    let access = Access { is_loopback, token, store: options.store, hosts, origins };
    let limits = options.limits;
    let (sessions, streams) = (Sessions::new(limits.clone()), Streams::new(&limits));
    let (metrics, parked) = (endpoint.count(), endpoint.parked().clone());
    let door = Door::new(access, endpoint.clone(), metrics.clone(), &limits);
    let (readiness, limits_of, ending) = (Readiness::new(), limits.clone(), stop.clone());
    let app = App { endpoint, door, metrics, readiness, sessions, streams, limits: limits_of, stop: ending };
    let app = Arc::new(app);
    let router = Router::new()
        .route(EVERYTHING, any(messages::everything))
        .route("/mcp/s/{server}", any(messages::of_server))
        .route("/mcp/a/{agent}", any(messages::of_agent))
        .route("/sse", any(old_sse::everything))
        .route("/sse/s/{server}", any(old_sse::of_server))
        .route("/sse/a/{agent}", any(old_sse::of_agent))
        .route(old_sse::MESSAGES, any(old_sse::messages))
        .route("/healthz", get(ops::healthz))
        .route("/readyz", get(ops::readyz))
        .route("/metrics", get(ops::metrics))
        .layer(axum::middleware::from_fn(messages::without_length))
        .with_state(app.clone());
    let places = Arc::new(Semaphore::new(limits.serve_connections));
    let keeping = TaskTracker::new();
    let (every, ending) = (limits.serve_tokens, stop.clone());
    let keeper = app.clone();
    keeping.spawn(async move { keeper.door.keep(every, ending).await });
    let accepting = Accepting { listener, app, router, limits, places, tasks: TaskTracker::new(), stop };
    tokio::select! {
        () = accepting.stop.cancelled() => {}
        () = accepting.run() => {}
    }
    // Nobody can come back to them any more.
    parked.clear();
    // Whoever comes now is told so, until the last answer has gone out.
    accepting.tasks.close();
    keeping.close();
    let over = async { tokio::join!(accepting.tasks.wait(), keeping.wait()) };
    tokio::select! {
        biased;
        _ = tokio::time::timeout(accepting.limits.drain, over) => {}
        () = accepting.run() => {}
    }
    Ok(())
}

/// Everything a new connection needs.
struct Accepting {
    listener: TcpListener,
    app: Arc<App>,
    router: Router,
    limits: Arc<Limits>,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Accepting {
    /// Takes connections for as long as it is awaited.
    async fn run(&self) {
        loop {
            // Out of descriptors, or a client that left at once: neither is about the next one.
            let Ok((stream, from)) = self.listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let Ok(place) = self.places.clone().try_acquire_owned() else { continue };
            let router = TowerToHyperService::new(self.router.clone());
            let service = Placed { app: self.app.clone(), router, from: Peer(from) };
            let connection = connection(stream, service, self.limits.clone(), self.stop.clone());
            self.tasks.spawn(async move {
                connection.await;
                drop(place);
            });
        }
    }
}

/// The router, for one connection: its requests know where they come from.
#[derive(Clone)]
struct Placed {
    app: Arc<App>,
    router: TowerToHyperService<Router>,
    from: Peer,
}

impl Service<Request<Incoming>> for Placed {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.from);
        // Where nearly every request goes, nothing needs to be looked up.
        if request.uri().path() == EVERYTHING {
            let app = self.app.clone();
            return Box::pin(async move { Ok(messages::at_once(&app, request.map(Body::new)).await) });
        }
        Box::pin(self.router.call(request))
    }
}

/// One connection, from its first byte to its last. Whoever takes too long over the head of a request is cut off.
async fn connection(stream: TcpStream, service: Placed, limits: Arc<Limits>, stop: CancellationToken) {
    // An answer that waits for the acknowledgement of its own head takes 40 ms longer.
    let _ = stream.set_nodelay(true);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.serve_headers)
        .max_buf_size(limits.http_headers.max(8192));
    let connection = http.serve_connection(TokioIo::new(Socket::new(stream, &limits)), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(limits.drain, connection).await;
}
