//! Who comes in: the addresses a browser may name, and whose token a request brings.

use std::sync::Arc;
use std::time::SystemTime;

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use kitbag::UserId;
use kitbag::store::{Hash256, Store};

use crate::token;

/// Whether a token must be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TokenRule {
    /// Whoever shows none is the user `local`.
    #[default]
    Optional,
    /// Nobody comes in without.
    Required,
}

/// Why a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub(crate) enum Refused {
    #[error(
        "Host names another machine: connect to the address that `kitbag serve` printed, or name this host in \
         allowed_hosts of [serve]"
    )]
    Host,
    #[error("requests of web pages are not accepted from this origin; allowed_origins of [serve] names more")]
    Origin,
    #[error("a token is needed: Authorization: Bearer kb_…; `kitbag tokens add` makes one")]
    NoToken,
    #[error("this token is not known; `kitbag tokens list` shows the names of those that are")]
    WrongToken,
    #[error("this token has expired; `kitbag tokens add` makes another")]
    ExpiredToken,
    #[error("the user of this token is not known any more; `kitbag users` shows who is")]
    UnknownUser,
    #[error("tokens cannot be looked up now")]
    NoStore,
}

impl Refused {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Host,
        Self::Origin,
        Self::NoToken,
        Self::WrongToken,
        Self::ExpiredToken,
        Self::UnknownUser,
        Self::NoStore,
    ];

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::NoToken | Self::WrongToken | Self::ExpiredToken | Self::UnknownUser => {
                StatusCode::UNAUTHORIZED
            }
            Self::NoStore => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The word used in logs and metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Origin => "origin",
            Self::NoToken => "no_token",
            Self::WrongToken => "wrong_token",
            Self::ExpiredToken => "expired_token",
            Self::UnknownUser => "unknown_user",
            Self::NoStore => "no_store",
        }
    }

    /// What `WWW-Authenticate` says, where credentials are what is missing.
    pub(crate) fn challenge(self) -> Option<&'static str> {
        match self {
            Self::NoToken => Some(r#"Bearer realm="kitbag""#),
            _ if self.status() == StatusCode::UNAUTHORIZED => {
                Some(r#"Bearer realm="kitbag", error="invalid_token""#)
            }
            _ => None,
        }
    }
}

/// Who makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) user: UserId,
    /// By which token, where one was shown.
    pub(crate) token: Option<Hash256>,
}

/// The rules of one listener.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) is_loopback: bool,
    pub(crate) token: TokenRule,
    pub(crate) store: Option<Arc<dyn Store>>,
    /// Names by which this machine is known beside its own, those of a proxy before it; any, off this machine, where none
    /// are given.
    pub(crate) hosts: Option<Vec<String>>,
    /// Origins whose pages may make requests, as a browser writes them.
    pub(crate) origins: Vec<String>,
}

impl Access {
    /// A page in a browser can reach a local address, and a name that points to it (DNS rebinding): both say so.
    pub(crate) fn check_addresses(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let host = headers.get(HOST).and_then(|host| host_of(host.to_str().ok()?));
        let mut names = self.hosts.iter().flatten();
        let is_named = host.is_some_and(|host| names.any(|name| name.eq_ignore_ascii_case(host)));
        let is_closed = self.is_loopback || self.hosts.is_some();
        if is_closed && !is_named && !host.is_some_and(is_local) {
            return Err(Refused::Host);
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let said = origin.split_once("://").and_then(|(_, host)| host_of(host));
            let is_same = |origin: &str| host.is_some_and(|host| host.eq_ignore_ascii_case(origin));
            let is_own = |origin: &str| is_local(origin) || (is_named || !is_closed) && is_same(origin);
            let is_allowed = self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
            if !is_allowed && !said.is_some_and(is_own) {
                return Err(Refused::Origin);
            }
        }
        Ok(())
    }

    /// As whom a request is made.
    pub(crate) async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refused> {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let said = match (all.next(), all.next(), self.token) {
            (Some(said), None, _) => said,
            // Whoever stands before us may have looked at the other one.
            (Some(_), Some(_), _) => return Err(Refused::WrongToken),
            (None, _, TokenRule::Optional) => return Ok(Caller { user: UserId::local(), token: None }),
            (None, _, TokenRule::Required) => return Err(Refused::NoToken),
        };
        let bearer = |text: &str| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token::hash(token.trim()))
        };
        // Looked up by its hash: how long that takes says nothing about the token.
        let hash = said.to_str().ok().and_then(bearer).ok_or(Refused::WrongToken)?;
        let store = self.store.as_ref().ok_or(Refused::WrongToken)?;
        match store.find_token(&hash).await {
            Ok(Some(entry)) if entry.is_expired(SystemTime::now()) => Err(Refused::ExpiredToken),
            Ok(Some(entry)) => Ok(Caller { user: entry.user, token: Some(hash) }),
            Ok(None) => Err(Refused::WrongToken),
            Err(_) => Err(Refused::NoStore),
        }
    }
}

/// The host of `host:port`, `[::1]:port` or `host`; none where it is written otherwise.
fn host_of(text: &str) -> Option<&str> {
    let (host, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some(parts) => parts,
        None => text.find(':').map_or((text, ""), |colon| text.split_at(colon)),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

fn is_local(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
