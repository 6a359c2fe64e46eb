//! The seed of a generated test, so that one that failed can be run again.

/// What `KITBAG_SEED` says, if anything.
pub fn seed() -> Option<u64> {
    std::env::var("KITBAG_SEED").ok()?.parse().ok()
}
