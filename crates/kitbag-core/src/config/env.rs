//! Servers and switches that come from environment variables, as values: `MCP_URL`, `MCP_HUB_URL`,
//! `AGENT_ENABLE_MCP`, and the text of a `.env` file.

use std::path::Path;
use std::sync::Arc;

use super::dialect::ALL;
use super::interpolate::template;
use crate::fault::{Fault, FaultKind, SourceLocation};
use crate::model::{Auth, Endpoint, Origin, ServerSpec, ServerTarget, Template, Transport};
use crate::names::ServerName;

/// The name of the server that `MCP_URL` gives.
pub const URL_SERVER: &str = "mcp_server";
/// The name of the server that `MCP_HUB_URL` gives.
pub const HUB_SERVER: &str = "mcp_hub";

/// The one server a variable gives, if it gives one. The address is not looked at: a bad one shows when
/// connecting, and then costs nothing else. `token` and `headers` are `MCP_TOKEN` and `MCP_HEADERS`.
pub fn server(
    variable: &str,
    url: &str,
    token: Option<&str>,
    headers: Option<&str>,
) -> (Option<ServerSpec>, Vec<Fault>) {
    let name = if variable == "MCP_HUB_URL" { HUB_SERVER } else { URL_SERVER };
    let (url, Ok(name)) = (url.trim(), ServerName::parse(name)) else { return (None, Vec::new()) };
    if url.is_empty() {
        return (None, Vec::new());
    }
    let place = SourceLocation::file(Path::new(&format!("${variable}")));
    let (headers, faults) = parse_headers(headers.unwrap_or_default());
    let token = token.map(str::trim).filter(|token| !token.is_empty());
    let endpoint = Endpoint {
        transport: Transport::Auto,
        url: Template::literal(url),
        headers,
        auth: token.map_or(Auth::None, |token| Auth::Bearer(Template::literal(token))),
    };
    let origin = Origin { dialect: "env", place };
    let spec = ServerSpec { origin, ..ServerSpec::new(name, ServerTarget::Remote(endpoint)) };
    (Some(spec), faults)
}

/// `Name: value`, one a line.
fn parse_headers(text: &str) -> (Vec<(String, Template)>, Vec<Fault>) {
    let mut headers = Vec::new();
    let mut faults = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.trim().to_owned(), template(value.trim(), &ALL[0]))),
            None => {
                let fault = Fault::warning(FaultKind::Syntax, "a header without a colon is left out");
                faults.push(
                    fault
                        .hint("write `Name: value`, one a line")
                        .at(SourceLocation::file(Path::new("$MCP_HEADERS"))),
                );
            }
        }
    }
    (headers, faults)
}

/// Whether MCP is switched on: unset counts as on, anything but true, 1, yes, on counts as off.
pub fn is_switched_on(agent_enable_mcp: Option<&str>) -> bool {
    agent_enable_mcp
        .is_none_or(|value| matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on"))
}

/// The variables of a `.env` file: `NAME=value`, `export NAME=value`, quotes, `#` comments; nothing is
/// expanded. Lines that are none of these are faults and cost nothing else.
pub fn dot_env(file: &Arc<Path>, text: &str) -> (Vec<(String, String)>, Vec<Fault>) {
    let mut values = Vec::new();
    let mut faults = Vec::new();
    for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let name = line.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        match name.filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace)) {
            Some((name, value)) => values.push((name.to_owned(), unquote(value))),
            None => {
                let place = SourceLocation { file: file.clone(), line: index as u32 + 1, column: 1 };
                faults.push(Fault::warning(FaultKind::Syntax, "not a NAME=value line; left out").at(place));
            }
        }
    }
    (values, faults)
}

fn unquote(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner.to_owned();
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end()).to_owned()
}
