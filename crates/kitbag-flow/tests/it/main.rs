//! Drawings as they are run: against the real Xircuits, with models and servers, and with everything that can be wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agents;
mod bad;
mod generated;
mod grammar;
mod kept;
mod real;
mod scene;
mod values;
