//! The project: what is in its folders is shown, and used only when somebody approved just that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::config::env as env_servers;
use kitbag_core::config::layers::Layer;
use kitbag_core::names::fingerprint;
use kitbag_core::{Fault, Limits, ServerSpec};

use super::files::Files;
use crate::Env;
use crate::discover::{ReferenceValues, project_folders, seen};
use crate::registry::TrustEntry;

/// What an approval of a server is bound to.
pub(super) fn approval(spec: &ServerSpec, values: &ReferenceValues<'_>) -> TrustEntry {
    TrustEntry {
        file: spec.origin.place.file.to_path_buf(),
        server: spec.name.to_string(),
        hash: spec.trust_hash(&seen(spec, values)),
    }
}

/// What an approval of a folder's settings is bound to: every byte of the file.
pub(super) fn settings_approval(file: &Path, text: &str) -> TrustEntry {
    let hash = fingerprint(&[&file.to_string_lossy(), text]);
    TrustEntry { file: file.to_owned(), server: "kitbag.toml".to_owned(), hash }
}

/// The folders of the project, from its root down to the working folder, each with the variables of its `.env`.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct ProjectFolders(Vec<(PathBuf, BTreeMap<String, String>)>);

impl ProjectFolders {
    /// Reads the `.env` of every folder.
    pub(super) fn read(files: &mut Files<'_>, env: &Env, limits: &Limits) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        let folders = project_folders(env).into_iter().map(|folder| {
            let (variables, fault) = dot_env(files, &folder, limits);
            faults.extend(fault);
            (folder, variables)
        });
        let folders = folders.collect();
        (Self(folders), faults)
    }

    /// The folder that a server works in and the variables of its `.env`: a server of the project those of the nearest
    /// folder that its file lies in, any other one the working folder and no variables.
    pub(super) fn given_to<'a>(
        &'a self,
        file: &Path,
        layer: &Layer,
        env: &'a Env,
    ) -> (&'a Path, &'a BTreeMap<String, String>) {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        let found = self.0.iter().rfind(|(folder, _)| *layer == Layer::Project && file.starts_with(folder));
        found.map_or((env.cwd(), &NONE), |(folder, variables)| (folder.as_path(), variables))
    }

    /// From the working folder up.
    pub(super) fn nearest_first(&self) -> impl Iterator<Item = &(PathBuf, BTreeMap<String, String>)> {
        self.0.iter().rev()
    }
}

/// The variables of a folder's `.env`.
fn dot_env(
    files: &mut Files<'_>,
    folder: &Path,
    limits: &Limits,
) -> (BTreeMap<String, String>, Option<Fault>) {
    let file = folder.join(".env");
    if file.is_dir() {
        files.stamps.note(&file);
        return (BTreeMap::new(), None); // Some keep a virtual environment under this name.
    }
    let (text, fault) = files.kept_text(&file, limits);
    // Odd lines of a file that is mostly about other things are not our business.
    let values = text.map(|text| env_servers::dot_env(&Arc::from(file.as_path()), &text).0);
    (values.into_iter().flatten().collect(), fault)
}
