//! An address: how it may be shown, what is of the same origin, and the one connector that every request goes
//! through.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use kitbag_core::Limits;
use kitbag_core::text::redact_url;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::super::reason::{Reason, ReasonClass};
use super::proxy::Proxies;
use super::reason::root;
use super::trust::{Trust, trusting_nobody};
use crate::Env;

#[cfg(test)]
mod tests;

/// Where a server is.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) url: Url,
    /// The same without secrets.
    pub(crate) shown: String,
}

impl Address {
    /// Reads an address; why it is none, without showing more of it than may be shown.
    pub(crate) fn parse(text: &str) -> Result<Self, Reason> {
        let shown = redact_url(text.trim());
        let invalid = |why: &str| Err(Reason::new(ReasonClass::InvalidUrl, why).at(&shown));
        match Url::parse(text.trim()) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                invalid("only http and https can be connected to")
            }
            Ok(url) if url.host_str().is_none_or(str::is_empty) => invalid("it names no host"),
            Ok(mut url) => {
                url.set_fragment(None);
                Ok(Self { url, shown })
            }
            Err(error) => invalid(&error.to_string()),
        }
    }

    /// What a server means by an address of its own, if that is of the same origin: credentials go nowhere else.
    pub(crate) fn join(&self, text: &str) -> Result<Url, String> {
        let elsewhere = |shown: &str| format!("leads away from its origin, to {}", redact_url(shown));
        let mut joined = self.url.join(text.trim()).map_err(|_| elsewhere(text))?;
        joined.set_fragment(None);
        // A name before the host would be sent as a credential that is not ours.
        let bare = joined.username().is_empty() && joined.password().is_none();
        let own = (joined.username(), joined.password()) == (self.url.username(), self.url.password());
        if joined.origin() == self.url.origin() && joined.origin().is_tuple() && (bare || own) {
            let _ = joined.set_username(self.url.username());
            let _ = joined.set_password(self.url.password());
            return Ok(joined);
        }
        Err(elsewhere(joined.as_str()))
    }

    /// Whether its path says that it speaks the older of the two transports.
    pub(crate) fn ends_in_sse(&self) -> bool {
        self.url.path().trim_end_matches('/').ends_with("/sse")
    }
}

/// What of an environment decides how an address is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    trust: Trust,
    proxies: Proxies,
}

impl Route {
    pub(crate) fn of(env: &Env) -> Self {
        Self { trust: Trust::of(env), proxies: Proxies::of(env) }
    }
}

/// Says of an address that is about to be dialled why it must not be.
pub(crate) type DialCheck = fn(IpAddr) -> Result<(), &'static str>;

/// What nobody's server is at: many hosts at once, and the addresses without a router (link-local), among them the
/// place where clouds hand out credentials.
pub(crate) fn usual(ip: IpAddr) -> Result<(), &'static str> {
    /// Where clouds hand out credentials beyond the link-local range.
    const METADATA: [Ipv6Addr; 2] = [
        Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
        Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    ];
    let ip = ip.to_canonical();
    if ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
        return Err("is an address of many hosts");
    }
    let (is_link_local, is_metadata) = match ip {
        IpAddr::V4(v4) => (v4.is_link_local(), false),
        IpAddr::V6(v6) => {
            let inside = inner_v4(v6).is_some_and(|v4| v4.is_link_local());
            (v6.is_unicast_link_local() || inside, METADATA.contains(&v6))
        }
    };
    if is_link_local {
        return Err("is a link-local address, where clouds hand out credentials");
    }
    if is_metadata {
        return Err("is where clouds hand out credentials");
    }
    Ok(())
}

/// The address of the older kind that a newer one leads to: compatible (`::a.b.c.d`), translated (`64:ff9b::a.b.c.d`,
/// `::ffff:0:a.b.c.d`) and tunnelled (`2002:abcd::`). Mapped ones are taken apart before.
fn inner_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0] | [0x64, 0xff9b, 0, 0, 0, 0] | [0, 0, 0, 0, 0xffff, 0] => Some(v4(g, h)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// An address that must not be dialled.
#[derive(Debug, thiserror::Error)]
#[error("{ip} {why}")]
pub(crate) struct Forbidden {
    ip: IpAddr,
    why: &'static str,
}

/// An address written as a number never passes the resolver; it is looked at here.
pub(crate) fn check_literal(url: &Url, check: DialCheck) -> Result<(), Forbidden> {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    literal.map_or(Ok(()), |ip| check(ip).map_err(|why| Forbidden { ip, why }))
}

/// The name of a host that could not be looked up.
#[derive(Debug, thiserror::Error)]
#[error("the name of the host cannot be looked up")]
pub(crate) struct LookupError(#[source] std::io::Error);

/// Looks names up, and gives only what may be dialled: the addresses looked at are the ones that are used.
struct Resolver(DialCheck);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let check = self.0;
        Box::pin(async move {
            let mut found = Vec::new();
            let mut forbidden = None;
            for address in tokio::net::lookup_host((name.as_str(), 0)).await.map_err(LookupError)? {
                match check(address.ip()) {
                    Ok(()) => found.push(address),
                    Err(why) => forbidden = Some(Forbidden { ip: address.ip(), why }),
                }
            }
            match forbidden {
                Some(forbidden) if found.is_empty() => Err(forbidden.into()),
                _ => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// The connector. It asks for no encoding, follows nothing, keeps no cookies, and uses the
/// proxy that the route names, none of the process.
pub(crate) fn connector(
    address: &Address,
    limits: &Limits,
    check: DialCheck,
    route: &Route,
) -> Result<reqwest::Client, Reason> {
    // Where nothing is encrypted, no certificate needs to be read.
    let tls = if address.url.scheme() == "https" { route.trust.verifying() } else { trusting_nobody() };
    let unusable = |why| Reason::new(ReasonClass::Config, why);
    let proxy = route.proxies.for_address(&address.url).map_err(unusable)?;
    let builder = reqwest::Client::builder().no_proxy();
    let builder = proxy.into_iter().fold(builder, reqwest::ClientBuilder::proxy);
    builder
        .tls_backend_preconfigured(
            tls.map_err(|why| Reason::new(ReasonClass::Certificate, why).at(&address.shown))?,
        )
        .dns_resolver(Arc::new(Resolver(check)))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        // Sooner than the whole may take, so that a place that swallows everything is known for what it is.
        .connect_timeout(limits.wait_http * 2 / 5)
        // A request written while its server closes the connection is lost, and nobody knows whether it was read.
        .pool_idle_timeout(limits.http_idle)
        .tcp_nodelay(true)
        .user_agent(concat!("kitbag/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| Reason::new(ReasonClass::Unreachable, root(&error)).at(&address.shown))
}
