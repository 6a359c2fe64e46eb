//! `kitbag resources`: what servers have to be read, and reading it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use kitbag::offered::{Resource, ResourceContents, ResourceTemplate, ServerResult};
use kitbag::{CallResult, Kitbag, View};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use super::call::{Folder, Hide, show};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::LinkArgs;
use crate::offered::{ended, failed, meta, options, with_servers};
use crate::terminal::{DIM, TITLE, cell, lines, table};

const EXAMPLES: &str = "\
Examples:
  kitbag resources                              the resources and templates of every server
  kitbag resources --server docs --json         those of one server, with all it says of them
  kitbag resources read kitbag+docs:docs://intro
  kitbag resources read file:///srv/notes.txt   as its server calls it, where only one has it

A URI is unique over servers: kitbag+SERVER: stands before the one its server wrote.
A template is read with a value in place of each {name}. A link in a result is read the same way.";

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
    /// List resources and templates (default)
    List(List),
    /// Read a resource
    Read(Read),
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    link: LinkArgs,
}

#[derive(Debug, clap::Args)]
struct Read {
    /// Its URI, as it is listed or as its server calls it
    uri: String,
    /// How long it may take, such as 30s; within the limits
    #[arg(long, value_name = "TIME", value_parser = crate::args::parse_time)]
    timeout: Option<Duration>,
    /// Save what is not text in this folder
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Print the server's own secrets instead of ***, where the resource holds them
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        None => list(context, &args.link),
        Some(Command::List(args)) => list(context, &args.link),
        Some(Command::Read(args)) => read(context, args),
    }
}

fn list(context: &mut Context, link: &LinkArgs) -> Result<Exit, Failure> {
    with_servers(context, link, async |context, kit, view| {
        let (resources, mut faults) = kit.resources(view).await;
        let (templates, others) = kit.templates(view).await;
        faults.extend(others.into_iter().filter(|fault| !faults.contains(fault)).collect::<Vec<_>>());
        if context.global.json {
            let resources = resources.iter().map(as_json);
            let templates = templates.iter().map(template_as_json);
            context.print_json(&json!({
                "resources": resources.collect::<Vec<_>>(),
                "templates": templates.collect::<Vec<_>>(),
            }));
        } else {
            print(context, &resources, &templates);
        }
        let rows = resources.len() + templates.len();
        if rows == 0 && faults.is_empty() {
            context.remark("no server in use has resources");
        }
        Ok(ended(context, view, rows, &faults))
    })
}

fn as_json(resource: &Resource) -> Value {
    json!({
        "uri": resource.uri,
        "server": resource.server.as_str(),
        "own_uri": resource.own_uri,
        "title": resource.title(),
        "description": resource.description(),
        "mime_type": resource.mime_type(),
        "definition": resource.definition,
    })
}

fn template_as_json(template: &ResourceTemplate) -> Value {
    json!({
        "uri_template": template.uri_template,
        "server": template.server.as_str(),
        "own_uri_template": template.own_uri_template,
        "title": template.title(),
        "description": template.description(),
        "definition": template.definition,
    })
}

fn print(context: &mut Context, resources: &[Resource], templates: &[ResourceTemplate]) {
    let mut rows = table();
    let mut row = |uri: &str, title: Option<&str>, about: Option<&str>| {
        let first = about.and_then(|about| about.lines().next()).or(title).unwrap_or_default();
        let first: String = first.chars().take(160).collect();
        rows.add_row([cell(TITLE, visible(uri)), cell(DIM, visible(&first))]);
    };
    for one in resources {
        row(&one.uri, one.title(), one.description());
    }
    for one in templates {
        row(&one.uri_template, one.title(), one.description());
    }
    if !rows.is_empty() {
        context.print(lines(&rows));
    }
}

fn read(context: &mut Context, args: &Read) -> Result<Exit, Failure> {
    let asked_for = args.save.as_deref().map(Folder::asked_for).transpose()?;
    with_servers(context, &args.link, async |context, kit, view| {
        let done = kit.read_resource(view, &args.uri, options(args.timeout)).await;
        let done = done.map_err(|error| failed(context, "resource", &args.uri, error))?;
        let folder = asked_for.unwrap_or_else(|| kept(kit, view));
        let hide = if args.show_secrets { Hide::default() } else { Hide::of(kit) };
        if context.global.json && !folder.is_asked_for() {
            context.print_json(&hide.value(&json!({
                "ok": true,
                "kind": null,
                "contents": done.contents(),
                "meta": meta(&done, "resource"),
            })));
            return Ok(Exit::Done);
        }
        show(context, &as_result(&done), &folder, &hide, kit.limits().files)
    })
}

/// A folder for what is not text.
fn kept(kit: &Kitbag, view: &View) -> Folder {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Folder::kept(&kit.setup().folders.state, view.user(), &kit.limits(), now)
}

/// What a resource holds as the result of a call would hold it: its texts as texts, its bytes as files.
fn as_result(done: &ServerResult) -> CallResult {
    let content = done.contents().iter().map(ResourceContents::as_block).collect();
    let info = done.info.clone();
    CallResult { content, structured: None, is_error: false, meta: None, raw: None, info }
}
