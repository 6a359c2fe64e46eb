//! Another server in place of one that is not available.

use crate::fault::SourceLocation;

/// The server that takes the calls which another one cannot be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallbackServer {
    /// Its name, as written.
    pub server: String,
    /// Where that stands.
    pub place: SourceLocation,
}
