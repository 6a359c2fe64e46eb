//! The kinds of errors, the exit codes and the reasons, as `kitbag errors --json` prints them, for the docs.

use anyhow::Context;
use serde_json::Value;

/// The width of a line.
const WIDTH: usize = 118;

/// A table of the kinds.
pub(super) fn kinds(printed: &str) -> anyhow::Result<String> {
    let mut text = "| `kind` | exit code | delivered | meaning |\n|---|---|---|---|\n".to_owned();
    for row in rows(printed, "kinds")? {
        let word = |key: &str| row[key].as_str().with_context(|| format!("no {key} in {row}"));
        let line = format!(
            "| `{}` | {} | {} | {} |\n",
            word("kind")?,
            row["exit"],
            word("delivered")?,
            word("meaning")?
        );
        text.push_str(&line);
    }
    Ok(text)
}

/// A table of the reasons why a server cannot be used.
pub(super) fn reasons(printed: &str) -> anyhow::Result<String> {
    let mut text = "| `class` | `kind` | meaning |\n|---|---|---|\n".to_owned();
    for row in rows(printed, "reasons")? {
        let word = |key: &str| row[key].as_str().with_context(|| format!("no {key} in {row}"));
        text.push_str(&format!("| `{}` | `{}` | {} |\n", word("class")?, word("kind")?, word("meaning")?));
    }
    Ok(text)
}

/// The exit codes in a few lines.
pub(super) fn exit_codes(printed: &str) -> anyhow::Result<String> {
    let mut lines = vec![String::new()];
    let rows = rows(printed, "exit_codes")?;
    for (at, row) in rows.iter().enumerate() {
        let meaning = row["meaning"].as_str().with_context(|| format!("no meaning in {row}"))?;
        let end = if at + 1 < rows.len() { " ·" } else { "" };
        for word in format!("{} {meaning}{end}", row["exit"]).split(' ') {
            let line = lines.last_mut().context("there is a line")?;
            let is_full = WIDTH < line.chars().count() + 1 + word.chars().count();
            match line.is_empty() {
                _ if is_full => lines.push(word.to_owned()),
                true => line.push_str(word),
                false => line.extend([" ", word]),
            }
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// The name and text of every file of `docs/errors`: the index, and one page for each code.
pub(super) fn pages(printed: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut index = "# Error codes\n\nEvery error and warning shows its code, as in `error[missing_program]: …`, and with \
                     `--json` under `code`.\n`kitbag errors <code>` prints the same in the terminal.\n\n\
                     | code | meaning |\n|---|---|\n"
        .to_owned();
    let mut rows = rows(printed, "codes")?;
    rows.sort_by_key(|row| row["code"].to_string());
    let mut pages = Vec::new();
    for row in &rows {
        let word = |key: &str| row[key].as_str().with_context(|| format!("no {key} in {row}"));
        let code = word("code")?;
        let meanings = row["meanings"].as_array().into_iter().flatten();
        let meanings: Vec<&str> = meanings.filter_map(|meaning| meaning["meaning"].as_str()).collect();
        let first = meanings.first().with_context(|| format!("no meaning in {row}"))?;
        index.push_str(&format!("| [`{code}`]({code}.md) | {first} |\n"));
        let page = format!(
            "# `{code}`\n\n{}\n\n## Cause\n\n{}\n\n## Fix\n\n{}\n\n## Example\n\n```text\n{}\n```\n\n[All codes](README.md)\n",
            meanings.join("\n\n"),
            word("cause")?,
            word("fix")?,
            word("example")?,
        );
        pages.push((format!("{code}.md"), page));
    }
    pages.push(("README.md".to_owned(), index));
    Ok(pages)
}

fn rows(printed: &str, key: &str) -> anyhow::Result<Vec<Value>> {
    let printed: Value = serde_json::from_str(printed)?;
    printed[key].as_array().cloned().with_context(|| format!("`kitbag errors --json` prints no {key}"))
}
