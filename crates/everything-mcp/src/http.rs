//! The server at an address, until standard input ends or a signal comes: no test leaves one behind.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::server::Everything;

/// Pages of this machine may ask; others may not.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Serves, having printed where.
pub(crate) async fn serve(server: &Everything, address: SocketAddr) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let mut out = std::io::stdout();
    writeln!(out, "http://{}/mcp", listener.local_addr()?)?;
    out.flush()?;
    let (config, server) =
        (StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS), server.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.session()), sessions, config);
    let tasks = TaskTracker::new();
    let end = end();
    tokio::pin!(end);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            () = &mut end => return Ok(()),
        };
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tasks.spawn(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
        );
    }
}

/// Whoever started this holds its standard input.
async fn end() {
    let mut rest = Vec::new();
    let _ = tokio::io::stdin().read_to_end(&mut rest).await;
}
