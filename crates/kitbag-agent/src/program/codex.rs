//! Codex. Measured with 0.169.0: `-c` adds to the user's configuration, so our entry has a name nobody else uses; tools stand
//! in a namespace of their server; calls without approval fail, and the program ends with 0.

use serde_json::Value;

use super::ProgramError;
use super::dialect::{Dialect, Launch, Order, Output};
use super::telling::{Telling, text};

/// Our entry.
const ENTRY: &str = "kitbag-run";
const TOKEN: &str = "KITBAG_RUN_TOKEN";

pub(super) static CODEX: Dialect = Dialect {
    word: "codex",
    install: "npm install -g @openai/codex",
    prefix: "",
    about_names: "These tools are in the namespace mcp__kitbag_run.\n",
    longest: 64,
    variables: &["OPENAI_", "CODEX_", "AZURE_OPENAI_"],
    launch,
    output: Output::Events(read),
};

fn launch(order: &Order<'_>) -> Result<Launch, ProgramError> {
    if order.steps.is_some() {
        return Err(ProgramError::NoStepLimit { program: CODEX.word.to_owned() });
    }
    let set = |key: &str, value: Value| format!("mcp_servers.{ENTRY}.{key}={value}");
    let first = if order.words.iter().any(|word| word == "exec") { &[][..] } else { &["exec"][..] };
    Ok(Launch::new(first)
        .words(order)
        .flag("--json")
        .value("-c", set("url", order.endpoint.url.clone().into()))
        .value("-c", set("bearer_token_env_var", TOKEN.into()))
        .value("-c", set("default_tools_approval_mode", "approve".into()))
        .value("-c", set("tool_timeout_sec", order.call_seconds().into()))
        .given("--model", order.model)
        .flag("-")
        .env(TOKEN, order.endpoint.token.expose()))
}

fn read(event: &Value, told: &mut Telling) {
    let item = &event["item"];
    let id = text(&item["id"]);
    match (text(&event["type"]), text(&item["type"])) {
        ("item.completed", "agent_message") => told.say(text(&item["text"])),
        ("item.completed", "reasoning") => told.reason(text(&item["text"])),
        ("item.completed", "error") => told.remark(text(&item["message"])),
        ("item.started", kind) if is_call(kind) => told.call(id, &tool(item), &arguments(item)),
        ("item.completed", kind) if is_call(kind) => {
            // Some are told only once they are over.
            told.call(id, &tool(item), &arguments(item));
            let (said, is_error) = result(item);
            told.result(id, &said, is_error);
            if is_denied(item) {
                told.denied(&tool(item), &said);
            }
        }
        ("turn.completed", _) => {
            let count = |key: &str| event["usage"][key].as_u64().unwrap_or_default();
            told.usage(count("input_tokens"), count("cached_input_tokens"), count("output_tokens"));
        }
        ("turn.failed", _) => told.failed(text(&event["error"]["message"])),
        ("error", _) => told.failed(text(&event["message"])),
        _ => {}
    }
}

fn is_call(kind: &str) -> bool {
    matches!(kind, "mcp_tool_call" | "command_execution" | "file_change" | "web_search")
}

/// As its model called it, as far as that is told.
fn tool(item: &Value) -> String {
    match (text(&item["type"]), text(&item["server"])) {
        ("mcp_tool_call", ENTRY) => text(&item["tool"]).to_owned(),
        ("mcp_tool_call", server) => format!("{server}.{}", text(&item["tool"])),
        (kind, _) => kind.to_owned(),
    }
}

fn arguments(item: &Value) -> String {
    let keys = ["arguments", "command", "changes", "query"];
    keys.iter().find_map(|key| item.get(*key)).map(Value::to_string).unwrap_or_default()
}

fn result(item: &Value) -> (String, bool) {
    let is_error = matches!(text(&item["status"]), "failed" | "declined");
    let said = match text(&item["type"]) {
        "mcp_tool_call" if item["error"].is_object() => text(&item["error"]["message"]).to_owned(),
        "mcp_tool_call" => super::telling::blocks(&item["result"]["content"]),
        _ => text(&item["aggregated_output"]).to_owned(),
    };
    (said, is_error)
}

fn is_denied(item: &Value) -> bool {
    let why = text(&item["error"]["message"]);
    let is_refused = ["requires approval", "user cancelled MCP tool call", "user rejected MCP tool call"];
    text(&item["status"]) == "declined" || is_refused.iter().any(|words| why.contains(words))
}
