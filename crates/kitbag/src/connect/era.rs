//! Which protocol a server speaks: the one with a handshake (2024-11-05 to 2025-11-25) or the one without
//! (2026-07-28).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Greeting, ProtocolVersion};
use super::peer::{Clocks, Peer, RequestContext, RequestError};
use super::reason::{Reason, ReasonClass};
use super::wire::{Param, Speech};

/// The version without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";
/// The newest version with one.
const LEGACY: &str = "2025-11-25";
/// All we speak that have one.
const LEGACY_KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY];

/// Whether every request carries its version, or a handshake settled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// With a handshake.
    Legacy,
    /// Without.
    Modern,
}

impl Era {
    /// The word used in output and in the cache.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    /// By its word; configuration keys say it in several ways.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "legacy" => Some(Self::Legacy),
            "modern" => Some(Self::Modern),
            _ if LEGACY_KNOWN.contains(&word) => Some(Self::Legacy),
            MODERN => Some(Self::Modern),
            _ => None,
        }
    }
}

/// What a server said about itself, as far as anybody needs it: its own name and its instructions, which may be as long
/// as a message, are not kept.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// Whether requests carry their version.
    pub era: Era,
    /// The version spoken.
    pub version: String,
    /// Whether it has tools at all.
    pub has_tools: bool,
    /// Whether it says that it tells of changes of its tools.
    pub list_changed: bool,
    /// What else it says that it offers.
    pub features: ServerFeatures,
}

/// What a server says that it offers beside tools. What it does not say it is not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFeatures {
    /// Resources and templates.
    pub resources: bool,
    /// Whether it tells when one that was subscribed to changes.
    pub subscribe: bool,
    /// Whether it tells when the list of resources changes.
    pub resources_changed: bool,
    /// Prompts.
    pub prompts: bool,
    /// Whether it tells when the list of prompts changes.
    pub prompts_changed: bool,
    /// Completion of arguments.
    pub completions: bool,
    /// Log messages.
    pub logging: bool,
}

impl ServerFeatures {
    fn of(capabilities: &RawValue) -> Self {
        let member = |name: &str| key(capabilities, name);
        let says = |of: &Option<Box<RawValue>>, name: &str| {
            of.as_ref().and_then(|of| key(of, name)).is_some_and(|said| said.get() == "true")
        };
        let (resources, prompts) = (member("resources"), member("prompts"));
        Self {
            subscribe: says(&resources, "subscribe"),
            resources_changed: says(&resources, "listChanged"),
            resources: resources.is_some(),
            prompts_changed: says(&prompts, "listChanged"),
            prompts: prompts.is_some(),
            completions: member("completions").is_some(),
            logging: member("logging").is_some(),
        }
    }
}

/// How an opening went wrong.
#[derive(Debug)]
pub(crate) enum OpeningError {
    /// The server speaks the other era: try that.
    OtherEra,
    /// It failed inside, as a server of either era may: try the other.
    Unwell,
    /// It speaks no version we know.
    Refused(Reason),
    /// The request itself failed.
    Request(RequestError),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered<'a> {
    #[serde(borrow, default)]
    supported_versions: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized<'a> {
    #[serde(borrow, default)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
}

/// Asks a server what it speaks, the modern way.
pub(crate) async fn discover(
    peer: &Peer,
    greeting: &Greeting,
    clocks: Clocks,
) -> Result<Handshake, OpeningError> {
    let speech = Speech { era: Era::Modern, capabilities: greeting.offers.json() };
    let ask = || peer.request("server/discover", &[], speech, clocks, RequestContext::default());
    let answer = match ask().await {
        // It refuses our version and names it as one it speaks: the protocol says to choose from its list.
        Err(RequestError::Remote { code: -32022, raw, .. })
            if supported(&raw).iter().any(|v| v == MODERN) =>
        {
            ask().await
        }
        answer => answer,
    };
    let raw = answer.map_err(discover_failed)?;
    let found: Discovered<'_> = serde_json::from_str(raw.get()).map_err(|_| {
        OpeningError::Request(RequestError::BadAnswer(
            "the result of server/discover has no list of versions".into(),
        ))
    })?;
    // Some older servers answer whatever they do not know with an empty result.
    let theirs = found.supported_versions.ok_or(OpeningError::OtherEra)?;
    let theirs: Vec<String> = theirs.into_iter().map(bare).collect();
    if !theirs.iter().any(|version| version == MODERN) {
        return Err(unsupported(&theirs));
    }
    Ok(Handshake {
        era: Era::Modern,
        version: MODERN.to_owned(),
        has_tools: found.capabilities.is_none_or(|capabilities| key(capabilities, "tools").is_some()),
        list_changed: found.capabilities.is_some_and(tells_changes),
        features: found.capabilities.map(ServerFeatures::of).unwrap_or_default(),
    })
}

