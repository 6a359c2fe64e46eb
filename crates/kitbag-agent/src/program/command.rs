//! Any other program: the prompt is its input, what it writes is its answer, and it finds its tools by variables.

use serde_json::json;

use super::ProgramError;
use super::dialect::{Dialect, Launch, Order, Output};

/// Where an argument stands for the configuration's file.
const PLACE: &str = "{mcp_config}";

pub(super) static COMMAND: Dialect = Dialect {
    word: "command",
    install: "",
    prefix: "",
    about_names: "",
    longest: 64,
    variables: &[],
    launch,
    output: Output::Text,
};

fn launch(order: &Order<'_>) -> Result<Launch, ProgramError> {
    if order.steps.is_some() {
        return Err(ProgramError::NoStepLimit { program: "this program".to_owned() });
    }
    let headers = json!({"Authorization": order.bearer()});
    let file =
        order.servers("kitbag", json!({"type": "http", "url": order.endpoint.url, "headers": headers}))?;
    let args = order.words.iter().map(|word| word.replace(PLACE, &file)).collect();
    let launch = Launch { args, env: Vec::new() }
        .env("KITBAG_URL", order.endpoint.url.clone())
        .env("KITBAG_TOKEN", order.endpoint.token.expose());
    let launch = match order.model {
        Some(model) => launch.env("KITBAG_MODEL", model),
        None => launch,
    };
    Ok(launch.env("KITBAG_MCP_CONFIG", file))
}
