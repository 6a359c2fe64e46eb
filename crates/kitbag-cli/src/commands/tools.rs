//! `kitbag tools`: what every server offers, by the name a model calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::builder::styling::Style;
use comfy_table::{ColumnConstraint, Row};
use kitbag::connect::StartServers;
use kitbag::{Fault, Kitbag, OpenOptions, ServerName, Setup, Severity, UserId, View, ViewTool};
use kitbag_core::Stage;
use kitbag_core::catalog::{ToolChange, ToolChangeKind, changes};
use kitbag_core::present::gateway::GatewayDefinition;
use kitbag_core::text::{nearest, visible};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::present::{Form, Way, faults, show};
use crate::terminal::{DIM, TITLE, cell, is_shown, lines, plural, styled, table, width};
use crate::{json, live, starting, unused};

/// How many tools of a server are named whose definitions are others by now.
const NAMED: usize = 5;

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
    if let Some(failure) = all_unused(context, &setup, only.as_deref()) {
        return Err(failure);
    }
    let (user, local) = (setup.user.clone(), live::demo(context, &setup));
    let options = OpenOptions {
        wait: context.global.wait,
        only: only.clone().filter(|_| !live::is_judged_together(&setup)),
        start: StartServers::AtOnce,
        local,
        ..OpenOptions::default()
    };
    live::block_on(async {
        let kit = Kitbag::start(setup, options);
        let early = remembered(context, &kit, &user, args)?;
        if let Some(view) = &early {
            list(context, &kit, &ShownView { view, when: When::Early }, args, only.as_deref())?;
        }
        starting::wait(context, &kit, context.global.wait.unwrap_or(kit.limits().wait_agent)).await;
        if let Err(error) = kit.check_required() {
            kit.close().await;
            return Err(error.into());
        }
        let faults = kit.faults();
        let listed = live::view(context, &kit, &user).and_then(|view| {
            let count = match &early {
                None => list(
                    context,
                    &kit,
                    &ShownView { view: &view, when: When::Settled },
                    args,
                    only.as_deref(),
                )?,
                Some(early) => say_changes(context, early, &view),
            };
            Ok((count, view))
        });
        let told = listed.as_ref().map(|(_, view)| live::beside(view, &faults)).unwrap_or_default();
        let starting = starting::still_starting(&kit);
        let (late, told): (Vec<Fault>, Vec<Fault>) =
            told.into_iter().partition(|fault| starting::is_about_starting(fault, &starting));
        live::tell(context, &told);
        if !late.is_empty() {
            starting::say_starting(context, &starting);
        }
        kit.close_and_exit().await;
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

/// What is shown, and whether the servers had time to say how they are.
struct ShownView<'a> {
    view: &'a Arc<View>,
    when: When,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Servers are about to be started: who cannot be, is told afterwards.
    Early,
    /// Servers are there, or it is known that they are not.
    Settled,
}

impl ShownView<'_> {
    fn is_available(&self, row: &ViewTool) -> bool {
        self.when == When::Early || self.view.is_available(row)
    }

    fn is_stale(&self, row: &ViewTool) -> bool {
        self.when == When::Settled && self.view.snapshot().stale(&row.tool.server).is_some()
    }
}

/// What is seen by the lists that are remembered, where every server has one: it is shown before the servers are there. A
/// program gets what is true by then, and so does whoever shows definitions to a model.
fn remembered(
    context: &Context,
    kit: &Kitbag,
    user: &UserId,
    args: &Args,
) -> Result<Option<Arc<View>>, Failure> {
    let snapshot = kit.snapshot();
    let mut links = kit.links().into_iter().peekable();
    let is_known = links.peek().is_some() && links.all(|link| snapshot.part(link.name()).is_some());
    if !is_known || context.global.json || args.form.is_some() {
        return Ok(None);
    }
    live::view(context, kit, user).map(Some)
}

