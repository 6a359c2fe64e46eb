//! For whoever runs the endpoint: whether it lives, whether it is ready, and its numbers. Strangers learn no more than that it
//! is there; what is told of servers is told to the operator, who is the user `local`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use kitbag::connect::LinkStatus;
use kitbag::{Kitbag, LinkState, UserId};
use serde_json::json;

use super::messages::App;
use super::refusals::json;
use crate::passes::Pass;

/// Whether the servers had their time to start.
pub(super) struct Readiness {
    began: Instant,
    /// Once ready, servers that come and go do not change it.
    was: AtomicBool,
}

impl Readiness {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), was: AtomicBool::new(false) }
    }

    fn is_ready(&self, kits: &[Kitbag]) -> bool {
        let settled = |kit: &Kitbag| kit.status().iter().all(|server| is_settled(&server.status));
        let waited = |kit: &Kitbag| kit.limits().wait_agent <= self.began.elapsed();
        let is_ready = || kits.first().is_some_and(|first| settled(first) || waited(first));
        self.was.load(Ordering::Relaxed)
            || is_ready() && {
                self.was.store(true, Ordering::Relaxed);
                true
            }
    }
}

/// Whether there is nothing to wait for: also of one that only starts on first need.
fn is_settled(status: &LinkStatus) -> bool {
    status.is_settled() || matches!(status.state, LinkState::Idle | LinkState::Disabled)
}

/// Whether the process answers at all.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

pub(super) async fn readyz(State(app): State<Arc<App>>, request: Request) -> Response {
    let kits = app.endpoint.open().await;
    let (status, word) = match () {
        () if app.stop.is_cancelled() => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
        () if app.readiness.is_ready(&kits) => (StatusCode::OK, "ready"),
        () => (StatusCode::SERVICE_UNAVAILABLE, "starting"),
    };
    // Who only asks whether it is ready, as a load balancer does, is no intruder.
    if app.door.is_strangers(request.headers()) || operator(&app, request).await.is_err() {
        return (status, format!("{word}\n")).into_response();
    }
    let mut servers: BTreeMap<&str, usize> = BTreeMap::new();
    for server in kits.first().into_iter().flat_map(Kitbag::status) {
        *servers.entry(server.status.state.as_str()).or_default() += 1;
    }
    let about = json!({"state": word, "servers": servers, "sessions": app.sessions.count()});
    json(status, about.to_string())
}

pub(super) async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    let _pass = match operator(&app, request).await {
        Ok(pass) => pass,
        Err(response) => return *response,
    };
    let mut page = app.metrics.page();
    page.push_str(&now(&app, &app.endpoint.open().await));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(CONTENT_TYPE, kind)], Body::from(page)).into_response()
}

/// Lets in whoever runs this Kitbag. What another user may not see is not there.
async fn operator(app: &App, request: Request) -> Result<Pass, Box<Response>> {
    let (parts, _) = request.into_parts();
    let pass = app.door.let_in(&parts).await?;
    if pass.user == UserId::local() {
        return Ok(pass);
    }
    Err(Box::new(StatusCode::NOT_FOUND.into_response()))
}

/// What is so at this moment.
fn now(app: &App, kits: &[Kitbag]) -> String {
    let mut page = String::new();
    let mut one = |name: &str, what: &str, value: usize| {
        let _ = writeln!(page, "# HELP {name} {what}\n# TYPE {name} gauge\n{name} {value}\n");
    };
    one("kitbag_sessions", "Sessions of clients of the older protocol.", app.sessions.count());
    one("kitbag_calls_open", "Calls that are on their way.", app.endpoint.places().open());
    one("kitbag_users", "Users whose tools are open.", kits.len());
    let audits = || kits.iter().filter_map(Kitbag::audit);
    let waiting = audits().map(kitbag::store::AuditWriter::waiting).sum();
    one("kitbag_audit_waiting", "Rows of the audit log that wait to be written.", waiting);
    let lost: u64 = audits().map(kitbag::store::AuditWriter::lost).sum();
    let what = "Rows of the audit log that were lost.";
    let _ = writeln!(page, "# HELP kitbag_audit_lost_total {what}\n# TYPE kitbag_audit_lost_total counter");
    let _ = writeln!(page, "kitbag_audit_lost_total {lost}\n");
    servers(&mut page, kits);
    page
}

/// The state of each server, and how often it was started again.
fn servers(page: &mut String, kits: &[Kitbag]) {
    let (mut states, mut restarts) = (BTreeMap::new(), BTreeMap::new());
    for server in kits.iter().flat_map(Kitbag::status) {
        let key = (label(&server.name), server.status.state.as_str());
        *states.entry(key).or_insert(0_u32) += 1;
        let most: &mut u32 = restarts.entry(label(&server.name)).or_default();
        *most = (*most).max(server.status.restarts);
    }
    let what = "The state of each server, and for how many users it is so.";
    let _ = writeln!(page, "# HELP kitbag_server_state {what}\n# TYPE kitbag_server_state gauge");
    for ((server, state), users) in states {
        let _ = writeln!(page, "kitbag_server_state{{server=\"{server}\",state=\"{state}\"}} {users}");
    }
    let name = "kitbag_server_restarts_total";
    let _ = writeln!(page, "\n# HELP {name} How often a server was started again.\n# TYPE {name} counter");
    for (server, count) in restarts {
        let _ = writeln!(page, "{name}{{server=\"{server}\"}} {count}");
    }
}

/// A text as it stands between quotes.
fn label(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}
