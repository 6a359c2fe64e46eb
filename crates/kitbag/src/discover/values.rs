//! Where the values of references come from.

use std::collections::BTreeMap;
use std::path::Path;

use kitbag_core::model::{Folder, Lookup, Piece, input_variable};
use kitbag_core::{Secret, ServerSpec};

use crate::Env;

/// Values for the references of one server.
pub struct Values<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Variables of the working folder's `.env`, for servers of that folder only.
    pub dot_env: &'a BTreeMap<String, String>,
    /// Answers given before.
    pub inputs: &'a dyn Fn(&str) -> Option<Secret>,
    /// The file the server stands in.
    pub file: &'a Path,
}

impl Lookup for Values<'_> {
    fn var(&self, name: &str) -> Option<String> {
        self.env.get(name).map(str::to_owned).or_else(|| self.dot_env.get(name).cloned())
    }

    fn input(&self, id: &str) -> Option<Secret> {
        self.env.filled(&input_variable(id)).map(Secret::new).or_else(|| (self.inputs)(id))
    }

    fn folder(&self, folder: Folder) -> Option<String> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        match folder {
            Folder::Workspace => text(self.env.cwd()),
            Folder::WorkspaceName => self.env.cwd().file_name()?.to_str().map(str::to_owned),
            Folder::Home => self.env.home().and_then(text),
            Folder::Plugin => self.file.parent().and_then(text),
        }
    }
}

/// What the working folder's `.env` gives to the references of a server: part of what an approval covers.
pub(crate) fn seen(
    spec: &ServerSpec,
    env: &Env,
    dot_env: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let templates = spec.templates();
    let names =
        templates.iter().flat_map(|(_, template)| template.pieces()).filter_map(|piece| match piece {
            Piece::Var { name, .. } if env.get(name).is_none() => Some(name),
            _ => None,
        });
    let mut seen: Vec<(String, String)> =
        names.filter_map(|name| Some((name.clone(), dot_env.get(name)?.clone()))).collect();
    seen.sort();
    seen.dedup();
    seen
}
