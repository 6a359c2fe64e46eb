//! `kitbag servers add`: by command, by address, or by pasted JSON, in the spellings of other programs as well.

use clap::Parser as _;
use kitbag::cli::how_to_get;
use kitbag::{ServerName, Setup};
use serde_json::Value;

use super::done;
use crate::args::Global;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

mod entry;
mod pasted;
mod scope;

use scope::{Destination, Scope};

const EXAMPLES: &str = "\
Examples:
  kitbag servers add time uvx mcp-server-time
  kitbag servers add files -e LOG=debug -- npx -y @modelcontextprotocol/server-filesystem .
  kitbag servers add tickets https://example.com/mcp --bearer '${TICKETS_TOKEN}'
  kitbag servers add docs --transport sse https://example.com/sse -H 'X-Key: ${DOCS_KEY}'
  kitbag servers add --paste '{\"mcpServers\": {…}}'
  pbpaste | kitbag servers add --paste -

Everything after the command belongs to the command: write Kitbag's own options before it.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The name to give it; a pasted server brings its own
    name: Option<String>,
    /// The program to start with its arguments, or the address to connect to
    #[arg(trailing_var_arg = true, value_name = "COMMAND", conflicts_with_all = ["url", "paste"])]
    command: Vec<String>,
    #[command(flatten)]
    options: AddOptions,
}

#[derive(Clone, Debug, Default, clap::Args)]
struct AddOptions {
    /// The address to connect to
    #[arg(long, conflicts_with = "paste")]
    url: Option<String>,
    /// JSON as found in a README, code fences included; - reads it from standard input
    #[arg(long, value_name = "JSON")]
    paste: Option<String>,
    /// A variable for the program (repeatable)
    #[arg(long, short, value_name = "NAME=VALUE", conflicts_with_all = ["url", "paste"])]
    env: Vec<String>,
    /// A header for the address (repeatable)
    #[arg(long, short = 'H', value_name = "NAME: VALUE", conflicts_with = "paste")]
    header: Vec<String>,
    /// A bearer token for the address, best as a reference such as ${TOKEN}
    #[arg(long, value_name = "TOKEN", conflicts_with = "paste")]
    bearer: Option<String>,
    /// The variable that holds the bearer token
    #[arg(long, value_name = "VARIABLE", conflicts_with_all = ["bearer", "paste"])]
    bearer_token_env_var: Option<String>,
    /// Where the program runs
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["url", "paste"])]
    cwd: Option<String>,
    /// stdio, http, sse or auto
    #[arg(long, short, conflicts_with = "paste")]
    transport: Option<String>,
    /// For whom: user writes Kitbag's own file, project the .mcp.json of the project, local means user
    #[arg(long, short, value_enum, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// Replace a server of this name
    #[arg(long, short)]
    force: bool,
}

/// What may follow an address: an address takes no arguments of its own.
#[derive(Debug, clap::Parser)]
#[command(name = "kitbag servers add", no_binary_name = true)]
struct AfterAddress {
    #[command(flatten)]
    options: AddOptions,
    #[command(flatten)]
    global: Global,
}

/// How the server is reached.
enum Reached<'a> {
    Program(&'a [String]),
    Address(String),
    Unsaid,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let mut options = args.options.clone();
    let first = args.command.first().map(String::as_str).unwrap_or_default();
    if is_address(first) {
        after_address(context, &mut options, &args.command[1..])?;
    }
    let setup = context.setup()?;
    let to = Destination::of(context, &setup, &options)?;
    // JSON in the place of a name or a command is what `--paste` takes.
    match (&options.paste, args.name.as_deref(), args.command.as_slice()) {
        (Some(text), name, _) => return pasted::add(context, &setup, &to, name, text),
        (None, Some(text), []) if is_json(text) => return pasted::add(context, &setup, &to, None, text),
        (None, name, [text]) if is_json(text) => return pasted::add(context, &setup, &to, name, text),
        _ => {}
    }
    let reached = match (&options.url, args.command.as_slice()) {
        (Some(url), _) => Reached::Address(url.clone()),
        (None, [url, ..]) if is_address(url) => Reached::Address(url.clone()),
        (None, []) => Reached::Unsaid,
        (None, command) => Reached::Program(command),
    };
    let name = name(args, &reached)?;
    let entry = entry::of(&reached, &options)?;
    let file = to.add(&[(name.clone(), entry)])?.remove(0);
    to.warn(context, &setup, &name);
    if let Reached::Program([command, ..]) = &reached {
        warn_if_missing(context, &setup, command);
    }
    done(context, "added", &name, &file);
    Ok(Exit::Done)
}

fn name(args: &Args, reached: &Reached<'_>) -> Result<ServerName, Failure> {
    let missing = |form: &str| {
        Failure::new(Exit::Usage, "a server needs a name").hint(format!("kitbag servers add <name> {form}"))
    };
    match args.name.as_deref() {
        None => Err(missing("<command>")),
        Some(url) if is_address(url) && matches!(reached, Reached::Unsaid) => Err(missing(url)),
        Some(name) => server_name(name),
    }
}

/// Options that were typed after the address.
fn after_address(context: &mut Context, options: &mut AddOptions, words: &[String]) -> Result<(), Failure> {
    let usage = |error: clap::Error| {
        let text = error.render().to_string();
        let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::new(Exit::Usage, line).hint("kitbag servers add --help")
    };
    let AfterAddress { options: more, global } = AfterAddress::try_parse_from(words).map_err(usage)?;
    options.header.extend(more.header);
    options.env.extend(more.env);
    options.bearer = more.bearer.or(options.bearer.take());
    options.bearer_token_env_var = more.bearer_token_env_var.or(options.bearer_token_env_var.take());
    options.cwd = more.cwd.or(options.cwd.take());
    options.transport = more.transport.or(options.transport.take());
    options.scope = more.scope.or(options.scope);
    options.force |= more.force;
    context.global.user = global.user.or(context.global.user.take());
    context.global.json |= global.json;
    context.global.quiet |= global.quiet;
    context.global.verbose |= global.verbose;
    Ok(())
}

/// A program that is not installed: the entry is right, and will not start.
fn warn_if_missing(context: &mut Context, setup: &Setup, command: &str) {
    let is_reference = command.contains("${");
    if !is_reference && setup.env().program(command, setup.env().cwd()).is_none() {
        context.remark(format!("note: {command} is not installed here; {}", how_to_get(command)));
    }
}

fn is_address(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
}

fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') || text.starts_with('"') || text.starts_with("```")
}

/// One entry under its name.
type Named = (ServerName, Value);
