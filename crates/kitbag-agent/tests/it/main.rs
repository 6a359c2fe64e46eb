//! Agents as callers of the library have them: real servers at an address, and a model that says what a script tells it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blocking;
mod calls;
mod chat;
mod constrained;
mod failures;
mod histories;
mod options;
mod scene;
mod text;
