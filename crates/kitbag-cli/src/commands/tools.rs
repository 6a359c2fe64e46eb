//! `kitbag tools`: what every server offers, by the name a model calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::builder::styling::Style;
use comfy_table::{ColumnConstraint, Row};
use kitbag::present::gateway::Definition;
use kitbag::shape::{Shown, View};
use kitbag::text::{nearest, visible};
use kitbag::{Fault, Kitbag, Options, ServerName, Setup, Severity, Stage};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::present::{Form, Way, faults, show};
use crate::terminal::{DIM, TITLE, cell, is_shown, lines, plural, styled, table, width};
use crate::{json, live};

const EXAMPLES: &str = "\
Examples:
  kitbag tools                        every tool of every server
  kitbag tools github                 those of one server
  kitbag tools --agent coder --json   what an agent sees, with schemas
  kitbag tools --as native:anthropic  as definitions for an API
  kitbag tools --demo                 without any server

Forms: native:openai, native:openai-responses, native:anthropic, native:gemini,
native:gemini-openapi, native:generic, gateway (also gateway:openai, …), markdown,
signatures, text";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only of these servers
    servers: Vec<String>,
    /// Only of this server (repeatable)
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// Only those under this heading
    #[arg(long, value_name = "NAME", conflicts_with = "form")]
    category: Option<String>,
    /// As a model reads them: native:openai, gateway, markdown, …
    #[arg(long = "as", value_name = "FORM", value_parser = Form::parse)]
    form: Option<Form>,
    #[command(flatten)]
    way: Way,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    live::say_if_off(context, &setup);
    let only = wanted(&setup, args)?;
    let (user, local) = (setup.user.clone(), live::demo(context, &setup));
    let options =
        Options { wait: context.global.wait, only: only.clone(), eager: true, local, ..Options::default() };
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let listed = live::view(context, &kit, &user)
            .and_then(|view| Ok((list(context, &kit, &view, args, only.as_deref())?, view)));
        let told = listed.as_ref().map(|(_, view)| live::beside(view, &faults)).unwrap_or_default();
        live::tell(context, &told);
        kit.close().await;
        let is_misread = |fault: &Fault| fault.stage == Stage::Config && fault.severity == Severity::Error;
        let (count, view) = listed?;
        Ok(live::unless_closed(
            &view,
            match count {
                0 if faults.iter().any(is_misread) => Exit::Config,
                0 if !told.is_empty() => live::exit_of_away(&view),
                _ => Exit::Done,
            },
        ))
    })
}

/// The servers that are asked for, if any are; those that are not known are an error.
fn wanted(setup: &Setup, args: &Args) -> Result<Option<Vec<ServerName>>, Failure> {
    let mut only = Vec::new();
    for text in args.servers.iter().chain(&args.server) {
        let name = server_name(text)?;
        // Local tools stand beside the servers, and so does their name.
        if text != "local" && setup.catalog.iter().all(|part| part.server != name) {
            super::servers::find(setup, &name)?;
        }
        only.push(name);
    }
    Ok((!only.is_empty()).then_some(only))
}

/// Prints the tools; how many there are besides our own.
fn list(
    context: &mut Context,
    kit: &Kitbag,
    view: &Arc<View>,
    args: &Args,
    only: Option<&[ServerName]>,
) -> Result<usize, Failure> {
    if let Some(form) = args.form {
        return Ok(print_as(context, kit, view, form, args.way, only));
    }
    let of_server = |row: &&Arc<Shown>| only.is_none_or(|only| only.contains(&row.tool.server));
    let mut rows: Vec<&Shown> = view.tools().iter().filter(of_server).map(AsRef::as_ref).collect();
    if let Some(category) = &args.category {
        rows = of_category(&rows, category)?;
    }
    let count = rows.iter().filter(|row| is_theirs(row)).count();
    if context.global.json {
        context.print_json(&rows.iter().map(|row| json::tool(view, row)).collect());
    } else {
        rows.retain(|row| context.global.verbose || is_theirs(row));
        print(context, view, &rows);
        if rows.is_empty() && kit.status().is_empty() {
            live::say_nothing_to_show(context, kit);
        }
    }
    context.faults(view.faults());
    Ok(count)
}

