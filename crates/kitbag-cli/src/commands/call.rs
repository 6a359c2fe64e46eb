//! `kitbag call`: one tool, called once.

use std::io::Read as _;

use kitbag::connect::Call;
use kitbag::kit::could_have;
use kitbag::text::visible;
use kitbag::{FindError, Found, Kitbag, Options, ServerName};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;

const EXAMPLES: &str = "\
Examples:
  kitbag call mcp_time_get_current_time timezone=Europe/Berlin
  kitbag call time/get_current_time --args '{\"timezone\": \"UTC\"}'
A value is taken as the tool's schema says; what is no text there is read as JSON.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The tool: its shown name, server/tool, or its own name when only one server has it
    tool: String,
    /// Arguments
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Arguments as a JSON object; - reads them from standard input
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let base = base(args)?;
    let setup = context.setup()?;
    if !setup.switched_on {
        return Err(Failure::new(Exit::Unavailable, live::OFF.0).hint(live::OFF.1));
    }
    let wait = context.global.wait.unwrap_or(setup.limits.wait_agent);
    live::block_on(async {
        // A server that cannot have the tool need not be started.
        let names: Vec<ServerName> = setup.used().map(|spec| spec.name.clone()).collect();
        let only = could_have(names.iter(), &args.tool);
        let kit = Kitbag::start(setup, Options { only: Some(only), ..Options::default() });
        let outcome = once(context, &kit, args, base, wait).await;
        kit.close().await;
        outcome
    })
}

async fn once(
    context: &mut Context,
    kit: &Kitbag,
    args: &Args,
    base: Map<String, Value>,
    wait: std::time::Duration,
) -> Result<Exit, Failure> {
    let found = kit.find(&args.tool, wait).await.map_err(not_found)?;
    let arguments = arguments(base, &args.pairs, &found)?;
    let arguments = to_raw_value(&arguments).map_err(|error| Failure::new(Exit::Bug, error.to_string()))?;
    let call = Call::new(found.tool.as_str(), &arguments);
    match kit.call(&found.server, call).await {
        Ok(reply) => {
            let result: Value = serde_json::from_str(reply.result.get()).unwrap_or_default();
            let failed = result["isError"].as_bool().unwrap_or(false);
            let meta = json!({"server": found.server.as_str(), "tool": found.tool.as_str(), "duration_ms": reply.took.as_millis() as u64, "retries": reply.retries});
            show(context, &result, failed, &meta);
            Ok(if failed { Exit::ToolError } else { Exit::Done })
        }
        Err(error) => {
            if context.global.json {
                let meta = json!({"server": error.server.as_str(), "tool": error.tool, "code": error.code});
                context.print_json(&json!({"ok": false, "kind": error.kind.as_str(), "content": [], "structured": null, "is_error": true, "message": error.message, "meta": meta}));
            }
            let failure = Failure::new(
                error.kind.into(),
                format!("{} ({}): {}", error.server, error.kind.as_str(), error.message),
            );
            Err(failure.hint(format!("kitbag logs {}", error.server)))
        }
    }
}

fn not_found(error: FindError) -> Failure {
    let failure = Failure::new(Exit::NotFound, error.to_string());
    match error {
        FindError::NotFound { near: Some(near), .. } => failure.hint(format!("kitbag call {near}")),
        FindError::NotFound { away, .. } if !away.is_empty() => {
            // The tool may well be one of a server that did not answer.
            let message = format!("{}; not connected: {}", failure.message, away.join("; "));
            Failure::new(Exit::Unavailable, message).hint("kitbag status")
        }
        FindError::NotFound { .. } => failure.hint("kitbag tools"),
        FindError::Ambiguous { .. } => failure.hint("use one of these names"),
    }
}

/// Arguments given as JSON.
fn base(args: &Args) -> Result<Map<String, Value>, Failure> {
    let wrong = |why: String| {
        Failure::new(Exit::InvalidArguments, format!("--args {why}")).hint("--args '{\"key\": \"value\"}'")
    };
    let Some(text) = &args.args else { return Ok(Map::new()) };
    let mut given = text.clone();
    if text == "-" {
        given.clear();
        std::io::stdin()
            .lock()
            .take(64 << 20)
            .read_to_string(&mut given)
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
    }
    match serde_json::from_str(&given) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(wrong("must be a JSON object".to_owned())),
        Err(error) => Err(wrong(format!("is not valid JSON: {error}"))),
    }
}

/// `key=value` pairs on top, each by what the tool's schema says about it.
fn arguments(
    mut base: Map<String, Value>,
    pairs: &[String],
    found: &Found,
) -> Result<Map<String, Value>, Failure> {
    let definition: Value = serde_json::from_str(found.raw.raw.get()).unwrap_or_default();
    for pair in pairs {
        if let Ok(Value::Object(map)) = serde_json::from_str(pair) {
            base.extend(map);
            continue;
        }
        let Some((key, text)) = pair.split_once('=') else {
            let failure = Failure::new(Exit::InvalidArguments, format!("{pair:?} is not key=value"));
            return Err(failure.hint(format!("{pair}=…, or --args '{{…}}'")));
        };
        let kind = &definition["inputSchema"]["properties"][key]["type"];
        let is_text =
            kind == "string" || kind.as_array().is_some_and(|kinds| kinds.contains(&"string".into()));
        let parsed = serde_json::from_str(text).ok().filter(|_| !is_text);
        base.insert(key.to_owned(), parsed.unwrap_or_else(|| text.into()));
    }
    Ok(base)
}

fn show(context: &mut Context, result: &Value, failed: bool, meta: &Value) {
    if context.global.json {
        let kind = if failed { json!("tool_error") } else { Value::Null };
        context.print_json(&json!({
            "ok": !failed, "kind": kind, "content": result["content"], "structured": result["structuredContent"], "is_error": failed, "meta": meta,
        }));
        return;
    }
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    for block in &blocks {
        let text = match block["text"].as_str() {
            Some(text) => text.split('\n').map(visible).collect::<Vec<_>>().join("\n"),
            None => format!("[{}]", block["type"].as_str().unwrap_or("block")),
        };
        context.print(text + "\n");
    }
    if blocks.is_empty() && !result["structuredContent"].is_null() {
        context.print_json(&result["structuredContent"]);
    }
}
