//! `kitbag cost`: what tools take of a model's room, by server and by the way they are shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use kitbag::cli::READ_RESULT;
use kitbag::connect::StartServers;
use kitbag::tokens::count;
use kitbag::{Kitbag, OpenOptions, ServerName, View};
use serde_json::{Value, json};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::present::{Form, Way, faults, show};
use crate::terminal::{DIM, is_shown, lines, styled, table};
use crate::{live, nothing, unused};

mod figures;

use figures::By;

const EXAMPLES: &str = "\
Examples:
  kitbag cost                              every server
  kitbag cost github --tools               every tool of one
  kitbag cost --as native:openai --whole   as servers wrote their definitions
  kitbag cost --strict --lint              what is not strict, and why

Tokens are counted with o200k, the encoding of OpenAI's models. Columns marked with ~ (Anthropic,
Gemini) are estimates: these vendors use encodings of their own.";

/// What marks a column whose numbers are estimates.
const ESTIMATE: &str = "~";
const LEGEND: &str = "tokens by o200k (OpenAI); columns marked ~ are estimates for other vendors";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only these servers
    servers: Vec<String>,
    /// Count this form (repeatable); without it, the usual ones
    #[arg(long = "as", value_name = "FORM", value_parser = Form::parse)]
    form: Vec<Form>,
    /// One row per tool
    #[arg(long)]
    tools: bool,
    /// Also print what definitions leave out or change, and with --strict why a tool is not strict
    #[arg(long)]
    lint: bool,
    #[command(flatten)]
    way: Way,
}

/// What one row counts.
struct Row {
    /// None for all of them: a server may be called whatever a total could be.
    server: Option<ServerName>,
    tool: Option<String>,
    tools: usize,
    tokens: Vec<usize>,
    /// What is worth knowing about each form.
    notes: Vec<Vec<String>>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    if !args.form.is_empty() {
        args.way.check(&args.form)?;
    }
    let setup = context.setup()?;
    live::say_if_off(context, &setup);
    let only = args.servers.iter().map(|text| server_name(text)).collect::<Result<Vec<_>, _>>()?;
    for name in only.iter().filter(|name| setup.catalog.iter().all(|part| part.server != **name)) {
        super::servers::find(&setup, name)?;
    }
    if let Some(failure) = unused::all(context, &setup, &only) {
        return Err(failure);
    }
    let (user, local) = (setup.user.clone(), live::demo(context, &setup));
    let wanted = (!only.is_empty()).then(|| only.clone());
    let options = OpenOptions {
        wait: context.global.wait,
        only: wanted,
        start: StartServers::AtOnce,
        local,
        ..crate::link_args::options(context, &setup)?
    };
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let view = live::view(context, &kit, &user);
        let told = view.as_ref().map_or_else(|_| faults.clone(), |view| live::beside(view, &faults));
        let told = nothing::about(&only, told);
        let ended = view.map(|view| {
            let counted = print(context, &kit, &view, args, &only);
            live::tell(context, &told);
            match counted {
                0 => nothing::ends(context, &kit, &view, &only, &told),
                _ => nothing::partly(context, &kit, &view, &only),
            }
        });
        kit.close_and_exit().await;
        ended
    })
}

/// Prints what the tools of these servers cost; how many rows there are.
fn print(context: &mut Context, kit: &Kitbag, view: &View, args: &Args, only: &[ServerName]) -> usize {
    let forms = forms(context, args);
    let servers: BTreeSet<&ServerName> = view.tools().iter().map(|shown| &shown.tool.server).collect();
    let mut rows = Vec::new();
    for server in servers.into_iter().filter(|server| only.is_empty() || only.contains(server)) {
        let own = server.clone();
        let part = view.only(move |shown| shown.tool.server == own && shown.name.as_str() != READ_RESULT);
        if part.tools().is_empty() {
            continue;
        }
        if args.tools {
            for shown in part.tools() {
                let name = shown.name.clone();
                let one = part.only(move |other| other.name == name);
                let tool = Some(shown.tool.name.to_string());
                rows.push(row(kit, Some(server), tool, one, &forms, args.way));
            }
        } else {
            rows.push(row(kit, Some(server), None, part, &forms, args.way));
        }
    }
    if context.global.json {
        context.print_json(&as_json(&rows, &forms, args.lint));
        return rows.len();
    }
    let count = rows.len();
    if count == 0 {
        return count;
    }
    let only = only.to_vec();
    let all = view.only(move |shown| {
        shown.name.as_str() != READ_RESULT && (only.is_empty() || only.contains(&shown.tool.server))
    });
    rows.push(row(kit, None, None, all, &forms, args.way));
    let by = if args.tools { By::Tool } else { By::Server };
    context.print(figures::as_table(&rows, &forms, by));
    if let Some(all) = rows.last().filter(|_| args.lint) {
        context.print(linted(all, &forms));
    }
    match is_shown() && !context.global.quiet {
        true => context.print(format!("\n{}\n", styled(DIM, LEGEND))),
        // A table that is read by a program keeps its rows; the marks stand in it either way.
        false => context.remark(LEGEND),
    }
    count
}

/// Those that were asked for, else all, else as many as a terminal has room for.
fn forms(context: &Context, args: &Args) -> Vec<Form> {
    let usual = ["native:openai", "native:anthropic", "native:gemini", "gateway", "markdown", "signatures"];
    if !args.form.is_empty() {
        return args.form.clone();
    }
    let is_usual = |form: &Form| context.global.json || usual.contains(&form.to_string().as_str());
    // A gateway stands for a server, whichever of its tools is looked at.
    let is_told = |form: &Form| !args.tools || form.to_string() != "gateway";
    Form::all().filter(is_usual).filter(is_told).collect()
}

fn row(
    kit: &Kitbag,
    server: Option<&ServerName>,
    tool: Option<String>,
    view: View,
    forms: &[Form],
    way: Way,
) -> Row {
    let view = Arc::new(view);
    let tokens = |form: &Form| {
        let shown = show(kit, &view, *form, way);
        let tokens =
            if form.has_definitions() { count(&shown.tools.to_string()) } else { count(&shown.prompt) };
        (tokens, faults(&shown).into_iter().map(|fault| fault.message).collect())
    };
    let (tokens, notes) = forms.iter().map(tokens).unzip();
    Row { server: server.cloned(), tool, tools: view.tools().len(), tokens, notes }
}

/// What each form cannot say, a row for each note.
fn linted(all: &Row, forms: &[Form]) -> String {
    let mut table = table();
    table.set_header(["FORM", "NOTE"]);
    for (form, notes) in forms.iter().zip(&all.notes) {
        for note in notes {
            table.add_row([form.to_string(), note.clone()]);
        }
    }
    if table.row_count() == 0 { "\nno notes\n".to_owned() } else { format!("\n{}", lines(&table)) }
}

fn as_json(rows: &[Row], forms: &[Form], lint: bool) -> Value {
    let cells = rows.iter().flat_map(|row| {
        forms.iter().zip(&row.tokens).zip(&row.notes).map(move |((form, tokens), notes)| {
            let server = row.server.as_ref().map(ServerName::as_str);
            let mut cell = json!({"server": server, "presentation": form.to_string(),
                "tools": row.tools, "tokens": tokens, "encoding": "o200k", "estimate": form.is_estimated()});
            if let Some(tool) = &row.tool {
                cell["tool"] = tool.as_str().into();
            }
            if lint {
                cell["notes"] = json!(notes);
            }
            cell
        })
    });
    cells.collect()
}
