//! Tests of the real binary, each in a house of its own: no shared state, no network.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod house;
mod pty;

mod docs;
mod edits;
mod elysia;
mod exits;
mod export;
mod folders;
mod habits;
mod hosts;
mod live;
mod looks;
mod masks;
mod paste;
mod projects;
mod races;
mod real_clients;
mod real_hosts;
mod real_servers;
mod registry;
mod serve;
mod serve_bridge;
mod serve_ops;
mod shapes;
mod trust;
mod users;
mod variables;
