//! Tests with real server processes, good and hostile: the binary as its users have it.

mod cli_approvals;
mod cli_call;
mod cli_completions;
mod cli_doctor;
mod cli_elicit;
mod cli_flow;
mod cli_given;
mod cli_limits;
mod cli_names;
mod cli_present;
mod cli_proxy;
mod cli_reasons;
mod cli_run;
mod cli_server;
mod cli_show;
mod cli_store;
mod cli_threats;
mod cli_tls;
mod cli_tools;
mod cli_users;
mod cli_why;
mod closed;
mod commands;
mod conformance;
mod ends;
mod environment;
mod first_start;
mod hostile_table;
mod nothing;
mod planted;
mod screens;
mod secrets;
mod told;

pub(crate) use testkit::{Farm, Hosted};
