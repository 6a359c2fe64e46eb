//! Which files belong to the project: what git tracks or would track, else what lies in the folder. Every
//! check reads this one list, so none of them looks into build output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

/// A text file of the project.
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every text file below `root`, sorted by path. What is not UTF-8 is left out: it has no lines to check.
pub(crate) fn load(root: &Path) -> anyhow::Result<Vec<File>> {
    let mut paths = match from_git(root) {
        Some(paths) => paths,
        None => from_walk(root)?,
    };
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let full = root.join(&path);
        // Git also lists what was deleted but not yet committed, and links.
        if !full.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            continue;
        }
        let bytes = fs::read(&full).with_context(|| format!("cannot read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File { path, text });
        }
    }
    Ok(files)
}

fn from_git(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let names = String::from_utf8(output.stdout).ok()?;
    Some(names.split_terminator('\0').map(str::to_owned).collect())
}

fn from_walk(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        // Cargo marks its target folder with this file.
        if full.ends_with(".git") || full.join("CACHEDIR.TAG").exists() {
            continue;
        }
        for entry in fs::read_dir(&full).with_context(|| format!("cannot list {}", full.display()))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if let Some(path) = path.to_str() {
                found.push(path.replace('\\', "/"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
