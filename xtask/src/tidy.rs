//! The rules of the house that no lint knows, checked by machine so that nobody has to remember them. A test
//! runs them on the workspace itself.

use std::fmt;
use std::path::Path;

use anyhow::bail;

use crate::files::{self, File};
use crate::{Usage, shell};

mod check_rows;
mod dialects;
mod forbidden;
mod machine;
mod mask;
mod module_docs;
mod paths;
mod pins;
mod rust;
mod settings_rows;
mod size;
mod stages;
mod type_names;
mod variables;
mod waits;
mod words;

use rust::RustFile;

/// One check per file of this folder.
const CHECKS: &[fn(&House) -> Vec<Finding>] = &[
    size::check,
    module_docs::check,
    stages::check,
    forbidden::check,
    dialects::check,
    pins::check,
    type_names::check,
    words::check,
    variables::check,
    machine::check,
    check_rows::check,
    settings_rows::check,
    waits::check,
];

/// Everything the checks look at, read once.
struct House {
    files: Vec<File>,
    rust: Vec<RustFile>,
}

/// One place that breaks a rule, or comes near it.
#[derive(Debug)]
struct Finding {
    file: String,
    line: usize,
    weight: Weight,
    text: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Weight {
    /// Worth a look; nothing fails.
    Note,
    Fail,
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!(Usage("usage: cargo xtask tidy".into()));
    }
    let findings = look(shell::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.iter().filter(|finding| finding.weight == Weight::Fail).count() {
        0 => Ok(()),
        count => bail!("{count} to fix"),
    }
}

fn look(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let house = House::new(files::load(root)?);
    Ok(CHECKS.iter().flat_map(|check| check(&house)).collect())
}

impl House {
    fn new(files: Vec<File>) -> Self {
        let rust = files.iter().filter(|file| file.path.ends_with(".rs")).map(RustFile::new).collect();
        Self { files, rust }
    }

    /// A house of one file, for the checks' own tests.
    #[cfg(test)]
    fn of(path: &str, text: &str) -> Self {
        Self::new(vec![File { path: path.into(), text: text.into() }])
    }
}

impl Finding {
    fn fail(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.into(), line, weight: Weight::Fail, text: text.into() }
    }

    fn note(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { weight: Weight::Note, ..Self::fail(file, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = if self.weight == Weight::Note { "note: " } else { "" };
        write!(f, "{weight}{}:{}: {}", self.file, self.line, self.text)
    }
}

#[cfg(test)]
mod tests;
