//! How a store fails: kinds that callers decide by, never by words.

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be reached or opened now; trying again later may help.
    #[error("{what} cannot be used: {why}")]
    Unavailable {
        /// The file, or the host and the name of the database; never a password.
        what: String,
        /// The cause.
        why: String,
    },
    /// It is there and cannot be read. Nothing was deleted.
    #[error("{what} is damaged: {why}; {hint}")]
    Damaged {
        /// The file, or the host and the name of the database.
        what: String,
        /// What is wrong with it.
        why: String,
        /// What to do.
        hint: String,
    },
    /// A newer Kitbag has written it.
    #[error("{what} was written by a newer Kitbag (schema {found}, this one knows {known}): update Kitbag")]
    Newer {
        /// The file, or the host and the name of the database.
        what: String,
        /// Its schema version.
        found: i64,
        /// The newest version that is understood.
        known: i64,
    },
    /// Others kept it locked for too long; trying again helps.
    #[error("{what} is locked by another process")]
    Busy {
        /// The file, or the host and the name of the database.
        what: String,
    },
    /// The key that encrypts the answers to inputs is missing, wrong or unusable.
    #[error("answers to inputs cannot be read or written with {file}: {why}")]
    Key {
        /// The key file.
        file: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// There are too many, or it is too large.
    #[error("{what}: more than {most}")]
    TooMany {
        /// What was to be kept.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The setting that chooses the store is wrong, or this program has no such store.
    #[error("store url: {0}")]
    Url(String),
    /// Anything else the database says.
    #[error("{what}: {why}")]
    Other {
        /// The file, or the host and the name of the database.
        what: String,
        /// Its own words.
        why: String,
    },
}

impl StoreError {
    /// Whether the same may succeed later without anybody's doing.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Busy { .. })
    }
}
