//! Opening a conversation in one revision of the protocol and no other. What is learnt by that is not remembered: it
//! says nothing about what the server would have chosen.

use kitbag_core::model::ResolvedSpec;
use tokio::time::Instant;

use super::super::client::ProtocolVersion;
use super::super::era::{self, Era, OpeningError};
use super::super::peer::{Clocks, RequestError};
use super::download::Download;
use super::{ConnectError, Opener, Opening, Session, until};

impl Opener<'_> {
    pub(super) async fn exactly(
        &self,
        only: ProtocolVersion,
        resolved: &ResolvedSpec,
        deadline: Instant,
    ) -> Result<Session, ConnectError> {
        let not_spoken = |why: &str| ConnectError::Failed(era::not_spoken(only, why));
        let download = self.download(resolved);
        if download == Download::Likely {
            self.after_earlier_download().await;
        }
        if only.era() == Era::Legacy {
            return self.legacy(resolved, deadline).await.map_err(|opening| match opening {
                Opening::OtherEra => not_spoken("it refuses initialize"),
                Opening::Failed(error) => error,
            });
        }
        let started = self.start(resolved)?;
        let clocks = match download {
            Download::No => Clocks::of(self.probe_budget()),
            Download::Unlikely | Download::Likely => until(deadline),
        };
        match era::discover(&started.peer, &self.greeting(), clocks).await {
            Ok(greeting) => Ok(started.agreed(greeting)),
            Err(OpeningError::Refused(reason)) => Err(ConnectError::Failed(reason)),
            Err(OpeningError::OtherEra | OpeningError::Unwell) => {
                Err(not_spoken("it refuses server/discover"))
            }
            Err(OpeningError::Request(RequestError::Timeout { .. })) => {
                Err(not_spoken("it leaves server/discover without an answer"))
            }
            Err(OpeningError::Request(error @ RequestError::Remote { .. })) => {
                Err(ConnectError::Failed(error.into_reason().of_failed("server/discover was refused")))
            }
            Err(OpeningError::Request(error)) => Err(ConnectError::Again(error.into_reason())),
        }
    }
}
