//! Finding and reading the files that name servers: Kitbag's own, other programs', the working folder's.
//!
//! Nothing is decided here. Every file that is there becomes a document in its layer; [`crate::Setup`] puts
//! them together.

mod catalog;
mod folders;
mod places;
mod scan;
mod values;

pub use folders::Folders;
pub use places::{HostFile, host_files, project_files, project_folders};
pub use scan::{FolderOwner, read_file, read_folder, user_folders};
pub use values::ReferenceValues;

pub(crate) use catalog::read_catalog;
pub(crate) use scan::{folder_files, text_of, text_within, unread};
pub(crate) use values::{EnvFiles, chosen, env_file, seen};
