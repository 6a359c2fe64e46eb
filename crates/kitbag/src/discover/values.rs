//! Where the values of references come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::config::env::dot_env;
use kitbag_core::model::{ConfigFolder, Input, Piece, Seen, ServerTarget, ValueSource, input_variable};
use kitbag_core::{Fault, Secret, ServerSpec};

use crate::Env;

/// Values for the references of one server.
pub struct ReferenceValues<'a> {
    /// The environment.
    pub env: &'a Env,
    /// The folder that the server's file belongs to: the project's for a file of the project, else the working folder.
    pub workspace: &'a Path,
    /// Variables of that folder's `.env`, for servers of the project only.
    pub dot_env: &'a BTreeMap<String, String>,
    /// Answers given before.
    pub inputs: &'a dyn Fn(&str) -> Option<Secret>,
    /// The file the server stands in.
    pub file: &'a Path,
    pub(crate) env_files: &'a EnvFiles,
}

impl ValueSource for ReferenceValues<'_> {
    fn var(&self, name: &str) -> Option<String> {
        self.env.get(name).map(str::to_owned).or_else(|| self.dot_env.get(name).cloned())
    }

    fn input(&self, id: &str) -> Option<Secret> {
        self.env.filled(&input_variable(id)).map(Secret::new).or_else(|| (self.inputs)(id))
    }

    fn folder(&self, folder: ConfigFolder) -> Option<String> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        match folder {
            ConfigFolder::Workspace => text(self.workspace),
            ConfigFolder::WorkspaceName => self.workspace.file_name()?.to_str().map(str::to_owned),
            ConfigFolder::Home => self.env.home().and_then(text),
            ConfigFolder::Plugin => self.file.parent().and_then(text),
        }
    }

    fn env_file(&self, path: &str) -> Result<Vec<(String, Secret)>, String> {
        let file = self.env.path(path, self.workspace);
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
pub(crate) fn env_file(spec: &ServerSpec, values: &ReferenceValues<'_>) -> Option<PathBuf> {
    let ServerTarget::Stdio(program) = &spec.link else { return None };
    let path = program.env_file.as_ref()?.resolve(values).ok()?;
    Some(values.env.path(&path, values.workspace))
}

/// What an input stands for while nobody answered: the default among its choices. A text that anybody may write has no
/// such value, its default is only offered.
pub(crate) fn chosen<'a>(spec: &'a ServerSpec, id: &str) -> Option<&'a str> {
    let input = spec.inputs.iter().find(|input| input.id == id)?;
    input.default.as_deref().filter(|default| input.options.iter().any(|option| option == default))
}

/// What other files give to a server: the variables of the working folder's `.env` that its references take, and
/// the text of its file of variables.
pub(crate) fn seen(spec: &ServerSpec, values: &ReferenceValues<'_>) -> Seen {
    let templates = spec.templates();
    let names =
        templates.iter().flat_map(|(_, template)| template.pieces()).filter_map(|piece| match piece {
            Piece::Var { name, .. } if values.env.get(name).is_none() => Some(name),
            _ => None,
        });
    let mut variables: Vec<(String, String)> =
        names.filter_map(|name| Some((name.clone(), values.dot_env.get(name)?.clone()))).collect();
    // A choice that the file makes for whoever is not asked decides what runs as well.
    let chosen = |input: &Input| Some((format!("input {}", input.id), chosen(spec, &input.id)?.to_owned()));
    variables.extend(spec.inputs.iter().filter_map(chosen));
    variables.sort();
    variables.dedup();
    let env_file = env_file(spec, values).map(|file| match values.env_files.text(&file) {
        Ok(text) => text.to_owned(),
        // Approved while it could not be read, it is another thing once it can be.
        Err(_) => String::new(),
    });
    Seen { variables, env_file }
}
