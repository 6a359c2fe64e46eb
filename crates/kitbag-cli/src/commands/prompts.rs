//! `kitbag prompts`: the prompts of every server, and getting one.

use std::time::Duration;

use kitbag::offered::{Prompt, ServerResult};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use super::call::Hide;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::LinkArgs;
use crate::offered::{arguments, ended, failed, meta, options, with_servers};
use crate::terminal::{DIM, TITLE, cell, lines, readable, styled, table};

const EXAMPLES: &str = "\
Examples:
  kitbag prompts                          the prompts of every server
  kitbag prompts --server docs --json     those of one server, with all it says of them
  kitbag prompts get mcp_docs_review file=main.rs
  kitbag prompts get docs/review file=main.rs

Prompts are named like tools. Their arguments are strings.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    link: LinkArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List prompts (default)
    List(List),
    /// Get the messages of a prompt
    Get(Get),
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    link: LinkArgs,
}

#[derive(Debug, clap::Args)]
struct Get {
    /// The prompt: its shown name, server/prompt, or its own name when only one server has it
    prompt: String,
    /// Its arguments
    #[arg(value_name = "KEY=VALUE")]
    values: Vec<String>,
    /// How long it may take, such as 30s; within the limits
    #[arg(long, value_name = "TIME", value_parser = crate::args::parse_time)]
    timeout: Option<Duration>,
    /// Print the server's own secrets instead of ***, where the prompt holds them
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        None => list(context, &args.link),
        Some(Command::List(args)) => list(context, &args.link),
        Some(Command::Get(args)) => get(context, args),
    }
}

fn list(context: &mut Context, link: &LinkArgs) -> Result<Exit, Failure> {
    with_servers(context, link, async |context, kit, view| {
        let (prompts, faults) = kit.prompts(view).await;
        if context.global.json {
            context.print_json(&prompts.iter().map(as_json).collect());
        } else {
            print(context, &prompts);
        }
        if prompts.is_empty() && faults.is_empty() {
            context.remark("no server in use has prompts");
        }
        Ok(ended(context, view, prompts.len(), &faults))
    })
}

fn as_json(prompt: &Prompt) -> Value {
    let arguments = prompt.arguments();
    let arguments = arguments.iter().map(|argument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "required": argument.required,
        })
    });
    json!({
        "name": prompt.name.as_str(),
        "server": prompt.server.as_str(),
        "prompt": prompt.own_name,
        "title": prompt.title(),
        "description": prompt.description(),
        "arguments": arguments.collect::<Vec<_>>(),
        "definition": prompt.definition,
    })
}

fn print(context: &mut Context, prompts: &[Prompt]) {
    let mut rows = table();
    for prompt in prompts {
        let arguments: Vec<String> = prompt
            .arguments()
            .iter()
            .map(|one| if one.required { format!("{}=…", one.name) } else { format!("[{}=…]", one.name) })
            .collect();
        let about = prompt.description().or(prompt.title()).unwrap_or_default();
        let about: String = about.lines().next().unwrap_or_default().chars().take(160).collect();
        let about = [arguments.join(" "), about].into_iter().filter(|text| !text.is_empty());
        let about = about.collect::<Vec<_>>().join("  ");
        rows.add_row([cell(TITLE, visible(prompt.name.as_str())), cell(DIM, visible(&about))]);
    }
    if !rows.is_empty() {
        context.print(lines(&rows));
    }
}

fn get(context: &mut Context, args: &Get) -> Result<Exit, Failure> {
    let arguments = arguments(&args.values)?;
    with_servers(context, &args.link, async |context, kit, view| {
        let done = kit.get_prompt(view, &args.prompt, &arguments, options(args.timeout)).await;
        let done = done.map_err(|error| failed(context, "prompt", &args.prompt, error))?;
        let hide = if args.show_secrets { Hide::default() } else { Hide::of(kit) };
        let got = hide.value(&got(&done));
        if context.global.json {
            context.print_json(&got);
        } else {
            context.print(said(&got));
        }
        Ok(Exit::Done)
    })
}

fn got(done: &ServerResult) -> Value {
    let result: Value = serde_json::from_str(done.result.get()).unwrap_or_default();
    json!({
        "ok": true,
        "kind": null,
        "description": result["description"],
        "messages": result["messages"],
        "meta": meta(done, "prompt"),
    })
}

/// Messages as a person reads them.
fn said(got: &Value) -> String {
    let mut text = String::new();
    for message in got["messages"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let role = visible(message["role"].as_str().unwrap_or("?"));
        let content = &message["content"];
        let words = match content["text"].as_str() {
            Some(words) => readable(words),
            None => match content["resource"]["text"].as_str() {
                Some(words) => readable(words),
                None => format!("[{}]", visible(content["type"].as_str().unwrap_or("unknown"))),
            },
        };
        text += &format!("{} {words}\n", styled(TITLE, format!("{role}:")));
    }
    text
}
