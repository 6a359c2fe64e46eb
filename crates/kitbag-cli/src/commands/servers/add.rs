//! `kitbag servers add`: by command, by address, or by pasted JSON.

use std::io::Read as _;

use kitbag::config::paste::read_pasted;
use kitbag::registry::Registry;
use kitbag::{ServerName, ServerSpec, Setup, Severity};
use serde_json::{Map, Value, json};

use super::{all_done, done, registry};
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  kitbag servers add time -- uvx mcp-server-time
  kitbag servers add tickets --url https://example.com/mcp --bearer '${TICKETS_TOKEN}'
  kitbag servers add --paste '{\"mcpServers\": {…}}'
  pbpaste | kitbag servers add --paste -";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The name to give it; a pasted server brings its own
    name: Option<String>,
    /// The program to start and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "paste"])]
    command: Vec<String>,
    /// The address to connect to
    #[arg(long, conflicts_with = "paste")]
    url: Option<String>,
    /// JSON as found in a README, code fences included; - reads it from standard input
    #[arg(long, value_name = "JSON")]
    paste: Option<String>,
    /// A variable for the program (repeatable)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with_all = ["url", "paste"])]
    env: Vec<String>,
    /// A header for the address (repeatable)
    #[arg(long, value_name = "NAME: VALUE", conflicts_with_all = ["command", "paste"])]
    header: Vec<String>,
    /// A bearer token for the address, best as a reference such as ${TOKEN}
    #[arg(long, value_name = "TOKEN", requires = "url", conflicts_with_all = ["command", "paste"])]
    bearer: Option<String>,
    /// Where the program runs
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["url", "paste"])]
    cwd: Option<String>,
    /// stdio, http, sse or auto
    #[arg(long, conflicts_with = "paste")]
    transport: Option<String>,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let registry = registry(context, &setup)?;
    match &args.paste {
        Some(text) => pasted(context, &setup, &registry, args, text),
        None => {
            let name = args.name.as_deref().ok_or_else(|| {
                Failure::new(Exit::Usage, "a server needs a name")
                    .hint("kitbag servers add <name> -- <command>")
            })?;
            let name = server_name(name)?;
            let file = registry.add_entry(&name, &entry(args)?)?;
            warn_if_shadowed(context, &setup, &name);
            done(context, "added", &name, &file);
            Ok(Exit::Done)
        }
    }
}

fn entry(args: &Args) -> Result<Value, Failure> {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    if let Some((command, rest)) = args.command.split_first() {
        put("command", command.as_str().into());
        if !rest.is_empty() {
            put("args", rest.into());
        }
    }
    if let Some(url) = &args.url {
        put("url", url.as_str().into());
    }
    if let Some(transport) = &args.transport {
        put("transport", transport.as_str().into());
    }
    if let Some(token) = &args.bearer {
        put("auth", json!({"type": "bearer", "token": token}));
    }
    if let Some(cwd) = &args.cwd {
        put("cwd", cwd.as_str().into());
    }
    for (key, pairs, sign) in [("env", &args.env, '='), ("headers", &args.header, ':')] {
        if !pairs.is_empty() {
            put(key, named(pairs, sign)?);
        }
    }
    Ok(Value::Object(entry))
}

/// `NAME=VALUE` or `Name: value` pairs. The text may hold a secret and is never repeated.
fn named(pairs: &[String], sign: char) -> Result<Value, Failure> {
    let split = |pair: &String| {
        let (name, value) = pair.split_once(sign)?;
        let value = if sign == ':' { value.trim() } else { value };
        (!name.trim().is_empty()).then(|| (name.trim().to_owned(), Value::from(value)))
    };
    let form = if sign == '=' { "--env NAME=VALUE" } else { "--header 'Name: value'" };
    let pairs: Option<Map<String, Value>> = pairs.iter().map(split).collect();
    pairs.map(Value::Object).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("a value after --{} has no {sign:?}", if sign == '=' { "env" } else { "header" }),
        )
        .hint(form)
    })
}

fn pasted(
    context: &mut Context,
    setup: &Setup,
    registry: &Registry,
    args: &Args,
    text: &str,
) -> Result<Exit, Failure> {
    let text = if text == "-" { stdin()? } else { text.to_owned() };
    let document = read_pasted(&text, &setup.limits);
    let faults = document.faults.iter().chain(document.servers.iter().flat_map(|loaded| &loaded.faults));
    let faults: Vec<_> = faults.cloned().collect();
    context.faults(&faults);
    let mut specs: Vec<ServerSpec> =
        document.servers.iter().filter_map(|loaded| loaded.spec.clone()).collect();
    let unusable = document.servers.len() - specs.len();
    match (&args.name, specs.as_mut_slice()) {
        (Some(name), [spec]) => spec.name = server_name(name)?,
        (Some(name), [_, _, ..]) => {
            let failure =
                Failure::new(Exit::Usage, format!("{} servers cannot all be called {name}", specs.len()));
            return Err(failure.hint("leave the name out: pasted servers bring their own"));
        }
        _ => {}
    }
    if specs.iter().any(|spec| spec.name.as_str() == "<pasted>") {
        return Err(Failure::new(Exit::Config, "the pasted server has no name")
            .hint("kitbag servers add <name> --paste …"));
    }
    if specs.is_empty()
        || faults.iter().any(|fault| fault.severity == Severity::Error && fault.server.is_none())
    {
        let failure = Failure::new(Exit::Config, "nothing was added");
        return Err(match faults.is_empty() {
            true => failure.hint(
                "no server is named in the pasted text: {\"mcpServers\": {\"name\": {\"command\": …}}}",
            ),
            false => failure.hint("mend the pasted text as shown above"),
        });
    }
    let files = registry.add_all(&specs)?;
    specs.iter().for_each(|spec| warn_if_shadowed(context, setup, &spec.name));
    all_done(context, "added", &specs.iter().map(|spec| &spec.name).zip(files).collect::<Vec<_>>());
    Ok(if 0 < unusable { Exit::Config } else { Exit::Done })
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(8 << 20).read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::Usage, format!("standard input cannot be read: {error}")))?;
    Ok(text)
}

/// A name that a later layer also defines: what was just added is not what will be used.
fn warn_if_shadowed(context: &mut Context, setup: &Setup, name: &ServerName) {
    use kitbag::config::layers::{Layer, State};
    let above = |layer: &Layer| matches!(layer, Layer::Project | Layer::User(_) | Layer::Env | Layer::Flags);
    let row = setup
        .merged
        .servers
        .iter()
        .find(|row| row.name == name.as_str() && row.state == State::Used && above(&row.layer));
    if let Some(row) = row.filter(|_| context.global.user.is_none()) {
        context.remark(format!("note: {} in {} is used instead", name, row.origin.place));
    }
}
