//! Kitbag's own files: servers that were added, switches, approvals, answers. Writes are locked, atomic, and
//! change nothing but the entry they are about; another program's file is written only by [`export_into`].

#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod export;
mod file;
mod secrets;
#[cfg(feature = "files")]
mod servers;
mod trust;

#[cfg(feature = "files")]
pub use error::RegistryError;
#[cfg(feature = "files")]
pub use export::export_into;
pub use file::{FileError, write};
pub(crate) use file::{Lock, lock, write_cache};
pub use secrets::SecretStore;
#[cfg(feature = "files")]
pub use servers::Registry;
pub use trust::{TrustEntry, TrustStore};
