//! Agents as callers of the library have them: real servers at an address, and a model that says what a script tells it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blocking;
mod calls;
mod chat;
mod constrained;
mod delegates;
mod failures;
mod histories;
mod matrix;
mod options;
mod quirks;
mod sampling;
mod scene;
mod text;
