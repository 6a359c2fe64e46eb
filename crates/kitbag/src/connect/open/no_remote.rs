//! Builds without the feature `http` say so when a server at an address is asked for.

use kitbag_core::Secret;
use kitbag_core::model::Transport;
use kitbag_core::text::{Redactor, redact_url};

use super::super::reason::{Reason, ReasonClass};
use super::{ConnectError, Opener, Session};

impl Opener<'_> {
    pub(crate) fn waits_for(&self) -> Option<Reason> {
        None
    }

    pub(super) async fn remote(
        &self,
        _transport: Transport,
        url: &Secret,
        _headers: &[(String, Secret)],
        _redactor: Redactor,
    ) -> Result<Session, ConnectError> {
        let why = "servers at an address need the cargo feature \"http\" of kitbag";
        Err(ConnectError::Failed(Reason::new(ReasonClass::Config, why).at(&redact_url(url.expose()))))
    }
}
