//! A server that nobody configured: a command or a URL on the command line, used once. The person who typed it chose
//! it, so nothing has to be trusted; no file is written. Settings (limits, agents, groups) hold for it as for others.

use std::sync::Arc;

use kitbag::{Env, ServerName, ServerSpec, Setup};
use kitbag_core::config::layers::{EntryState, Layer, Merged, MergedServer};
use kitbag_core::model::package_name;

use crate::exit::{Exit, Failure};

/// Whether a text is an address and not a command.
pub(super) fn is_url(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

/// The server that a text describes. None for a single word that is no program: it was meant as a name.
pub(super) fn spec(text: &str, env: &Env, taken: &[ServerName]) -> Result<Option<ServerSpec>, Failure> {
    if is_url(text) {
        return Ok(Some(ServerSpec::url(name(host(text), taken)?, text)));
    }
    let Some(words) = shlex::split(text) else {
        let failure = Failure::new(Exit::Usage, format!("--server {text:?} has a quote that is not closed"));
        return Err(failure.hint("--server 'npx -y @acme/mcp \"an argument with blanks\"'"));
    };
    let Some((program, args)) = words.split_first() else { return Ok(None) };
    // A word alone may be the name of a server with a slip in it, and that must not start something else.
    if args.is_empty() && !program.contains(['/', '\\']) && env.program(program, env.cwd()).is_none() {
        return Ok(None);
    }
    let args = args.iter().map(String::as_str);
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let short = package_name(program, args.clone()).unwrap_or(stem);
    Ok(Some(ServerSpec::program(name(short, taken)?, program, args)))
}

/// These servers and no others; of those that are configured, the ones that were chosen.
pub(super) fn replace(setup: &mut Setup, chosen: &[ServerName], specs: Vec<ServerSpec>) {
    let mut rows = std::mem::take(&mut setup.merged.servers);
    rows.retain(|row| chosen.iter().any(|name| name.as_str() == row.name));
    rows.extend(specs.into_iter().map(|spec| MergedServer {
        name: spec.name.to_string(),
        layer: Layer::Flags,
        user: None,
        state: EntryState::Used,
        origin: spec.origin.clone(),
        also: Vec::new(),
        spec: Some(Arc::new(spec)),
        faults: Vec::new(),
    }));
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    // What is wrong with servers that are not used here is no matter now.
    setup.merged = Merged { servers: rows, faults: Vec::new() };
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.split_once(':').map_or(host, |(host, _)| host)
}

/// A name that no other server of the command has.
fn name(text: &str, taken: &[ServerName]) -> Result<ServerName, Failure> {
    let text = if ServerName::parse(text).is_ok() && text != "local" { text } else { "server" };
    let numbered = (2..).map(|number| format!("{text}-{number}"));
    let free = std::iter::once(text.to_owned())
        .chain(numbered)
        .find(|name| taken.iter().all(|taken| taken.as_str() != name));
    crate::context::server_name(&free.unwrap_or_default())
}

#[cfg(test)]
mod tests;
