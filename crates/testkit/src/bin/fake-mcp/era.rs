//! The two eras of the protocol: who may speak how, and the two ways to open a conversation.

use crate::options::{Era, LegacyProbe};
use crate::server::Server;
use crate::wire::{self, Params, Request, Speech, code};

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const NEWEST_LEGACY: &str = "2025-11-25";

/// Whether a request is served.
pub(crate) enum Verdict {
    Served,
    Refused(Vec<u8>),
    Silence,
    Exit,
}

/// The era a request belongs to: by what the server speaks, then by what the request carries, then by how
/// the conversation was opened.
pub(crate) fn speech(server: &Server, method: &str, params: &Params<'_>) -> Speech {
    match server.options.era {
        Era::Legacy => Speech::Legacy,
        Era::Modern => Speech::Modern,
        Era::Both if params.meta.version.is_some() || method == "server/discover" => Speech::Modern,
        Era::Both if method == "initialize" => Speech::Legacy,
        Era::Both => {
            let state = server.state();
            if state.discovered && !state.initialized { Speech::Modern } else { Speech::Legacy }
        }
    }
}

/// The HTTP status of an error: only the modern era gives it one.
pub(crate) fn status(speech: Speech, modern: u16) -> u16 {
    match speech {
        Speech::Legacy => 200,
        Speech::Modern => modern,
    }
}

pub(crate) fn verdict(server: &Server, request: &Request<'_>) -> Verdict {
    match (request.speech, request.method) {
        // As the Python SDK 2.3 does it: modern for good once it was discovered.
        (_, "initialize") if server.options.era == Era::Modern || server.state().discovered => {
            Verdict::Refused(wrong_version(request.id, request.params.protocol_version.map(|raw| raw.get())))
        }
        (Speech::Legacy, "server/discover") => probed(server, request),
        (Speech::Legacy, _) => Verdict::Served,
        (Speech::Modern, _) => modern(request),
    }
}

pub(crate) fn initialize(server: &Server, request: &Request<'_>) {
    let asked = request.params.protocol_version.map(wire::bare).unwrap_or_default();
    let known = LEGACY.iter().find(|version| **version == asked).copied().unwrap_or(NEWEST_LEGACY);
    let version = server.options.version.as_deref().unwrap_or(known);
    initialize_as(server, request, &wire::quoted(version));
}

/// `version` is JSON, whatever kind.
pub(crate) fn initialize_as(server: &Server, request: &Request<'_>, version: &str) {
    server.state().initialized = true;
    let (name, instructions) = (wire::quoted(&server.options.name), instructions(server));
    let tools = tools(server);
    let comma = if tools.is_empty() { "" } else { "," };
    let line = wire::result(request.id, Speech::Legacy, |line| {
        line.extend_from_slice(
            format!(
                "\"protocolVersion\":{version},\"capabilities\":{{{tools}{comma}\
                 \"logging\":{{}}}},\"serverInfo\":{{\"name\":{name},\"version\":\"1.0.0\"}}{instructions}"
            )
            .as_bytes(),
        );
    });
    server.answer(&line);
}

pub(crate) fn discover(server: &Server, request: &Request<'_>) {
    discover_as(server, request, &wire::quoted(MODERN));
}

/// `version` is JSON, whatever kind.
pub(crate) fn discover_as(server: &Server, request: &Request<'_>, version: &str) {
    server.state().discovered = true;
    let (id, name, instructions) = (request.id, wire::quoted(&server.options.name), instructions(server));
    let tools = tools(server);
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\"supportedVersions\":\
         [{version}],\"capabilities\":{{{tools}}},\"ttlMs\":60000,\"cacheScope\":\
         \"public\",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{{\"name\":{name},\
         \"version\":\"1.0.0\"}}}}{instructions}}}}}\n"
    );
    server.answer(line.as_bytes());
}

/// As a capability, if it has any.
fn tools(server: &Server) -> String {
    let tools = match (server.options.has_tools, server.options.tells_changes) {
        (false, _) => "",
        (true, false) => "\"tools\":{}",
        (true, true) => "\"tools\":{\"listChanged\":true}",
    };
    let all = format!("{tools}{}", crate::offered::capabilities(server));
    all.strip_prefix(',').map(str::to_owned).unwrap_or(all)
}

/// As a member of either answer, with the comma before it.
fn instructions(server: &Server) -> String {
    let text = server.fault.as_ref().and_then(|fault| fault.instructions());
    text.map_or_else(String::new, |text| format!(",\"instructions\":{text}"))
}

fn modern(request: &Request<'_>) -> Verdict {
    let meta = &request.params.meta;
    let (Some(version), Some(_)) = (meta.version, meta.capabilities) else {
        let missing = "_meta needs io.modelcontextprotocol/protocolVersion and /clientCapabilities";
        return Verdict::Refused(wire::error(request.id, code::BAD_PARAMS, missing, ""));
    };
    if wire::bare(version) == MODERN {
        return Verdict::Served;
    }
    Verdict::Refused(wrong_version(request.id, Some(version.get())))
}

pub(crate) fn wrong_version(id: &str, requested: Option<&str>) -> Vec<u8> {
    let requested = requested.unwrap_or("null");
    let data = format!("{{\"supported\":[\"{MODERN}\"],\"requested\":{requested}}}");
    wire::error(id, code::BAD_VERSION, "unsupported protocol version", &data)
}

/// What real servers of the older era do with a method they have never heard of.
fn probed(server: &Server, request: &Request<'_>) -> Verdict {
    match server.options.legacy_probe {
        LegacyProbe::Error => {
            Verdict::Refused(wire::error(request.id, code::NO_METHOD, "Method not found", ""))
        }
        LegacyProbe::Silent => Verdict::Silence,
        LegacyProbe::Exit => Verdict::Exit,
        LegacyProbe::Empty => Verdict::Refused(wire::result(request.id, Speech::Legacy, |_| {})),
        LegacyProbe::Invalid => {
            for line in 1..=90 {
                eprintln!("  validation error {line}: Input should be 'ping' [type=literal_error]");
            }
            Verdict::Refused(wire::error(request.id, code::BAD_PARAMS, "Invalid request parameters", ""))
        }
    }
}
