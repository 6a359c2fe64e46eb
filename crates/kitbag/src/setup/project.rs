//! The working folder: what is in it is shown, and used only when somebody approved just that.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use kitbag_core::config::env as env_servers;
use kitbag_core::names::fingerprint;
use kitbag_core::{Fault, Limits, ServerSpec};

use crate::Env;
use crate::discover::{Values, seen, text_of};
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
pub(super) fn dot_env(env: &Env, limits: &Limits) -> (BTreeMap<String, String>, Vec<Fault>) {
    let file = env.cwd().join(".env");
    if file.is_dir() {
        return (BTreeMap::new(), Vec::new()); // Some keep a virtual environment under this name.
    }
    match text_of(&file, limits) {
        Err(fault) => (BTreeMap::new(), vec![*fault]),
        Ok(None) => (BTreeMap::new(), Vec::new()),
        Ok(Some(text)) => {
            // Odd lines of a file that is mostly about other things are not our business.
            let (values, _) = env_servers::dot_env(&Arc::from(file.as_path()), &text);
            (values.into_iter().collect(), Vec::new())
        }
    }
}