/// Prints the tools as a model reads them; how many there are besides our own.
fn print_as(
    context: &mut Context,
    kit: &Kitbag,
    view: &Arc<View>,
    form: Form,
    way: Way,
    only: Option<&[ServerName]>,
) -> usize {
    let part = only.map(|only| {
        let only = only.to_vec();
        Arc::new(view.only(move |shown| only.contains(&shown.tool.server)))
    });
    let view = part.as_ref().unwrap_or(view);
    let shown = show(kit, view, form, way);
    let theirs = view.tools().iter().filter(|shown| is_theirs(shown)).count();
    if form.is_plain_gateway() {
        context.print_json(&shown.gateways.iter().map(Definition::to_value).collect());
    } else if form.has_definitions() {
        context.print_json(&shown.tools);
    } else if context.global.json {
        context.print_json(&serde_json::json!({ "prompt": shown.prompt }));
    } else if !shown.prompt.is_empty() {
        context.print(shown.prompt.split('\n').map(visible).collect::<Vec<_>>().join("\n") + "\n");
    }
    if form.is_plain_gateway() && shown.gateways.is_empty() && 0 < theirs {
        context.remark("nothing to show: these tools belong to no server, so no gateway leads to them");
    } else if theirs == 0 && shown.gateways.is_empty() {
        live::say_nothing_to_show(context, kit);
    }
    context.faults(&faults(&shown));
    context.faults(view.faults());
    theirs
}

/// What reads on in results is at hand everywhere and belongs to no server.
fn is_theirs(row: &Shown) -> bool {
    row.name.as_str() != kitbag::execute::READ_RESULT
}

fn of_category<'a>(rows: &[&'a Shown], category: &str) -> Result<Vec<&'a Shown>, Failure> {
    let fits = |row: &&&Shown| {
        row.tool.category.as_ref().is_some_and(|own| own.to_lowercase() == category.to_lowercase())
    };
    let found: Vec<&Shown> = rows.iter().filter(fits).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let known: BTreeSet<&str> = rows.iter().filter_map(|row| row.tool.category.as_deref()).collect();
    let hint = match (nearest(category, known.iter().copied()), known.is_empty()) {
        (Some(near), _) => format!("--category {near:?}"),
        (None, true) => "set category = \"…\" under [servers.<name>] in kitbag.toml".to_owned(),
        (None, false) => format!("known: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::new(Exit::NotFound, format!("no tool is in the category {category:?}")).hint(hint))
}

fn print(context: &mut Context, view: &View, rows: &[&Shown]) {
    let mut groups: BTreeMap<Option<&str>, Vec<&Shown>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.tool.category.as_deref()).or_default().push(row);
    }
    let longest = rows.iter().map(|row| row.name.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    if groups.len() <= 1 && !groups.keys().any(Option::is_some) {
        text += &lines(&group(view, rows, longest));
    } else {
        // Those under no heading come last.
        let (none, some): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(category, _)| category.is_none());
        for (category, rows) in some.into_iter().chain(none) {
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", styled(TITLE, visible(category.unwrap_or("(no category)"))));
            text += &lines(&group(view, &rows, longest));
        }
    }
    if is_shown() && !context.global.quiet && !rows.is_empty() {
        text += &format!("\n{}\n", styled(DIM, summary(view, rows)));
    }
    context.print(text);
}

fn group(view: &View, rows: &[&Shown], longest: usize) -> comfy_table::Table {
    let mut table = table();
    // One line a tool, unless names leave no room for anything else.
    let roomy = width().is_none_or(|width| longest * 10 <= width * 6);
    for row in rows {
        let text = [&row.tool.description, row.tool.title.as_deref().unwrap_or_default()];
        let text = text.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let first: String = text.lines().next().unwrap_or_default().chars().take(160).collect();
        let here = view.is_available(row);
        let stale = view.snapshot().stale(&row.tool.server).is_some();
        let (style, mark) = match (here, stale) {
            (false, _) => (DIM, "[unavailable] "),
            (true, true) => (Style::new(), "[stale] "),
            (true, false) => (Style::new(), ""),
        };
        let name = format!("{:longest$}", row.name.as_str(), longest = if roomy { longest } else { 0 });
        let mut line = Row::from([cell(style, name), cell(style, format!("{mark}{}", visible(&first)))]);
        if roomy {
            line.max_height(1);
        }
        table.add_row(line);
    }
    if roomy && let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

fn summary(view: &View, rows: &[&Shown]) -> String {
    let servers: BTreeSet<&ServerName> = rows.iter().map(|row| &row.tool.server).collect();
    let away = rows.iter().filter(|row| !view.is_available(row)).count();
    let away = if away == 0 { String::new() } else { format!(", {away} unavailable") };
    format!("{} of {}{away}", plural(rows.len(), "tool"), plural(servers.len(), "server"))
}
