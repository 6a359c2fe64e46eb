//! Fake MCP servers, good and hostile, as real processes, and what tests need to look at them.
//!
//! A test starts [`bin`]`("fake-mcp")` as it would start any server: `fake-mcp --help` lists the options,
//! `fake-mcp --list-faults` what it can do wrong. [`proc`] reads what is left of it from the system.

mod built;
pub mod proc;

pub use built::bin;
