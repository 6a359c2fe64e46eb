//! What a request is answered with, whichever way it came.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::call;
use crate::client::{Client, Out};
use crate::follow;
use crate::offered::{self, Listed};
use crate::older;
use crate::rpc::{RpcError, code, raw};
use kitbag::connect::raw::members;
use kitbag::offered::LogLevel;

/// The newest revision, which has no sessions.
pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, the newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// How both sides speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    /// As up to 2025-11-25.
    Legacy,
    /// As since 2026-07-28.
    Modern,
}

/// A request, taken out of the bytes it came in.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) id: Box<RawValue>,
    pub(crate) method: String,
    pub(crate) params: Box<RawValue>,
    pub(crate) meta: Map<String, Value>,
    /// What it names.
    pub(crate) name: Option<String>,
    /// Where the arguments stand in the parameters.
    arguments: Range<usize>,
    /// Whether it brings answers, or comes back with what it was given.
    pub(crate) is_further: bool,
}

/// The parts of all parameters that are looked at.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    #[serde(rename = "_meta", default)]
    meta: Option<Map<String, Value>>,
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) uri: Option<String>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(default)]
    cursor: Option<Value>,
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    protocol_version: Option<String>,
    #[serde(default)]
    capabilities: Option<Value>,
    #[serde(default)]
    client_info: Option<Value>,
    #[serde(default)]
    input_responses: Option<IgnoredAny>,
    #[serde(default)]
    request_state: Option<IgnoredAny>,
}

impl Incoming {
    pub(crate) fn new(id: &RawValue, method: &str, params: Option<&RawValue>) -> Result<Self, RpcError> {
        let params = params.map_or_else(|| raw("{}".to_owned()), |params| Ok(params.to_owned()))?;
        let (id, method) = (id.to_owned(), method.to_owned());
        let (meta, name, arguments, is_further) = {
            let read = read(&params)?;
            let is_further = read.input_responses.is_some() || read.request_state.is_some();
            let arguments = read.arguments.map_or(0..0, |arguments| within(params.get(), arguments.get()));
            (read.meta.unwrap_or_default(), read.name, arguments, is_further)
        };
        Ok(Self { id, method, params, meta, name, arguments, is_further })
    }

    /// The arguments as they were written; nothing where there are none.
    pub(crate) fn arguments(&self) -> &str {
        &self.params.get()[self.arguments.clone()]
    }

    /// Its parameters.
    pub(crate) fn read(&self) -> Result<Params<'_>, RpcError> {
        read(&self.params)
    }

    /// A parameter that names what is asked for.
    pub(crate) fn text(&self, key: &str, what: &str) -> Result<String, RpcError> {
        let params = self.read()?;
        let text = if key == "uri" { params.uri } else { params.name };
        let missing =
            || RpcError::new(code::INVALID_PARAMS, format!("params.{key} is missing: it names {what}"));
        text.ok_or_else(missing)
    }

    /// Everything is on one page, so no cursor is ours.
    pub(crate) fn no_cursor(&self) -> Result<(), RpcError> {
        if self.read()?.cursor.is_some_and(|cursor| !cursor.is_null()) {
            let message = "unknown cursor: everything is on one page";
            return Err(RpcError::new(code::INVALID_PARAMS, message));
        }
        Ok(())
    }

    /// The revision it names, if it is of the newer era.
    pub(crate) fn version(&self) -> Option<&str> {
        self.meta.get(VERSION_KEY).map(|version| version.as_str().unwrap_or_default())
    }

    pub(crate) fn speech(&self) -> Speech {
        if self.version().is_some() || self.method == "server/discover" {
            Speech::Modern
        } else {
            Speech::Legacy
        }
    }

    /// Whether a request of the newer era says what it must, in a revision that is spoken here.
    pub(crate) fn check_modern(&self) -> Result<(), RpcError> {
        let Some(version) = self.version() else {
            return Err(RpcError::new(code::INVALID_PARAMS, format!("_meta has no {VERSION_KEY}")));
        };
        if version != MODERN {
            let supported = json!({"supported": [MODERN], "requested": version});
            let message = format!("unsupported protocol version {version:?}");
            return Err(RpcError::new(code::UNSUPPORTED_VERSION, message).with(supported));
        }
        if !self.meta.contains_key(CAPABILITIES_KEY) {
            return Err(RpcError::new(code::INVALID_PARAMS, format!("_meta has no {CAPABILITIES_KEY}")));
        }
        Ok(())
    }
}

fn read(params: &RawValue) -> Result<Params<'_>, RpcError> {
    serde_json::from_str(params.get())
        .map_err(|error| RpcError::new(code::INVALID_PARAMS, format!("invalid params: {error}")))
}

