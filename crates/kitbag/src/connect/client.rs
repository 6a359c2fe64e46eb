//! Who this program says it is, and which revision of the protocol it asks for.

use std::str::FromStr;
use std::sync::Arc;

use kitbag_core::ServerSpec;
use serde::Serialize;

use super::ask::Offers;
use super::era::Era;

/// Who this program says it is to servers: `clientInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
}

impl Default for ClientInfo {
    fn default() -> Self {
        Self { name: "kitbag".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl ClientInfo {
    pub(crate) fn json(&self) -> Arc<str> {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// What servers are told of us when they are connected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Greeting {
    /// What they may ask of whoever calls them.
    pub(crate) offers: Offers,
    /// `clientInfo`, as JSON.
    pub(crate) client: Arc<str>,
    /// Which revision is spoken.
    pub(crate) revision: Revision,
    /// The answer to `roots/list`, as JSON, where folders are given.
    pub(crate) roots: Option<Arc<str>>,
}

/// Which revision of the protocol is spoken with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Revision {
    /// The newest that both sides know.
    #[default]
    Newest,
    /// This one is asked for, and another is taken as well.
    Preferred(ProtocolVersion),
    /// This one or none.
    Only(ProtocolVersion),
}

impl Revision {
    /// The one to ask for, where that is not left open.
    pub(crate) fn asked(self) -> Option<ProtocolVersion> {
        match self {
            Self::Newest => None,
            Self::Preferred(version) | Self::Only(version) => Some(version),
        }
    }

    /// The only one, where there is just one.
    pub(crate) fn only(self) -> Option<ProtocolVersion> {
        match self {
            Self::Only(version) => Some(version),
            Self::Newest | Self::Preferred(_) => None,
        }
    }
}

impl Default for Greeting {
    fn default() -> Self {
        Self {
            offers: Offers::default(),
            client: ClientInfo::default().json(),
            revision: Revision::Newest,
            roots: None,
        }
    }
}

impl Greeting {
    /// The same for one server: its own configuration comes first, unless there is only one revision to speak.
    pub(crate) fn of(&self, spec: &ServerSpec) -> Self {
        let configured = ProtocolVersion::configured(spec).filter(|_| self.revision.only().is_none());
        Self { revision: configured.map_or(self.revision, Revision::Preferred), ..self.clone() }
    }
}

/// A revision of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25, the last one with a handshake.
    V2025_11_25,
    /// 2026-07-28, without a handshake.
    V2026_07_28,
}

/// A text that names no revision of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown protocol version {0:?}; known are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28"
)]
pub struct UnknownVersion(String);

impl ProtocolVersion {
    pub(crate) const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// As the protocol writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub(crate) fn era(self) -> Era {
        if self == Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    /// The one a server's configuration asks for; its keys say it in several ways.
    pub(crate) fn configured(spec: &ServerSpec) -> Option<Self> {
        let keys = ["protocolEra", "versionNegotiation", "protocol", "era"];
        let parse = |word: &str| match word {
            "legacy" => Some(Self::V2025_11_25),
            "modern" => Some(Self::V2026_07_28),
            word => word.parse().ok(),
        };
        keys.iter().find_map(|key| parse(spec.extra.0.get(*key)?.as_str()?))
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
            .ok_or_else(|| UnknownVersion(text.chars().take(40).collect()))
    }
}
