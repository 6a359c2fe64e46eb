//! Calls answered with the params they came with, byte by byte, so that a test can compare what was sent with
//! what arrived.

use std::sync::Arc;

use super::Done;
use crate::server::Server;
use crate::wire::{self, Request};

pub(super) fn raw_echo(server: &Arc<Server>, request: &Request<'_>) -> Done {
    Done::Answer(echoed(server, request))
}

/// The params as the text of the result and, exactly, in the events.
pub(crate) fn echoed(server: &Server, request: &Request<'_>) -> Vec<u8> {
    let params = request.raw_params();
    server.events.note_exactly("params", params);
    wire::text_result(request.id, request.speech, &wire::quoted(params))
}