/// Where a part of a text stands in it.
fn within(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// Answers a request.
pub(crate) async fn answer(
    client: &Arc<Client>,
    request: &Incoming,
    out: &Out,
) -> Result<Box<RawValue>, RpcError> {
    let speech = request.speech();
    if speech == Speech::Modern {
        request.check_modern()?;
        client.introduces(request.meta.get(CLIENT_INFO_KEY));
    }
    let result = match (speech, request.method.as_str()) {
        (Speech::Legacy, "initialize") => initialize(client, request)?,
        (Speech::Legacy, "ping") => raw("{}".to_owned())?,
        (Speech::Legacy, "logging/setLevel") => set_level(client, request)?,
        (Speech::Modern, "server/discover") => discover()?,
        // As its era has it already.
        (_, "tools/list") => return list(client, request, speech).await,
        (Speech::Legacy, "tools/call") => older::result(call::tool(client, request, out).await?)?,
        (_, "tools/call") => call::tool(client, request, out).await?,
        (_, "resources/list") => offered::list(client, request, Listed::Resources).await?,
        (_, "resources/templates/list") => offered::list(client, request, Listed::Templates).await?,
        (_, "prompts/list") => offered::list(client, request, Listed::Prompts).await?,
        (Speech::Legacy, "resources/subscribe") => follow::subscribe(client, request).await?,
        (Speech::Legacy, "resources/unsubscribe") => follow::unsubscribe(client, request)?,
        (_, "resources/read") => offered::read(client, request, out).await?,
        (_, "completion/complete") => offered::complete(client, request, out).await?,
        (_, "prompts/get") => offered::get(client, request, out).await?,
        (_, method) => {
            return Err(RpcError::new(code::NO_METHOD, format!("method not found: {method}")));
        }
    };
    spoken(result, speech)
}

fn server_info() -> Value {
    json!({"name": "kitbag", "title": "Kitbag", "version": env!("CARGO_PKG_VERSION")})
}

/// Servers come and go, so everything that any of them may have is declared.
fn capabilities() -> Value {
    json!({"tools": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true},
        "prompts": {"listChanged": true}, "completions": {}, "logging": {}})
}

fn set_level(client: &Client, request: &Incoming) -> Result<Box<RawValue>, RpcError> {
    let level = request.read()?.level.unwrap_or_default();
    let level = LogLevel::parse(&level).ok_or_else(|| {
        let words: Vec<&str> = LogLevel::ALL.iter().map(|level| level.as_str()).collect();
        RpcError::new(code::INVALID_PARAMS, format!("unknown level {level:?}; write {}", words.join(", ")))
    })?;
    client.hears(level);
    raw("{}".to_owned())
}

fn initialize(client: &Client, request: &Incoming) -> Result<Box<RawValue>, RpcError> {
    let params = request.read()?;
    client.introduces(params.client_info.as_ref());
    client.offers(&params.capabilities.unwrap_or_default());
    let asked = params.protocol_version.unwrap_or_default();
    let version = LEGACY.into_iter().find(|known| *known == asked).unwrap_or(LEGACY[0]);
    let result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
    });
    raw(result.to_string())
}

fn discover() -> Result<Box<RawValue>, RpcError> {
    let result = json!({
        "supportedVersions": [MODERN],
        "capabilities": capabilities(),
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
    });
    raw(result.to_string())
}

async fn list(client: &Client, request: &Incoming, speech: Speech) -> Result<Box<RawValue>, RpcError> {
    request.no_cursor()?;
    client.endpoint.wait(&client.kit, &client.user).await;
    let (view, style) = client.view()?;
    let listed = client.endpoint.list(&client.kit, &view, &style);
    client.read.note_tools(&listed.text);
    listed.result(speech)
}

/// A result as the client's era has it: `resultType` where there is one, and nowhere else.
fn spoken(result: Box<RawValue>, speech: Speech) -> Result<Box<RawValue>, RpcError> {
    let has_type = may_have_type(result.get())
        && members(&result).is_some_and(|members| members.iter().any(|(key, _)| key == "resultType"));
    match (speech, has_type) {
        (Speech::Legacy, false) | (Speech::Modern, true) => Ok(result),
        (Speech::Modern, false) => {
            let rest = result.get().trim_start().strip_prefix('{').unwrap_or("}");
            let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
            raw(format!(r#"{{"resultType":"complete"{comma}{rest}"#))
        }
        (Speech::Legacy, true) => {
            let kept =
                members(&result).unwrap_or_default().into_iter().filter(|(key, _)| key != "resultType");
            let kept: Vec<String> =
                kept.map(|(key, value)| format!("{}:{value}", kitbag::connect::raw::quoted(&key))).collect();
            raw(format!("{{{}}}", kept.join(",")))
        }
    }
}

/// Whether the word stands anywhere in it: most results need no closer look.
fn may_have_type(text: &str) -> bool {
    text.contains("\"resultType\"")
}