/// Says what is not as it was shown; how many tools there are by now.
fn say_changes(context: &mut Context, early: &View, now: &View) -> usize {
    let seen = |view: &View, change: &ToolChange| {
        view.tools().iter().any(|row| row.tool.server == change.server && row.tool.name == change.tool)
    };
    let mut by_server: BTreeMap<ServerName, Vec<String>> = BTreeMap::new();
    for change in changes(early.snapshot(), now.snapshot()) {
        // Of what is not seen here, nothing is said.
        if !seen(early, &change) && !seen(now, &change) {
            continue;
        }
        let sign = match change.kind {
            ToolChangeKind::Registered => "new",
            ToolChangeKind::Changed => "changed",
            ToolChangeKind::Removed => "gone",
        };
        by_server.entry(change.server).or_default().push(format!("{} ({sign})", change.tool));
    }
    for (server, changed) in by_server {
        let rest = changed.len().saturating_sub(NAMED);
        let more = if 0 < rest { format!(" and {rest} more") } else { String::new() };
        let named = changed[..changed.len() - rest].join(", ");
        context.remark(format!(
            "{server} has another list by now: {named}{more}; `kitbag tools {server}` shows it"
        ));
    }
    now.tools().iter().filter(|row| is_theirs(row)).count()
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

/// Says which of the servers that are asked for are not used, and why; an error where none of them is.
fn all_unused(context: &mut Context, setup: &Setup, only: Option<&[ServerName]>) -> Option<Failure> {
    let only = only?;
    let mut unused: Vec<Failure> = only.iter().filter_map(|name| unused::why(setup, name)).collect();
    let first = (unused.len() == only.len()).then(|| unused.remove(0));
    unused.iter().for_each(|failure| context.failed(failure));
    first
}

/// Prints the tools; how many there are besides our own.
fn list(
    context: &mut Context,
    kit: &Kitbag,
    seen: &ShownView<'_>,
    args: &Args,
    only: Option<&[ServerName]>,
) -> Result<usize, Failure> {
    let view = seen.view;
    if let Some(form) = args.form {
        return Ok(print_as(context, kit, view, form, args.way, only));
    }
    let of_server = |row: &&Arc<ViewTool>| only.is_none_or(|only| only.contains(&row.tool.server));
    let mut rows: Vec<&ViewTool> = view.tools().iter().filter(of_server).map(AsRef::as_ref).collect();
    if let Some(category) = &args.category {
        rows = of_category(&rows, category)?;
    }
    let count = rows.iter().filter(|row| is_theirs(row)).count();
    if context.global.json {
        context.print_json(&rows.iter().map(|row| json::tool(view, row)).collect());
    } else {
        rows.retain(|row| context.global.verbose || is_theirs(row));
        print(context, seen, &rows);
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
        context.print_json(&shown.gateways.iter().map(GatewayDefinition::to_value).collect());
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
fn is_theirs(row: &ViewTool) -> bool {
    row.name.as_str() != kitbag::cli::READ_RESULT
}

fn of_category<'a>(rows: &[&'a ViewTool], category: &str) -> Result<Vec<&'a ViewTool>, Failure> {
    let fits = |row: &&&ViewTool| {
        row.tool.category.as_ref().is_some_and(|own| own.to_lowercase() == category.to_lowercase())
    };
    let found: Vec<&ViewTool> = rows.iter().filter(fits).copied().collect();
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

fn print(context: &mut Context, seen: &ShownView<'_>, rows: &[&ViewTool]) {
    let mut groups: BTreeMap<Option<&str>, Vec<&ViewTool>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.tool.category.as_deref()).or_default().push(row);
    }
    let longest = rows.iter().map(|row| row.name.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    if groups.len() <= 1 && !groups.keys().any(Option::is_some) {
        text += &lines(&group(seen, rows, longest));
    } else {
        // Those under no heading come last.
        let (none, some): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(category, _)| category.is_none());
        for (category, rows) in some.into_iter().chain(none) {
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", styled(TITLE, visible(category.unwrap_or("(no category)"))));
            text += &lines(&group(seen, &rows, longest));
        }
    }
    if is_shown() && !context.global.quiet && !rows.is_empty() {
        text += &format!("\n{}\n", styled(DIM, summary(seen, rows)));
    }
    context.print(text);
}

fn group(seen: &ShownView<'_>, rows: &[&ViewTool], longest: usize) -> comfy_table::Table {
    let mut table = table();
    // One line a tool, unless names leave no room for anything else.
    let roomy = width().is_none_or(|width| longest * 10 <= width * 6);
    for row in rows {
        let text = [&row.tool.description, row.tool.title.as_deref().unwrap_or_default()];
        let text = text.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let first: String = text.lines().next().unwrap_or_default().chars().take(160).collect();
        let (style, mark) = if !seen.is_available(row) {
            (DIM, "[unavailable] ")
        } else if seen.is_stale(row) {
            (Style::new(), "[stale] ")
        } else {
            (Style::new(), "")
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

fn summary(seen: &ShownView<'_>, rows: &[&ViewTool]) -> String {
    let servers: BTreeSet<&ServerName> = rows.iter().map(|row| &row.tool.server).collect();
    let away = rows.iter().filter(|row| !seen.is_available(row)).count();
    let away = if away == 0 { String::new() } else { format!(", {away} unavailable") };
    format!("{} of {}{away}", plural(rows.len(), "tool"), plural(servers.len(), "server"))
}
