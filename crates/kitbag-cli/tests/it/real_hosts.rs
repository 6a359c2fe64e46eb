//! Kitbag beside the programs whose files it reads and writes, as they are installed: what they write is read right,
//! what is written for them is read right by them, and what is taken over from them works.

mod exported;
mod host;
mod imported;
mod written;
