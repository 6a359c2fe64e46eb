//! Tests with real server processes, good and hostile: the library and the binary as their users have them.

mod farm;

mod asks;
mod calls;
mod commands;
mod crowd;
mod cuts;
mod ends;
mod eras;
mod secrets;
mod shared;
mod states;
mod wire;

pub(crate) use farm::{Farm, alone, calm, said, until};
