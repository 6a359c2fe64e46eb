//! Fake MCP servers, good and hostile, as real processes, and what tests need to look at them.
//!
//! A test starts [`bin`]`("fake-mcp")` as it would start any server: `fake-mcp --help` lists the options,
//! `fake-mcp --list-faults` what it can do wrong. [`Http`] is the same server over HTTP. [`proc`] reads what is
//! left of it from the system. [`corpus`] holds what real servers list, [`tool`] finds what was installed for tests.

mod built;
pub mod corpus;
mod http;
pub mod proc;

pub use built::{bin, tool};
pub use http::Http;