/// An error that only a modern server gives says nothing about the other era; any other one does.
fn discover_failed(error: RequestError) -> OpeningError {
    match error {
        RequestError::Remote { code: -32022, raw, .. } => unsupported(&supported(&raw)),
        RequestError::Remote { code: -32021 | -32020, .. } => OpeningError::Request(error),
        RequestError::Remote { code: -32603, .. } => OpeningError::Unwell,
        RequestError::Remote { .. } => OpeningError::OtherEra,
        _ => OpeningError::Request(error),
    }
}

/// The versions a server says it speaks when it refuses ours.
fn supported(error: &RawValue) -> Vec<String> {
    let list = key(error, "data").and_then(|data| key(&data, "supported"));
    list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
}

fn unsupported(theirs: &[String]) -> OpeningError {
    if theirs.iter().any(|version| LEGACY_KNOWN.contains(&version.as_str())) {
        return OpeningError::OtherEra;
    }
    let theirs: String = theirs.join(", ").chars().take(80).collect();
    OpeningError::Refused(other_version(&format!("it speaks {theirs:?}")))
}

/// A version as it stands there, whatever kind of value it is.
fn bare(version: &RawValue) -> String {
    version.get().trim_matches('"').chars().take(40).collect()
}

/// Shakes hands.
pub(crate) async fn initialize(
    peer: &Peer,
    greeting: &Greeting,
    clocks: Clocks,
) -> Result<Handshake, OpeningError> {
    let version = greeting.revision.asked().filter(|version| version.era() == Era::Legacy);
    let version = version.unwrap_or(ProtocolVersion::V2025_11_25).as_str();
    let params = [
        ("protocolVersion", Param::Text(version)),
        ("capabilities", Param::Json(greeting.offers.json())),
        ("clientInfo", Param::Json(&greeting.client)),
    ];
    let raw = peer
        .request("initialize", &params, Era::Legacy, clocks, RequestContext::default())
        .await
        .map_err(|error| match error {
            RequestError::Remote { code: -32022, .. } => OpeningError::OtherEra,
            error => OpeningError::Request(error),
        })?;
    let answer: Initialized<'_> = serde_json::from_str(raw.get()).map_err(|_| {
        OpeningError::Request(RequestError::BadAnswer("the result of initialize cannot be read".into()))
    })?;
    let none = || OpeningError::Refused(other_version("its answer to initialize has no protocolVersion"));
    let version = bare(answer.protocol_version.ok_or_else(none)?);
    if !LEGACY_KNOWN.contains(&version.as_str()) {
        return Err(OpeningError::Refused(other_version(&format!("it speaks {version:?}"))));
    }
    if let Some(only) = greeting.revision.only().filter(|only| only.as_str() != version) {
        return Err(OpeningError::Refused(not_spoken(only, &format!("it answers with {version}"))));
    }
    peer.notify("notifications/initialized", "{}");
    Ok(Handshake {
        era: Era::Legacy,
        version,
        has_tools: answer.capabilities.is_none_or(|capabilities| key(capabilities, "tools").is_some()),
        list_changed: answer.capabilities.is_some_and(tells_changes),
        features: answer.capabilities.map(ServerFeatures::of).unwrap_or_default(),
    })
}

/// Whether a server's capabilities say that it tells of changes of its tools.
fn tells_changes(capabilities: &RawValue) -> bool {
    let told = key(capabilities, "tools").and_then(|tools| key(&tools, "listChanged"));
    told.is_some_and(|told| told.get() == "true")
}

/// That both sides have no version in common.
fn other_version(theirs: &str) -> Reason {
    let ours = format!("{} and {MODERN}", LEGACY_KNOWN.join(", "));
    Reason::new(ReasonClass::ProtocolVersion, format!("{theirs}; Kitbag speaks {ours}"))
}

/// That a server does not speak the one revision that is to be spoken.
pub(crate) fn not_spoken(only: ProtocolVersion, why: &str) -> Reason {
    Reason::new(ReasonClass::ProtocolVersion, format!("does not speak {}: {why}", only.as_str()))
}

/// That a server answers neither question that opens a conversation.
pub(crate) fn speaks_neither() -> Reason {
    let why = "it accepts neither server/discover nor initialize";
    Reason::new(ReasonClass::NotMcp, why)
}

/// The value under a key of a JSON object, as received.
pub(crate) fn key(raw: &RawValue, name: &str) -> Option<Box<RawValue>> {
    let mut map: std::collections::BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw.get()).ok()?;
    map.remove(name).filter(|value| value.get() != "null")
}
