//! Tests with real server processes, good and hostile: the library and the binary as their users have them.

mod farm;
mod hosted;

mod asks;
mod bounds;
mod calls;
mod catalog;
mod cli_call;
mod cli_present;
mod cli_show;
mod cli_tools;
mod cli_why;
mod commands;
mod conformance;
mod crowd;
mod cuts;
mod ends;
mod eras;
mod execute;
mod histories;
mod hooks;
mod hostile_catalog;
mod hostile_table;
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
mod panics;
mod planted;
mod present;
mod reasons;
mod records;
mod refresh;
mod reload;
mod results;
mod secrets;
mod settings;
mod shaping;
mod shared;
mod states;
mod steady;
mod told;
mod wire;
mod world;

pub(crate) use hosted::Hosted;

pub(crate) use farm::{Farm, alone, calm, first, names, said, until};
