//! Tests of the core as its users see it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod findings;
mod golden;
mod properties;
