//! Addresses: what in them is a secret, and what is not.

use super::{holds_secret, is_stand_in, masked, names_secret};

/// A URL without its password, without values of its query and fragment whose names say secret, and without secrets in
/// its path.
pub fn url(text: &str) -> String {
    let (base, fragment) =
        text.split_once('#').map_or((text, None), |(base, fragment)| (base, Some(fragment)));
    let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
    let mut shown = match path.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", redact_path(rest)),
        None => redact_path(path),
    };
    if let Some(query) = query {
        let pairs: Vec<String> = query.split('&').map(redact_pair).collect();
        shown.push('?');
        shown.push_str(&pairs.join("&"));
    }
    // A place in a page says nothing; some programs put tokens there, by name.
    if let Some(fragment) = fragment {
        let pairs: Vec<String> = fragment.split('&').map(redact_pair).collect();
        shown.push('#');
        shown.push_str(&pairs.join("&"));
    }
    shown
}

fn redact_path(rest: &str) -> String {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", masked(user)),
        // Only a port may follow here; anything else is a password whose `@` got lost.
        None => match host.split_once(':') {
            Some((name, port)) if !host.starts_with('[') && !port.chars().all(is_port) => {
                format!("{name}:{}", masked(port))
            }
            _ => host.to_owned(),
        },
    };
    let part = |part: &str| if holds_secret(part) { masked(part) } else { part.to_owned() };
    let parts: Vec<String> = path.split('/').map(part).collect();
    host + &parts.join("/")
}

fn is_port(c: char) -> bool {
    c.is_ascii_digit() || is_stand_in(c)
}

fn redact_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if names_secret(name) || name == "code" || holds_secret(value) => {
            format!("{name}={}", masked(value))
        }
        None if holds_secret(pair) => masked(pair),
        _ => pair.to_owned(),
    }
}
