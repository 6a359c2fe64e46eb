//! For clients of an API that is no MCP server: the same connector, and streams of events taken apart in the same way.
//! Which addresses may be dialled is for servers that somebody else wrote down; whoever names an API means it.

use std::time::{Duration, SystemTime};

use kitbag_core::Limits;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::super::reason::{Reason, ReasonClass};
use super::address::{Address, Route, connector};
use super::events::Events;
use super::headers::retry_after;
use super::reason::Trouble;
use crate::Env;

/// The address of an API, and the connector for it: certificates and proxies as the environment says.
#[derive(Clone, Debug)]
pub struct ApiHost {
    address: Address,
    client: reqwest::Client,
}

impl ApiHost {
    /// Reads the address; nothing is connected.
    pub fn new(url: &str, env: &Env, limits: &Limits) -> Result<Self, Reason> {
        let address = Address::parse(url)?;
        let client = connector(&address, limits, |_| Ok(()), &Route::of(env))?;
        Ok(Self { address, client })
    }

    /// A request to a path below the address; a query of the address stays.
    pub fn post(&self, path: &str) -> reqwest::RequestBuilder {
        let mut url = self.address.url.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let full = format!("{}/{}", url.path().trim_end_matches('/'), path.trim_start_matches('/'));
        url.set_path(&full);
        if let Some(query) = query {
            let given = url.query().map(|given| format!("{given}&")).unwrap_or_default();
            url.set_query(Some(&format!("{given}{query}")));
        }
        self.client.post(url)
    }

    /// The address without secrets.
    pub fn shown(&self) -> &str {
        &self.address.shown
    }

    /// Why a request got no answer, or not all of one.
    pub fn reason(&self, error: &reqwest::Error) -> Reason {
        match Trouble::of(error, &self.address.shown) {
            Trouble::Unreachable(reason) | Trouble::Broken(reason) | Trouble::SessionGone { reason, .. } => {
                *reason
            }
            Trouble::Said(_) => Reason::new(ReasonClass::Closed, "broke off"),
        }
    }
}

/// How long a host asks to be left alone: seconds, or a moment.
pub fn retry_time(headers: &HeaderMap) -> Option<Duration> {
    retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?, SystemTime::now())
}

/// Takes a stream of events apart as its bytes come in.
#[derive(Debug)]
pub struct ApiEvents(Events);

impl ApiEvents {
    /// At most this many bytes an event.
    pub fn new(limit: usize) -> Self {
        Self(Events::new(limit))
    }

    /// Takes bytes from the front until an event is whole, and gives its data; none when more bytes are needed. An event
    /// longer than the limit is an error: what was read of it.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, usize> {
        self.0.take(bytes).map(|event| event.map(|event| event.data)).map_err(|long| long.0)
    }
}
