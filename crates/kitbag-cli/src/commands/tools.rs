//! `kitbag tools`: what every server offers, by the name a model calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kitbag::connect::StartServers;
use kitbag::{Fault, Kitbag, OpenOptions, ServerName, Setup, View, ViewTool};
use kitbag_core::catalog::{ToolChange, ToolChangeKind, changes};
use kitbag_core::present::gateway::GatewayDefinition;
use kitbag_core::text::{nearest, visible};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::present::{Form, Way, faults, show};
use crate::{json, live, nothing, starting, unused};

mod rows;

use rows::{ShownView, When};

/// How many tools of a server are named whose definitions are others by now.
const NAMED: usize = 5;

const EXAMPLES: &str = "\
Examples:
  kitbag tools                        every tool of every server
  kitbag tools github                 those of one server
  kitbag tools --agent coder --json   what an agent sees, with schemas
  kitbag tools --as native:anthropic  as definitions for an API
  kitbag tools --demo                 without any server
  kitbag tools --server 'uvx mcp-server-time'   of a server that nobody configured

Forms: native:openai, native:openai-responses, native:anthropic, native:gemini,
native:gemini-openapi, native:generic, gateway (also gateway:openai, …), markdown,
signatures, text";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only these servers
    servers: Vec<String>,
    /// Only this category
    #[arg(long, value_name = "NAME", conflicts_with = "form")]
    category: Option<String>,
    /// Print them in a form for a model: native:openai, gateway, markdown, …
    #[arg(long = "as", value_name = "FORM", value_parser = Form::parse)]
    form: Option<Form>,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    args.way.check(args.form.as_slice())?;
    let setup = link_args::setup(context, &args.link)?;
    live::say_if_off(context, &setup);
    let asked = wanted(context, &setup, args)?;
    let only = (!asked.is_empty()).then(|| asked.clone());
    if let Some(failure) = unused::all(context, &setup, &asked) {
        return Err(failure);
    }
    let (user, local) = (setup.user.clone(), live::demo(context, &setup));
    let options = OpenOptions {
        wait: context.global.wait,
        only: only.filter(|_| !live::is_judged_together(&setup)),
        start: StartServers::AtOnce,
        local,
        ..link_args::options(context, &setup)?
    };
    live::block_on(async {
        let kit = Kitbag::start(setup, options);
        let is_known = is_remembered(&kit) && !context.global.json && args.form.is_none();
        kit.wait_for_pins().await;
        let early = if is_known { Some(live::view(context, &kit, &user)?) } else { None };
        if let Some(view) = &early {
            list(context, &kit, &ShownView { view, when: When::Early }, args, &asked)?;
        }
        starting::wait(context, &kit, starting::how_long(context, &kit.limits())).await;
        if let Err(error) = kit.check_required() {
            kit.close().await;
            return Err(error.into());
        }
        let faults = kit.faults();
        let listed = live::view(context, &kit, &user).and_then(|view| {
            let count = match &early {
                None => list(context, &kit, &ShownView { view: &view, when: When::Settled }, args, &asked)?,
                Some(early) => say_changes(context, early, &view),
            };
            Ok((count, view))
        });
        let told = listed.as_ref().map(|(_, view)| live::beside(view, &faults)).unwrap_or_default();
        let told = nothing::about(&asked, told);
        let starting = starting::still_starting(&kit);
        let (late, told): (Vec<Fault>, Vec<Fault>) =
            told.into_iter().partition(|fault| starting::is_about_starting(fault, &starting));
        live::tell(context, &told);
        if !late.is_empty() {
            starting::say_starting(context, &starting);
        }
        let ended = listed.map(|(count, view)| match count {
            0 => nothing::ends(context, &kit, &view, &asked, &told),
            _ => nothing::partly(context, &kit, &view, &asked),
        });
        kit.close_and_exit().await;
        ended
    })
}

/// Whether there is a list of every server before any has answered: what is remembered is then shown at once. A program
/// gets what is true by then, and so does whoever shows definitions to a model.
fn is_remembered(kit: &Kitbag) -> bool {
    let snapshot = kit.snapshot();
    let mut links = kit.links().into_iter().peekable();
    links.peek().is_some() && links.all(|link| snapshot.part(link.name()).is_some())
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
        let command = context.to_type(&format!("kitbag tools {server}"));
        context.remark(format!("the tool list of {server} has changed: {named}{more}; `{command}` shows it"));
    }
    now.tools().iter().filter(|row| is_theirs(row)).count()
}

/// The servers that are asked for; none means all. Those that are not known are an error.
fn wanted(context: &Context, setup: &Setup, args: &Args) -> Result<Vec<ServerName>, Failure> {
    let mut only = context.chosen.clone();
    for text in &args.servers {
        let name = server_name(text)?;
        // Local tools stand beside the servers, and so does their name.
        if text != "local" && setup.catalog.iter().all(|part| part.server != name) {
            super::servers::find(setup, &name)?;
        }
        only.push(name);
    }
    Ok(only)
}

/// Prints the tools; how many there are besides our own.
fn list(
    context: &mut Context,
    kit: &Kitbag,
    seen: &ShownView<'_>,
    args: &Args,
    asked: &[ServerName],
) -> Result<usize, Failure> {
    let view = seen.view;
    if let Some(form) = args.form {
        return Ok(print_as(context, kit, view, form, args.way, asked));
    }
    let of_server = |row: &&Arc<ViewTool>| asked.is_empty() || asked.contains(&row.tool.server);
    let mut rows: Vec<&ViewTool> = view.tools().iter().filter(of_server).map(AsRef::as_ref).collect();
    if let Some(category) = &args.category {
        rows = of_category(&rows, category)?;
    }
    let count = rows.iter().filter(|row| is_theirs(row)).count();
    if context.global.json {
        context.print_json(&rows.iter().map(|row| json::tool(view, row)).collect());
    } else {
        rows.retain(|row| context.global.verbose || is_theirs(row));
        rows::print(context, seen, &rows);
    }
    context.faults(&nothing::about(asked, view.faults().to_vec()));
    Ok(count)
}

/// Prints the tools as a model reads them; how many there are besides our own.
fn print_as(
    context: &mut Context,
    kit: &Kitbag,
    view: &Arc<View>,
    form: Form,
    way: Way,
    asked: &[ServerName],
) -> usize {
    let part = (!asked.is_empty()).then(|| {
        let only = asked.to_vec();
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
    }
    context.faults(&faults(&shown));
    context.faults(&nothing::about(asked, view.faults().to_vec()));
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
