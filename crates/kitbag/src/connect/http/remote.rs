//! One server's address with what every request to it needs, and the rules that hold for every answer.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use kitbag_core::{Limits, Secret};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use reqwest::{Method, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::peer::{RequestError, remote};
use super::super::reason::{Reason, ReasonClass};
use super::address::{Address, Route, check_literal, connector, usual};
use super::headers::{configured, retry_after};
use super::reason::{Trouble, words};
use super::said;
use kitbag_core::text::Redactor;

/// A server's address, ready to be spoken to.
pub(crate) struct Remote {
    pub(crate) address: Address,
    client: reqwest::Client,
    headers: HeaderMap,
    pub(crate) limits: Limits,
    redactor: Redactor,
}

/// What an answer carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Events,
    Other,
}

/// An answer that is a refusal.
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    challenge: Option<String>,
    /// How long the server asks to be left alone.
    wait: Option<Duration>,
}

impl Remote {
    /// Reads address and headers; why they cannot be used otherwise.
    pub(crate) fn new(
        url: &Secret,
        headers: &[(String, Secret)],
        limits: &Limits,
        redactor: Redactor,
        route: &Route,
    ) -> Result<Self, Reason> {
        let mut address = Address::parse(url.expose())?;
        address.shown = redactor.line(address.shown.as_bytes());
        let headers = configured(headers)?;
        let client = connector(&address, limits, usual, route)?;
        Ok(Self { address, client, headers, limits: limits.clone(), redactor })
    }

    /// Posts a line.
    pub(crate) async fn post(
        &self,
        url: &Url,
        mut headers: HeaderMap,
        line: Vec<u8>,
    ) -> Result<Response, Trouble> {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.send(Method::POST, url, headers, Some(line)).await
    }

    /// Asks for a stream of events.
    pub(crate) async fn listen(&self, mut headers: HeaderMap) -> Result<Response, Trouble> {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.send(Method::GET, &self.address.url, headers, None).await
    }

    /// Says that a session is over.
    pub(crate) async fn leave(&self, headers: HeaderMap) -> Result<Response, Trouble> {
        self.send(Method::DELETE, &self.address.url, headers, None).await
    }

    /// Sends a request, as often as the server sends it on within its own origin.
    async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Response, Trouble> {
        let shown = &self.address.shown;
        let mut url = url.clone();
        let mut all = self.headers.clone();
        all.extend(headers);
        let body = body.map(Bytes::from);
        for _ in 0..=self.limits.redirects {
            check_literal(&url, usual).map_err(|forbidden| {
                let reason = Reason::new(ReasonClass::Unreachable, forbidden.to_string()).at(shown);
                Trouble::Unreachable(Box::new(reason))
            })?;
            // A connection that was closed while nobody looked is noticed now, not by losing a request on it.
            tokio::task::yield_now().await;
            let failed = |error| Trouble::of(&error, shown);
            let mut request = self.client.request(method.clone(), url.clone()).build().map_err(failed)?;
            request.headers_mut().extend(all.clone());
            *request.body_mut() = body.clone().map(Into::into);
            let answer = self.client.execute(request).await.map_err(failed)?;
            self.check(&answer)?;
            if !answer.status().is_redirection() {
                return Ok(answer);
            }
            url = self.follow(&answer)?;
        }
        Err(self.say(StatusCode::LOOP_DETECTED, "sends on without an end"))
    }

