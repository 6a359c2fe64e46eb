//! `kitbag call`: one tool, called once.

use std::io::Read as _;

use kitbag::execute::{Block, Repair};
use kitbag::kit::{could_have, speaks_of};
use kitbag::names::lookup::Found;
use kitbag::schema::read_property;
use kitbag::text::visible;
use kitbag::{CallResult, ErrorKind, Intent, Kitbag, Options, ServerName};
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
    kit.wait_for(&args.tool, wait).await;
    let view = kit.local_view();
    let arguments = match view.find(&args.tool) {
        Found::One(index) => arguments(base, &args.pairs, view.at(index).map(|shown| &*shown.tool.input))?,
        // What is wrong with the name is said below, in the words everybody gets.
        _ => base,
    };
    let text = Value::Object(arguments).to_string();
    match kit.run(&view, Intent::new(&args.tool, &text)).await {
        Ok(result) => {
            show(context, &result);
            Ok(if result.is_error { Exit::ToolError } else { Exit::Done })
        }
        Err(failure) => Err(failed(context, kit, &args.tool, failure)),
    }
}

fn failed(context: &mut Context, kit: &Kitbag, name: &str, error: kitbag::Failure) -> Failure {
    if context.global.json {
        let meta = json!({"server": error.server.as_ref().map(ServerName::as_str), "tool": error.tool, "code": error.code});
        let repair = match error.repair.as_deref() {
            Some(Repair::Names(names)) => json!({"names": names}),
            Some(Repair::Schema(schema)) => json!({"schema": schema}),
            None => Value::Null,
        };
        context.print_json(&json!({"ok": false, "kind": error.kind.as_str(), "content": [], "structured": null, "is_error": true, "message": error.message, "repair": repair, "meta": meta}));
    }
    let snapshot = kit.snapshot();
    let away = snapshot.all_away().next().is_some();
    let meant = snapshot.all_away().any(|(server, _)| speaks_of(server, name));
    let (server, near) = (
        &error.server,
        match error.repair.as_deref() {
            Some(Repair::Names(names)) => names.first(),
            _ => None,
        },
    );
    let message = server.as_ref().map_or_else(
        || error.message.clone(),
        |server| format!("{server} ({}): {}", error.kind.as_str(), error.message),
    );
    match (error.kind, near) {
        // The tool may well be one of a server that did not answer.
        (ErrorKind::NotFound, near) if meant || away && near.is_none() => {
            Failure::new(Exit::Unavailable, message).hint("kitbag status")
        }
        (ErrorKind::NotFound, Some(near)) => {
            Failure::new(Exit::NotFound, message).hint(format!("kitbag call {near}"))
        }
        (ErrorKind::NotFound, None) => Failure::new(Exit::NotFound, message).hint("kitbag tools"),
        (ErrorKind::Ambiguous, _) => Failure::new(Exit::NotFound, message).hint("use one of these names"),
        (ErrorKind::InvalidArguments, _) => {
            Failure::new(Exit::InvalidArguments, message).hint("kitbag show, which prints what it takes")
        }
        (kind, _) => {
            let log = server
                .as_ref()
                .map_or_else(|| "kitbag status".to_owned(), |server| format!("kitbag logs {server}"));
            Failure::new(kind.into(), message).hint(log)
        }
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

/// `key=value` pairs on top, each by what the tool's schema says about it; `key:=json` is JSON whatever it says.
fn arguments(
    mut base: Map<String, Value>,
    pairs: &[String],
    schema: Option<&Value>,
) -> Result<Map<String, Value>, Failure> {
    for pair in pairs {
        if let Ok(Value::Object(map)) = serde_json::from_str(pair) {
            base.extend(map);
            continue;
        }
        let Some((key, text)) = pair.split_once('=') else {
            let failure = Failure::new(Exit::InvalidArguments, format!("{pair:?} is not key=value"));
            return Err(failure.hint(format!("{pair}=…, or --args '{{…}}'")));
        };
        let value = match (key.strip_suffix(':'), schema) {
            (Some(key), _) => serde_json::from_str(text).map_err(|error| {
                let failure =
                    Failure::new(Exit::InvalidArguments, format!("{key} is not valid JSON: {error}"));
                failure.hint(format!("{key}={text}, for text"))
            })?,
            (None, Some(schema)) => read_property(schema, key, text),
            (None, None) => text.into(),
        };
        base.insert(key.strip_suffix(':').unwrap_or(key).to_owned(), value);
    }
    Ok(base)
}

fn show(context: &mut Context, result: &CallResult) {
    if context.global.json {
        let meta = &result.meta;
        let content: Vec<&Value> = result.content.iter().map(Block::as_value).collect();
        let meta = json!({
            "server": meta.server.as_str(), "tool": meta.tool, "duration_ms": meta.took.as_millis() as u64,
            "retries": meta.retries, "cache_hit": meta.cache_hit,
            "transport": meta.transport.map(|transport| transport.as_str()), "handle": meta.handle,
            "coerced": meta.coerced.iter().map(|coercion| &coercion.path).collect::<Vec<_>>(), "notes": meta.notes,
        });
        context.print_json(&json!({
            "ok": !result.is_error, "kind": result.kind().map(ErrorKind::as_str), "content": content,
            "structured": result.structured, "is_error": result.is_error, "meta": meta,
        }));
        return;
    }
    for block in &result.content {
        let text = match block.as_text() {
            Some(text) => text.split('\n').map(visible).collect::<Vec<_>>().join("\n"),
            None => format!("[{}]", visible(block.kind())),
        };
        context.print(text + "\n");
    }
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured) {
        context.print_json(structured);
    }
}
