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

fn rows(printed: &str, key: &str) -> anyhow::Result<Vec<Value>> {
    let printed: Value = serde_json::from_str(printed)?;
    printed[key].as_array().cloned().with_context(|| format!("`kitbag errors --json` prints no {key}"))
}
