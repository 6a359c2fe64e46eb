//! Fake MCP servers, good and hostile, as real processes, and what tests need to look at them.
//!
//! A test starts [`bin`]`("fake-mcp")` as it would start any server: `fake-mcp --help` lists the options,
//! `fake-mcp --list-faults` what it can do wrong. [`Http`] is the same server over HTTP. [`proc`] reads what is
//! left of it from the system. [`corpus`] holds what real servers list, [`tool`] finds what was installed for tests.
//! A [`House`] is the folders of one test, a [`Farm`] a house with servers in its registry, [`Hosted`] a farm with
//! servers at an address; [`until`] waits for what they do.

mod alone;
mod built;
pub mod corpus;
mod farm;
mod hosted;
mod house;
mod http;
mod model;
pub mod proc;
mod seed;
#[cfg(feature = "tls")]
pub mod tls;
mod transcript;
mod wait;

pub use alone::alone;
pub use built::{bin, tool};
pub use farm::{Farm, member};
pub use hosted::Hosted;
pub use house::House;
pub use http::Http;
pub use model::FakeModel;
pub use seed::seed;
pub use transcript::check_calls;
pub use wait::{PATIENCE, Since, in_time, until, wait_until};
