//! Kitbag beside the programs whose files it reads and writes, as they are installed: what they write is read right,
//! what is written for them is read right by them, and what is taken over from them works.

mod agents;
mod exported;
pub(crate) mod host;
mod imported;
mod served;
mod written;

use serde_json::Value;

#[test]
fn f57_the_docs_name_the_versions_that_are_installed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let text = |file: &str| std::fs::read_to_string(format!("{root}/{file}")).unwrap();
    let package: Value = serde_json::from_str(&text("testdata/hosts/npm/package.json")).unwrap();
    let docs = text("docs/hosts.md");
    let version = |name: &str| package["dependencies"][name].as_str().unwrap().to_owned();
    for (title, name) in [
        ("Claude Code", "@anthropic-ai/claude-code"),
        ("Codex", "@openai/codex"),
        ("Gemini CLI", "@google/gemini-cli"),
        ("Qwen Code", "@qwen-code/qwen-code"),
    ] {
        let row = format!("| {title} | {} |", version(name));
        assert!(docs.contains(&row), "docs/hosts.md has no {row:?}");
    }
}
