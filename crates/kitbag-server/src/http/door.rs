//! The way in: every request passes here, and everything it begins lasts no longer than the right by which it came.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::StreamExt as _;
use kitbag::{CancellationToken, Limits};

use super::refusals::json;
use crate::access::{Access, Caller, Refused, TokenRule};
use crate::endpoint::Endpoint;
use crate::load::{Rates, TooMuch};
use crate::metrics::Metrics;
use crate::passes::{Pass, Passes};
use crate::rpc::{self, RpcError, code};

/// Between two lines of the log about the same reason.
const TOLD: Duration = Duration::from_secs(60);

/// From where a request comes; set for each connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) SocketAddr);

/// Who comes in, how often, and for how long.
pub(super) struct Door {
    access: Access,
    endpoint: Endpoint,
    passes: Arc<Passes>,
    rates: Rates,
    metrics: Arc<Metrics>,
    told: Told,
}

impl Door {
    pub(super) fn new(access: Access, endpoint: Endpoint, metrics: Arc<Metrics>, limits: &Limits) -> Self {
        let (passes, rates) = (Passes::new(access.store.clone()), Rates::new(limits));
        Self { access, endpoint, passes, rates, metrics, told: Told::default() }
    }

    /// Lets a request in, or answers it.
    pub(super) async fn let_in(&self, parts: &Parts) -> Result<Pass, Box<Response>> {
        let caller = match self.caller(&parts.headers).await {
            Ok(caller) => caller,
            Err(refused) => {
                self.metrics.refused(refused);
                self.told.tell(refused, parts.extensions.get::<Peer>().map(|peer| peer.0.ip()));
                return Err(Box::new(answer(refused)));
            }
        };
        if let Err(refused) = self.rates.request(&caller.user) {
            self.metrics.limited(refused.what);
            return Err(Box::new(too_much(&refused)));
        }
        Ok(self.passes.pass(caller))
    }

    /// Whether a request shows nothing where something is asked for.
    pub(super) fn is_strangers(&self, headers: &HeaderMap) -> bool {
        self.access.token == TokenRule::Required && !headers.contains_key(AUTHORIZATION)
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refused> {
        self.access.check_addresses(headers)?;
        let caller = self.access.caller(headers).await?;
        // Who needs no token is whoever sits at this machine.
        let is_known = caller.token.is_none() || self.endpoint.knows(&caller.user);
        is_known.then_some(caller).ok_or(Refused::UnknownUser)
    }

    /// What is answered by this right; the end of the right is the end of the work, and of the stream it answers with.
    pub(super) async fn within(&self, pass: Pass, work: impl Future<Output = Response>) -> Response {
        let response = tokio::select! {
            biased;
            () = pass.over() => return answer(Refused::WrongToken),
            response = work => response,
        };
        let is_stream = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/event-stream");
        if !response.headers().get(CONTENT_TYPE).is_some_and(is_stream) {
            return response;
        }
        let open = (self.metrics.stream(), pass.over());
        response.map(|body| {
            let (stream, over) = open;
            let held = (stream, pass);
            let events = body.into_data_stream().take_until(Box::pin(over));
            Body::from_stream(events.map(move |event| {
                let _ = &held;
                event
            }))
        })
    }

    /// Looks after what is in use, from time to time, until told to stop.
    pub(super) async fn keep(&self, every: Duration, stop: CancellationToken) {
        let look = || self.passes.look(|user| self.endpoint.knows(user));
        while stop.run_until_cancelled(tokio::time::sleep(every)).await.is_some() {
            look().await;
            self.rates.sweep();
            self.metrics.upkeep();
        }
        look().await;
    }
}

/// What was told lately: who tries tokens all day does not fill the log.
#[derive(Default)]
struct Told(Mutex<[Option<(Instant, u64)>; Refused::ALL.len()]>);

impl Told {
    fn tell(&self, refused: Refused, from: Option<IpAddr>) {
        let Some(untold) = self.due(refused, Instant::now()) else { return };
        let from = from.map(|from| from.to_string()).unwrap_or_default();
        let reason = refused.as_str();
        tracing::warn!(target: "kitbag::access", reason, address = %from, untold, "a request was not let in");
    }

    /// How many were not told since the last line about this reason, if there is to be one now.
    fn due(&self, refused: Refused, now: Instant) -> Option<u64> {
        let at = Refused::ALL.iter().position(|known| *known == refused)?;
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, untold)) = &mut told[at]
            && now.duration_since(*last) < TOLD
        {
            *untold += 1;
            return None;
        }
        Some(told[at].replace((now, 0)).map_or(0, |(_, untold)| untold))
    }
}

/// The answer to who is not let in.
pub(super) fn answer(refused: Refused) -> Response {
    let error = RpcError::new(code::INVALID_REQUEST, refused.to_string());
    let mut response = json(refused.status(), rpc::refusal(&error));
    if let Some(challenge) = refused.challenge() {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response
}

fn too_much(refused: &TooMuch) -> Response {
    let mut response = json(StatusCode::TOO_MANY_REQUESTS, rpc::refusal(&RpcError::from(*refused)));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(refused.seconds()));
    response
}

#[cfg(test)]
mod tests;
