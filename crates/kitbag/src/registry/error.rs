//! Why a change to a file of servers was refused.

use std::path::PathBuf;

use kitbag_core::config::edit::EditError;
use kitbag_core::{Fault, ServerName, SourceLocation};

use super::file::FileError;

/// Why a change was refused. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The name is taken.
    #[error("{name} is already there ({place})")]
    Duplicate {
        /// The name.
        name: ServerName,
        /// Where it stands.
        place: SourceLocation,
    },
    /// Nobody has this name.
    #[error("no server is called {name}{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    NotFound {
        /// The name.
        name: ServerName,
        /// A name that differs by a slip.
        near: Option<String>,
    },
    /// The entry cannot be used.
    #[error("{name} cannot be added: {}", .faults.first().map(|fault| fault.message.as_str()).unwrap_or_default())]
    Invalid {
        /// The name.
        name: ServerName,
        /// Why.
        faults: Vec<Fault>,
    },
    /// The server stands in a file that is not Kitbag's.
    #[error("{name} is defined in {place}, which is not one of Kitbag's files")]
    NotOurs {
        /// The name.
        name: ServerName,
        /// Where it stands.
        place: SourceLocation,
    },
    /// The server comes from a variable or flag, where no file can switch it.
    #[error("{name} comes from {place} and cannot be switched in a file")]
    NotSwitchable {
        /// The name.
        name: ServerName,
        /// Where it comes from.
        place: SourceLocation,
    },
    /// A switch in another file decides whether the server is on.
    #[error("{name} is switched at {place}, which would not know its new name")]
    SwitchedElsewhere {
        /// The name.
        name: ServerName,
        /// Where the switch stands.
        place: SourceLocation,
    },
    /// A link stands where a user's file or folder should be; what it leads to may be somebody else's.
    #[error("{0} is a link, and nothing is written through it")]
    Link(PathBuf),
    /// The file cannot be changed as it is.
    #[error("{file} was left as it is: {error}")]
    Edit {
        /// The file.
        file: PathBuf,
        /// Why.
        error: EditError,
    },
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}
