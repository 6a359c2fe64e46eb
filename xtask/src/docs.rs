//! Docs that the program can print itself are generated, so that they cannot drift from it.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use crate::{Usage, shell};

const PAGES: &[Page] = &[Page { file: "docs/kitbag.schema.json", command: &["config", "--schema"] }];

/// A generated file and the `kitbag` command that prints it.
struct Page {
    file: &'static str,
    command: &'static [&'static str],
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    let act = match words[..] {
        [] => write,
        ["--check"] => compare,
        _ => bail!(Usage("usage: cargo xtask docs [--check]".into())),
    };
    for page in PAGES {
        let mut kitbag = shell::cargo(&["run", "--quiet", "--package", "kitbag-cli", "--"]);
        let text = shell::read(kitbag.args(page.command))?;
        if text.trim().is_empty() {
            bail!("`kitbag {}` printed nothing for {}", page.command.join(" "), page.file);
        }
        act(&shell::root().join(page.file), &text).with_context(|| page.file)?;
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(file, text)?)
}

fn compare(file: &Path, text: &str) -> anyhow::Result<()> {
    let kept = fs::read_to_string(file).unwrap_or_default();
    if kept != text {
        bail!("missing or out of date, run `cargo xtask docs` and commit the result");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
