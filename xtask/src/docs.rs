//! Docs that the program can print itself are generated, so that they cannot drift from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, anyhow, bail};

use crate::{Usage, shell};

mod config;
mod errors;

const PAGES: &[Page] = &[
    Page {
        file: "docs/config.md",
        command: &["config", "--schema"],
        form: Form::Section { name: "settings", render: config::settings },
    },
    Page {
        file: "docs/config.md",
        command: &["config", "--keys"],
        form: Form::Section { name: "entries", render: config::entries },
    },
    Page {
        file: "docs/config.md",
        command: &["limits", "--json"],
        form: Form::Section { name: "limits", render: config::limits },
    },
    Page { file: "docs/kitbag.schema.json", command: &["config", "--schema"], form: Form::Whole },
    Page {
        file: "docs/json.md",
        command: &["errors", "--json"],
        form: Form::Section { name: "kinds", render: errors::kinds },
    },
    Page {
        file: "docs/json.md",
        command: &["errors", "--json"],
        form: Form::Section { name: "reasons", render: errors::reasons },
    },
    Page {
        file: "README.md",
        command: &["errors", "--json"],
        form: Form::Section { name: "exit codes", render: errors::exit_codes },
    },
    Page {
        file: "docs/json.md",
        command: &["config", "--codes"],
        form: Form::Section { name: "codes", render: |printed| Ok(printed.to_owned()) },
    },
];

/// The folder with a page for each error code.
const ERRORS: &str = "docs/errors";

/// A generated file, or a section of one, and the `kitbag` command that prints it.
struct Page {
    file: &'static str,
    command: &'static [&'static str],
    form: Form,
}

/// How what the command prints becomes the page.
enum Form {
    /// It is the page.
    Whole,
    /// It is rendered between `<!-- generated: name -->` and `<!-- end -->`.
    Section { name: &'static str, render: fn(&str) -> anyhow::Result<String> },
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    let act = match words[..] {
        [] => write,
        ["--check"] => compare,
        _ => bail!(Usage("usage: cargo xtask docs [--check]".into())),
    };
    for page in PAGES {
        let text = printed(page.command)?;
        let file = shell::root().join(page.file);
        let text = page.form.page(&file, text).with_context(|| page.file)?;
        act(&file, &text).with_context(|| page.file)?;
    }
    let pages = errors::pages(&printed(&["errors", "--json"])?)?;
    for (name, text) in &pages {
        let file = Path::new(ERRORS).join(name);
        act(&shell::root().join(&file), text).with_context(|| file.display().to_string())?;
    }
    only(&shell::root().join(ERRORS), &pages)?;
    if words.is_empty() { write_hostile() } else { Ok(()) }
}

/// What a `kitbag` command prints.
fn printed(command: &[&str]) -> anyhow::Result<String> {
    static BUILT: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
        let built = shell::build(&["--bin", "kitbag"]).and_then(|()| shell::target());
        built.map(|target| target.join("debug/kitbag")).map_err(|error| format!("{error:#}"))
    });
    let program = BUILT.as_ref().map_err(|error| anyhow!("{error}"))?;
    let mut kitbag = Command::new(program);
    kitbag.current_dir(shell::root());
    let text = shell::read(kitbag.args(command))?;
    if text.trim().is_empty() {
        bail!("`kitbag {}` printed nothing", command.join(" "));
    }
    Ok(text)
}

/// Refuses files that belong to no page: the code of a page that is left over does not exist any more.
fn only(folder: &Path, pages: &[(String, String)]) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        if !pages.iter().any(|(name, _)| file == name.as_str()) {
            bail!("{ERRORS}/{} is the page of no code: remove it", file.display());
        }
    }
    Ok(())
}

/// `docs/hostile.md` is what happens with every fault of the fake server. The test that compares it also writes it, so
/// `--check` has nothing to add.
fn write_hostile() -> anyhow::Result<()> {
    let test = "live::hostile_table::every_hostile_behaviour_is_what_the_table_says";
    let mut cargo = shell::cargo(&["test", "--quiet", "--workspace", "--test", "it"]);
    shell::run(cargo.args(["--", "--exact", test]).env("KITBAG_WRITE_DOCS", "1"))
}

impl Form {
    /// The whole page with what was printed in its place.
    fn page(&self, file: &Path, printed: String) -> anyhow::Result<String> {
        match self {
            Self::Whole => Ok(printed),
            Self::Section { name, render } => {
                let kept = fs::read_to_string(file)?;
                with_section(&kept, name, &render(&printed)?)
            }
        }
    }
}

/// A page with another text in one of its sections.
fn with_section(page: &str, name: &str, text: &str) -> anyhow::Result<String> {
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = page.split_once(&begin).with_context(|| format!("no line {}", begin.trim()))?;
    let (_, after) = rest.split_once("<!-- end -->").context("no line <!-- end -->")?;
    Ok(format!("{before}{begin}{text}<!-- end -->{after}"))
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
