//! From the files people already have to [`ServerSpec`](crate::ServerSpec)s in layers.
//!
//! Text in any format becomes one located [`tree`]; a [`dialect`] says whose rules apply; [`document`] finds
//! the servers in it and `entry` reads each one by itself; [`layers`] puts many documents together. What
//! is wrong with one entry or file is a [`Fault`](crate::Fault) and costs nothing else.

pub mod dialect;
pub mod document;
#[cfg(feature = "files")]
pub mod edit;
pub mod env;
#[cfg(feature = "files")]
pub mod export;
pub mod layers;
pub mod own;
pub mod paste;
pub mod settings;
pub mod tree;

mod entry;
mod interpolate;
mod source;

#[cfg(test)]
mod tests;

pub use dialect::{ALL as ALL_DIALECTS, Dialect};
pub use document::{Document, Layout, Loaded, Reading, Toggle, locate, read};
pub use entry::{EntryKey, entry_keys, kept_keys};
pub use interpolate::template;
pub use source::Source;
