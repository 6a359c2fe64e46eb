//! The binary as people run it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod real_servers;
