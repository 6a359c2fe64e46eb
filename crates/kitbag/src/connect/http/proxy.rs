//! Which proxy a request goes through, by the variables that every program reads for it. They are those of the given
//! environment, never those of the process.

use std::net::IpAddr;

use kitbag_core::text::redact_url;
use reqwest::{NoProxy, Proxy, Url};

use crate::Env;

#[cfg(test)]
mod tests;

/// The proxies that an environment names; none, as a rule.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Proxies {
    http: Option<String>,
    https: Option<String>,
    except: String,
}

/// Proxies may have passwords in them.
impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |url: &Option<String>| url.as_deref().map(redact_url);
        f.debug_struct("Proxies")
            .field("http", &shown(&self.http))
            .field("https", &shown(&self.https))
            .field("except", &self.except)
            .finish()
    }
}

impl Proxies {
    /// Lower case comes first, as everywhere; `ALL_PROXY` is for what has none of its own.
    pub(crate) fn of(env: &Env) -> Self {
        let named = |lower: &str, upper: &str| env.filled(lower).or_else(|| env.filled(upper));
        let all = named("all_proxy", "ALL_PROXY");
        let of = |lower: &str, upper: &str| named(lower, upper).or(all).map(|url| url.trim().to_owned());
        Self {
            http: of("http_proxy", "HTTP_PROXY"),
            https: of("https_proxy", "HTTPS_PROXY"),
            except: named("no_proxy", "NO_PROXY").unwrap_or_default().to_owned(),
        }
    }

    /// The proxy for an address, if it has one; why it cannot be used otherwise. What is on this machine is reached
    /// without one: a proxy elsewhere could not.
    pub(crate) fn for_address(&self, url: &Url) -> Result<Option<Proxy>, String> {
        let (proxy, variable) = match url.scheme() {
            "https" => (&self.https, "HTTPS_PROXY"),
            _ => (&self.http, "HTTP_PROXY"),
        };
        let Some(proxy) = proxy.as_deref().filter(|_| !is_loopback(url)) else { return Ok(None) };
        let unusable =
            |_| format!("the proxy of {variable} or ALL_PROXY cannot be used: {}", redact_url(proxy));
        let made = Proxy::all(proxy).map_err(unusable)?;
        Ok(Some(made.no_proxy(NoProxy::from_string(&self.except))))
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_name = host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost");
    is_name || literal.is_ok_and(|ip| ip.to_canonical().is_loopback())
}
