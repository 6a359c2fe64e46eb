//! When servers are started.

/// When servers are started; for [`OpenOptions::start`](crate::OpenOptions::start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartServers {
    /// Each as its entry says: at once, or on first need where it is `lazy`.
    #[default]
    AsConfigured,
    /// All at once: listing every tool is such a need.
    AtOnce,
    /// Each when it is needed: by a call, or by [`Kitbag::wait_for_servers`](crate::Kitbag::wait_for_servers).
    OnDemand,
}

impl StartServers {
    /// Whether a server waits until it is needed, by what its entry says.
    pub(crate) fn waits(self, lazy: bool) -> bool {
        match self {
            Self::AsConfigured => lazy,
            Self::AtOnce => false,
            Self::OnDemand => true,
        }
    }
}
