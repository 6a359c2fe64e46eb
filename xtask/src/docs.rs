//! Docs that the program can print itself are generated, so that they cannot drift from it.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use crate::{Usage, shell};

const PAGES: &[Page] = &[
    Page { file: "docs/kitbag.schema.json", command: &["config", "--schema"], extent: Extent::File },
    Page { file: "docs/json.md", command: &["config", "--codes"], extent: Extent::Section("codes") },
];

/// A generated text and the `kitbag` command that prints it.
struct Page {
    file: &'static str,
    command: &'static [&'static str],
    extent: Extent,
}

/// How much of a file is generated.
enum Extent {
    File,
    /// What stands between `<!-- name -->` and `<!-- /name -->`.
    Section(&'static str),
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
        let file = shell::root().join(page.file);
        let text = match page.extent {
            Extent::File => text,
            Extent::Section(name) => {
                let whole = fs::read_to_string(&file).with_context(|| page.file)?;
                with_section(&whole, name, &text).with_context(|| page.file)?
            }
        };
        act(&file, &text).with_context(|| page.file)?;
    }
    Ok(())
}

/// A text with another section of this name.
fn with_section(whole: &str, name: &str, section: &str) -> anyhow::Result<String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let parts = whole.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.with_context(|| format!("has no section {name}"))?;
    Ok(format!("{before}{begin}{section}{end}{after}"))
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
