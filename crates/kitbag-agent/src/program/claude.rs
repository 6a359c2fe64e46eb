//! Claude Code. Measured with 2.1.327: `--strict-mcp-config` leaves every other server out, the name of a server alone stands
//! for all its tools in `--allowedTools`, and what was refused is told by events while the program ends with 0.

use serde_json::json;

use super::dialect::{Dialect, Launch, Order, Output};
use super::{ProgramError, stream_json};

pub(super) static CLAUDE: Dialect = Dialect {
    word: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    prefix: "mcp__kitbag__",
    about_names: "",
    longest: 64 - "mcp__kitbag__".len(),
    variables: &[
        "ANTHROPIC_",
        "CLAUDE_",
        "AWS_",
        "GOOGLE_",
        "CLOUD_ML_",
        "VERTEX_",
        "DISABLE_",
        "BASH_",
        "MAX_",
    ],
    launch,
    output: Output::Events(stream_json::read),
};

fn launch(order: &Order<'_>) -> Result<Launch, ProgramError> {
    let headers = json!({"Authorization": order.bearer()});
    let file =
        order.servers("kitbag", json!({"type": "http", "url": order.endpoint.url, "headers": headers}))?;
    Ok(Launch::default()
        .words(order)
        .value("--output-format", "stream-json")
        .flag("--verbose")
        .value("--mcp-config", file)
        .flag("--strict-mcp-config")
        .value("--allowedTools", "mcp__kitbag")
        .unless(
            &["--permission-mode", "--dangerously-skip-permissions"],
            order,
            "--permission-mode",
            "default",
        )
        .given("--model", order.model)
        .given("--max-turns", order.steps)
        .flag("--print")
        .env("MCP_TOOL_TIMEOUT", (order.call_seconds() * 1000).to_string()))
}
