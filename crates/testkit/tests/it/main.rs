//! The fake server does what it says: both eras, every tool, every fault, every cut.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test code")]

mod content_faults;
mod corpora;
mod cuts;
mod eras;
mod fake_model;
mod http_eras;
mod http_faults;
mod http_peer;
mod http_site;
mod life_faults;
mod list_faults;
mod peer;
mod process_tree;
mod refresh_faults;
mod schema_faults;
mod tools;
mod wire_faults;
