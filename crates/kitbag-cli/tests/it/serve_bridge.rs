//! What passes between clients and servers of either era while a call runs: questions, answers, progress, cancels. Each
//! question carries the token of its call, so whatever goes astray is found out.

mod cancels;
mod client;
mod crowd;
mod eras;
mod parked;
