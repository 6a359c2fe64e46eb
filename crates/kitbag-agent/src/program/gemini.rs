//! Gemini CLI. Measured with 0.61.0: it takes servers from settings files alone, and system settings only from root. So a run
//! has a home for settings of its own, in which everything but the settings is a link to the user's: sign-in, trusted folders
//! and memory stay what they are.

use std::path::{Path, PathBuf};

use kitbag::Env;
use serde_json::{Value, json};

use super::ProgramError;
use super::dialect::{Dialect, Launch, Order, Output};
use super::telling::{Telling, text};

/// Our entry: a project's own settings may have a `kitbag`, and would come before it.
const ENTRY: &str = "kitbag-run";
const HOME: &str = "GEMINI_CLI_HOME";
const SETTINGS: &str = "settings.json";

pub(super) static GEMINI: Dialect = Dialect {
    word: "gemini",
    install: "npm install -g @google/gemini-cli",
    prefix: "mcp_kitbag-run_",
    about_names: "",
    longest: 63 - "mcp_kitbag-run_".len(),
    variables: &["GEMINI_", "GOOGLE_"],
    launch,
    output: Output::Events(read),
};

fn launch(order: &Order<'_>) -> Result<Launch, ProgramError> {
    let theirs = home(order.env).map(|home| home.join(".gemini"));
    let ours = Path::new(".gemini");
    order.folder.add(ours)?;
    if let Some(theirs) = &theirs {
        order.folder.link_all(theirs, ours, SETTINGS)?;
        order.folder.link(&theirs.with_file_name(".env"), Path::new(".env"))?;
    }
    let text = theirs.and_then(|theirs| std::fs::read_to_string(theirs.join(SETTINGS)).ok());
    let mut settings = text.as_deref().map_or_else(|| json!({}), settings);
    let entry = json!({
        "httpUrl": order.endpoint.url, "headers": {"Authorization": order.bearer()}, "trust": true,
        "timeout": order.call_seconds() * 1000,
    });
    settings["mcpServers"] = json!({ENTRY: entry});
    if let Some(steps) = order.steps {
        match settings["model"].as_object_mut() {
            Some(model) => drop(model.insert("maxSessionTurns".to_owned(), steps.into())),
            None => settings["model"] = json!({"maxSessionTurns": steps}),
        }
    }
    order.folder.write(&ours.join(SETTINGS), &settings.to_string())?;
    Ok(Launch::default()
        .words(order)
        .value("--allowed-mcp-server-names", ENTRY)
        .value("--output-format", "stream-json")
        .unless(&["--approval-mode", "--yolo", "-y"], order, "--approval-mode", "default")
        .given("--model", order.model)
        .env(HOME, order.folder.path().to_string_lossy()))
}

/// Whose settings they are.
fn home(env: &Env) -> Option<PathBuf> {
    env.filled(HOME).map(PathBuf::from).or_else(|| env.home().map(Path::to_owned))
}

/// Settings that cannot be read are none, as for the program itself, which says so.
fn settings(text: &str) -> Value {
    let read = serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_comments(text)));
    read.ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
}

/// JSON as people write it into settings.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let skipped = match rest.get(..2) {
            Some("//") => rest.find('\n').unwrap_or(rest.len()),
            Some("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            _ => 0,
        };
        if 0 < skipped {
            rest = &rest[skipped..];
            continue;
        }
        let taken = if first == '"' { string(rest) } else { first.len_utf8() };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// How long the string is that a text begins with.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn read(event: &Value, told: &mut Telling) {
    let id = text(&event["tool_id"]);
    match text(&event["type"]) {
        "message" if event["role"] == "assistant" => told.say(text(&event["content"])),
        "tool_use" => told.call(id, text(&event["tool_name"]), &event["parameters"].to_string()),
        "tool_result" => {
            let (error, output) = (&event["error"], text(&event["output"]));
            let said = if output.is_empty() { text(&error["message"]) } else { output };
            let tool = told.result(id, said, event["status"] == "error");
            if error["type"] == "policy_violation" {
                told.denied(&tool, said);
            }
        }
        "error" if event["severity"] == "error" => told.failed(text(&event["message"])),
        "result" => {
            let count = |key: &str| event["stats"][key].as_u64().unwrap_or_default();
            told.usage(count("input_tokens"), count("cached"), count("output_tokens"));
            if event["status"] == "error" {
                told.failed(text(&event["error"]["message"]));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
