//! The endpoint at a real address in this process, over servers in this process: users with tokens, requests as they are
//! written.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod client;
mod door;
mod listed;
mod place;
mod server;
