//! Tokens: who brings one acts as its user. 256 random bits, shown once, kept as their hash.

use data_encoding::BASE64URL_NOPAD;
use kitbag::Secret;
use kitbag::store::Hash256;
use sha2::{Digest as _, Sha256};

/// By which a token is known where it turns up: in logs, in what was pasted by mistake.
const PREFIX: &str = "kb_";

/// A token that was just made.
pub struct NewToken {
    /// What its user is shown, once.
    pub token: Secret,
    /// What is kept.
    pub hash: Hash256,
}

impl NewToken {
    /// Makes one. Fails where the machine has no randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let text = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes));
        let hash = hash(&text);
        Ok(Self { token: Secret::new(text), hash })
    }
}

/// What is kept of a token.
pub(crate) fn hash(token: &str) -> Hash256 {
    Hash256::from_bytes(Sha256::digest(token.as_bytes()).into())
}
