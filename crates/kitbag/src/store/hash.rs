//! A SHA-256 hash: of a definition, of a token, of a row of the audit log.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of something; written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash256([u8; 32]);

impl Hash256 {
    /// What the first row of a chain follows.
    pub const ZERO: Self = Self([0; 32]);

    /// The hash of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A hash that was made elsewhere.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// By its 64 hexadecimal digits.
    pub fn parse(hex: &str) -> Option<Self> {
        HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Hash256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash256({self})")
    }
}

/// 128 random bits as a word of 26 lower-case letters and digits.
pub(super) fn random_word() -> Result<String, super::StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| super::StoreError::Other {
        what: "the system's random numbers".to_owned(),
        why: error.to_string(),
    })?;
    Ok(data_encoding::BASE32_NOPAD.encode(&bytes).to_ascii_lowercase())
}
