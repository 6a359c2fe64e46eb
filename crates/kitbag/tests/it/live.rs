//! Tests with real server processes, good and hostile: the library as its users have it.

mod farm;
mod hosted;

mod asks;
mod bounds;
mod breaker;
mod calls;
mod catalog;
mod crowd;
mod cuts;
mod eras;
mod execute;
mod guards;
mod histories;
mod hooks;
mod hostile_catalog;
mod http;
mod http_auth;
mod http_busy;
mod http_cuts;
mod http_hostile;
mod http_matrix;
mod http_reasons;
mod http_sessions;
mod http_tls;
mod local_tools;
mod masked;
mod notes;
mod offered;
mod panics;
mod present;
mod reasons;
mod records;
mod refresh;
mod reload;
mod results;
mod settings;
mod shaping;
mod shared;
mod states;
mod steady;
mod wire;
mod world;

pub(crate) use farm::{calm, first, names, said};
pub(crate) use testkit::{Farm, Hosted, alone, until};
