//! The working folder: what is in it is shown, and used only when somebody approved just that.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use kitbag_core::config::env as env_servers;
use kitbag_core::names::fingerprint;
use kitbag_core::{Fault, Limits, ServerSpec};

use super::files::Files;
use crate::Env;
use crate::discover::{Values, seen};
use crate::registry::Approval;

/// What an approval of a server is bound to.
pub(super) fn approval(spec: &ServerSpec, values: &Values<'_>) -> Approval {
    Approval {
        file: spec.origin.place.file.to_path_buf(),
        server: spec.name.to_string(),
        hash: spec.trust_hash(&seen(spec, values)),
    }
}

/// What an approval of a folder's settings is bound to: every byte of the file.
pub(super) fn settings_approval(file: &Path, text: &str) -> Approval {
    let hash = fingerprint(&[&file.to_string_lossy(), text]);
    Approval { file: file.to_owned(), server: "kitbag.toml".to_owned(), hash }
}

/// The variables of the working folder's `.env`.
pub(super) fn dot_env(
    files: &mut Files<'_>,
    env: &Env,
    limits: &Limits,
) -> (BTreeMap<String, String>, Option<Fault>) {
    let file = env.cwd().join(".env");
    if file.is_dir() {
        files.stamps.note(&file);
        return (BTreeMap::new(), None); // Some keep a virtual environment under this name.
    }
    let (text, fault) = files.kept_text(&file, limits);
    // Odd lines of a file that is mostly about other things are not our business.
    let values = text.map(|text| env_servers::dot_env(&Arc::from(file.as_path()), &text).0);
    (values.into_iter().flatten().collect(), fault)
}
