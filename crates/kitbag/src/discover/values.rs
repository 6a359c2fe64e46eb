//! Where the values of references come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::config::env::dot_env;
use kitbag_core::model::{Folder, Link, Lookup, Piece, Seen, input_variable};
use kitbag_core::{Fault, Secret, ServerSpec};

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
    pub(crate) env_files: &'a EnvFiles,
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

    fn env_file(&self, path: &str) -> Result<Vec<(String, Secret)>, String> {
        let file = self.env.path(path, self.env.cwd());
        let text = self.env_files.text(&file)?;
        let (variables, _) = dot_env(&Arc::from(file.as_path()), text);
        Ok(variables.into_iter().map(|(name, value)| (name, Secret::new(value))).collect())
    }
}

/// Files of variables, each read once: what was read is what is approved, shown and used.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct EnvFiles(BTreeMap<PathBuf, Result<Arc<str>, String>>);

impl EnvFiles {
    /// Whether a file was read already.
    pub(crate) fn has(&self, file: &Path) -> bool {
        self.0.contains_key(file)
    }

    /// Takes over what was read of a file: its text, or why there is none.
    pub(crate) fn add(&mut self, file: PathBuf, text: Option<Arc<str>>, fault: Option<&Fault>) {
        let read = text.ok_or_else(|| match fault {
            Some(fault) => format!("{} {}", file.display(), fault.message),
            None => format!("{} does not exist", file.display()),
        });
        self.0.insert(file, read);
    }

    fn text(&self, file: &Path) -> Result<&str, String> {
        match self.0.get(file) {
            Some(Ok(text)) => Ok(text),
            Some(Err(why)) => Err(why.clone()),
            None => Err(format!("{} was not read", file.display())),
        }
    }
}

/// The variables in it may be secrets.
impl std::fmt::Debug for EnvFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The path of a server's file of variables, if it names one and the name has a value here.
pub(crate) fn env_file(spec: &ServerSpec, values: &Values<'_>) -> Option<PathBuf> {
    let Link::Stdio(program) = &spec.link else { return None };
    let path = program.env_file.as_ref()?.resolve(values).ok()?;
    Some(values.env.path(&path, values.env.cwd()))
}

/// What other files give to a server: the variables of the working folder's `.env` that its references take, and
/// the text of its file of variables.
pub(crate) fn seen(spec: &ServerSpec, values: &Values<'_>) -> Seen {
    let templates = spec.templates();
    let names =
        templates.iter().flat_map(|(_, template)| template.pieces()).filter_map(|piece| match piece {
            Piece::Var { name, .. } if values.env.get(name).is_none() => Some(name),
            _ => None,
        });
    let mut variables: Vec<(String, String)> =
        names.filter_map(|name| Some((name.clone(), values.dot_env.get(name)?.clone()))).collect();
    variables.sort();
    variables.dedup();
    let env_file = env_file(spec, values).map(|file| match values.env_files.text(&file) {
        Ok(text) => text.to_owned(),
        // Approved while it could not be read, it is another thing once it can be.
        Err(_) => String::new(),
    });
    Seen { variables, env_file }
}