    /// Where a redirect leads, if it may be followed: within the origin, as the same request.
    fn follow(&self, answer: &Response) -> Result<Url, Trouble> {
        let status = answer.status();
        let to = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        let to = self.address.join(to).map_err(|why| self.say(status, &why))?;
        if matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
            return Ok(to);
        }
        Err(self.say(status, &format!("sends on to {}", kitbag_core::text::redact_url(to.as_str()))))
    }

    /// What no answer may be.
    fn check(&self, answer: &Response) -> Result<(), Trouble> {
        let size: usize =
            answer.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        let bad = |why: String| Err(Trouble::Said(RequestError::BadAnswer(why)));
        if self.limits.http_headers < size {
            return bad(format!("headers of {size} bytes, more than {}", self.limits.http_headers));
        }
        match answer.headers().get(CONTENT_ENCODING) {
            Some(encoding) if encoding.as_bytes() != b"identity" => bad(format!(
                "an encoding that was not asked for: {}",
                words(encoding.as_bytes(), &self.redactor)
            )),
            _ => Ok(()),
        }
    }

    fn say(&self, status: StatusCode, why: &str) -> Trouble {
        let reason = self.because(ReasonClass::Refused, format!("answered {status} and {why}"));
        Trouble::Said(RequestError::Http { status: status.as_u16(), reason, wait: None })
    }

    /// A reason that is about this address.
    pub(crate) fn because(&self, class: ReasonClass, root: String) -> Box<Reason> {
        Box::new(Reason::new(class, root).at(&self.address.shown))
    }

    /// A whole body of bounded size.
    pub(crate) async fn body(&self, mut answer: Response, limit: usize) -> Result<Vec<u8>, Trouble> {
        let too_large = |_| Trouble::Said(RequestError::TooLarge { limit });
        let told = answer.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        if limit < told {
            return Err(too_large(told));
        }
        let mut body = Vec::with_capacity(told);
        while let Some(chunk) = self.chunk(&mut answer).await? {
            if limit < body.len() + chunk.len() {
                return Err(too_large(body.len() + chunk.len()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The next piece of a body.
    pub(crate) async fn chunk(
        &self,
        answer: &mut Response,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + use<>>, Trouble> {
        answer.chunk().await.map_err(|error| Trouble::broke_off(&error, &self.address.shown))
    }

    /// What a server says when it refuses, as much as is of interest.
    pub(crate) async fn refusal(&self, mut answer: Response) -> Refusal {
        let status = answer.status();
        let challenge = answer.headers().get(WWW_AUTHENTICATE);
        let challenge = challenge.and_then(|challenge| challenge.to_str().ok()).map(str::to_owned);
        let wait = answer.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
        let wait = wait.and_then(|wait| retry_after(wait, SystemTime::now()));
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.chunk(&mut answer).await {
            let room = self.limits.http_page.saturating_sub(body.len());
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if room <= chunk.len() {
                break;
            }
        }
        Refusal { status, body, challenge, wait }
    }

    /// A refusal as the outcome of a request. One for being busy is that, whatever error is in it.
    pub(crate) fn refused(&self, refusal: &Refusal) -> Trouble {
        let error = refusal.error().filter(|_| !refusal.is_busy());
        error.map_or_else(|| self.said(refusal), Trouble::Said)
    }

    /// The same by its status alone, whatever error of the protocol is in it.
    pub(crate) fn said(&self, refusal: &Refusal) -> Trouble {
        let mut text = format!("answered {}", refusal.status);
        let said = refusal.explanation(&self.redactor);
        if !said.is_empty() {
            text.push_str(&format!(": {said}"));
        }
        let mut reason = self.because(refusal.class(), text);
        reason.hint = self.hint(reason.class, refusal.status);
        Trouble::Said(RequestError::Http { status: refusal.status.as_u16(), reason, wait: refusal.wait })
    }

    /// What to do about a refusal.
    fn hint(&self, class: ReasonClass, status: StatusCode) -> Option<String> {
        let hint = match class {
            ReasonClass::AuthRequired if self.headers.contains_key(AUTHORIZATION) => {
                "its \"Authorization\" was not accepted: check that the token is right and has not expired"
            }
            ReasonClass::AuthRequired => {
                "add a token to its entry: \"headers\": {\"Authorization\": \"Bearer ${MY_TOKEN}\"}"
            }
            ReasonClass::Forbidden => "use credentials that are allowed to do this",
            _ if status == StatusCode::NOT_FOUND && self.address.url.path() == "/" => {
                let shown = self.address.shown.trim_end_matches('/');
                return Some(format!("most servers answer at /mcp; try \"url\": \"{shown}/mcp\""));
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// An answer that is of no use.
    pub(crate) fn not_mcp(&self, answer: &Response) -> Trouble {
        let kind = answer.headers().get(CONTENT_TYPE).map(|kind| words(kind.as_bytes(), &self.redactor));
        let kind = kind.unwrap_or_else(|| "nothing".to_owned());
        let said = format!("answered {} with {kind}", answer.status());
        Trouble::Said(RequestError::NotMcp(self.because(ReasonClass::NotMcp, said)))
    }
}

impl Refusal {
    /// What it is about. A 403 that says how to authenticate wants other credentials; a bare one is a no.
    fn class(&self) -> ReasonClass {
        match self.status {
            StatusCode::UNAUTHORIZED => ReasonClass::AuthRequired,
            StatusCode::FORBIDDEN if self.challenge.is_some() => ReasonClass::AuthRequired,
            StatusCode::FORBIDDEN => ReasonClass::Forbidden,
            StatusCode::TOO_MANY_REQUESTS => ReasonClass::RateLimited,
            _ => ReasonClass::Refused,
        }
    }

    /// Why, as the server says it.
    fn explanation(&self, redactor: &Redactor) -> String {
        said::explanation(self.challenge.as_deref().unwrap_or_default(), &self.body, redactor)
    }

    /// The error of the protocol in it, if there is one, whoever it says it is for.
    pub(crate) fn error(&self) -> Option<RequestError> {
        error_in(&self.body)
    }

    /// Whether the server has no time: it says so, or when it will have.
    pub(crate) fn is_busy(&self) -> bool {
        let is_away = self.status == StatusCode::SERVICE_UNAVAILABLE;
        self.status == StatusCode::TOO_MANY_REQUESTS || is_away && self.wait.is_some()
    }

    /// Whether the error in it names this request.
    pub(crate) fn names(&self, id: Option<u64>) -> bool {
        #[derive(Deserialize)]
        struct Named {
            id: Option<u64>,
        }
        id.is_some() && serde_json::from_slice::<Named>(&self.body).is_ok_and(|named| named.id == id)
    }

    /// Whether it may mean that a session is gone, in one of the ways servers say so.
    pub(crate) fn doubts_the_session(&self) -> bool {
        match self.status {
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::SERVICE_UNAVAILABLE => true,
            StatusCode::INTERNAL_SERVER_ERROR | StatusCode::FORBIDDEN => {
                self.body.to_ascii_lowercase().windows(7).any(|word| word == b"session")
            }
            _ => false,
        }
    }
}

/// The protocol's error in a body.
pub(crate) fn error_in(body: &[u8]) -> Option<RequestError> {
    #[derive(Deserialize)]
    struct Failed<'a> {
        #[serde(borrow)]
        error: &'a RawValue,
    }
    let failed = serde_json::from_slice::<Failed<'_>>(body).ok()?;
    match remote(failed.error) {
        error @ RequestError::Remote { .. } if failed.error.get().starts_with('{') => Some(error),
        _ => None,
    }
}

/// What an answer carries, by what it says of itself.
pub(crate) fn kind_of(answer: &Response) -> Kind {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("text/event-stream") {
        Kind::Events
    } else if kind.eq_ignore_ascii_case("application/json") || kind.ends_with("+json") {
        Kind::Json
    } else {
        Kind::Other
    }
}
