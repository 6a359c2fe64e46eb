//! The library as a program uses it, against servers inside the test: no process, no file, no network.

mod calls;
mod handle;
mod locals;
mod server;
mod spans;
mod trace;
mod words;
