//! Qwen Code. Measured with 0.24.4: what `--mcp-config` says comes before an entry of the same name in its settings, trust in
//! our entry approves just its tools, and without a flag it lets a model approve other tools.

use serde_json::json;

use super::dialect::{Dialect, Launch, Order, Output};
use super::{ProgramError, stream_json};

pub(super) static QWEN: Dialect = Dialect {
    word: "qwen",
    install: "npm install -g @qwen-code/qwen-code",
    prefix: "mcp__kitbag__",
    about_names: "",
    longest: 63 - "mcp__kitbag__".len(),
    variables: &[
        "QWEN_",
        "OPENAI_",
        "DASHSCOPE_",
        "BAILIAN_",
        "MODELSCOPE_",
        "OPENROUTER_",
        "ANTHROPIC_",
        "GEMINI_",
        "GOOGLE_",
    ],
    launch,
    output: Output::Events(stream_json::read),
};

fn launch(order: &Order<'_>) -> Result<Launch, ProgramError> {
    let entry = json!({
        "httpUrl": order.endpoint.url, "headers": {"Authorization": order.bearer()}, "trust": true,
        "timeout": order.call_seconds() * 1000,
    });
    let file = order.servers("kitbag", entry)?;
    Ok(Launch::default()
        .words(order)
        .value("--mcp-config", file)
        .value("--allowed-mcp-server-names", "kitbag")
        .value("--output-format", "stream-json")
        .unless(&["--approval-mode", "--yolo", "-y"], order, "--approval-mode", "default")
        .given("--model", order.model)
        .given("--max-session-turns", order.steps))
}
