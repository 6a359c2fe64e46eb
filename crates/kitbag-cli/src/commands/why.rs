//! `kitbag why`: how far a tool comes on its way to a model, and what stops it.

use clap::builder::styling::Style;
use kitbag::{Kitbag, ServerName, Setup, UserId, View};
use kitbag_core::catalog::Unreachable;
use kitbag_core::config::layers::EntryState;
use kitbag_core::shape::{RuleOutcome, RuleStep};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use super::call::absent;
use super::doctor::rules;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::live;
use crate::terminal::{BAD, DIM, GOOD, ODD, TITLE, cell, is_shown, lines, styled, table};

mod walk;

use walk::{Cause, STAGES, Search, Unused, Walk, Way};

const EXAMPLES: &str = "\
Examples:
  kitbag why mcp_github_delete_repo
  kitbag why github/delete_repo --agent coder

Exit codes: 0 it can be called · 4 its server is unavailable · 12 its server asks for credentials · 5 no such tool · 6 something stops it";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The tool, by any of its names: shown, full, server/tool, or its own
    tool: String,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = link_args::setup_in_use(context, &args.link)?;
    if !setup.switched_on && !live::is_local(context, &setup, &args.tool) {
        return Err(Failure::new(Exit::Unavailable, live::OFF.0).hint(live::OFF.1));
    }
    let (user, renamed, unused) = (setup.user.clone(), renamed(&setup), unused(&setup));
    live::ask_about(context, setup, &args.tool, |context, kit| {
        once(context, kit, &user, &args.tool, (&renamed, &unused))
    })
}

fn once(
    context: &mut Context,
    kit: &Kitbag,
    user: &UserId,
    name: &str,
    (renamed, unused): (&[(String, ServerName, String)], &[Unused]),
) -> Result<Exit, Failure> {
    let view = live::view(context, kit, user)?;
    let agent = context.global.agent.clone();
    let print: Show = |context, text, value| match context.global.json {
        true => context.print_json(value),
        false => context.print(text),
    };
    explain(context, kit, &view, (name, agent.as_deref()), (renamed, unused), print)
}

/// How what was found is shown: as text, or as JSON.
type Show = fn(&mut Context, &str, &Value);

/// The same for what somebody sees who has a view already.
pub(crate) fn explain_seen(
    context: &mut Context,
    kit: &Kitbag,
    view: &View,
    name: &str,
    show: Show,
) -> Result<Exit, Failure> {
    let setup = kit.setup();
    let agent = view.agent().name.clone();
    explain(context, kit, view, (name, agent.as_deref()), (&renamed(&setup), &unused(&setup)), show)
}

fn explain(
    context: &mut Context,
    kit: &Kitbag,
    view: &View,
    (name, agent): (&str, Option<&str>),
    (renamed, unused): (&[(String, ServerName, String)], &[Unused]),
    show: Show,
) -> Result<Exit, Failure> {
    let search = Search { kit, view, renamed, unused, agent };
    let found = search.find(name);
    let server =
        if let Way::To(walks) = &found { walks.first().map(|walk| walk.server.as_str()) } else { None };
    context.faults(&rules::about(&kit.setup(), &kit.snapshot(), server, agent));
    let walks = match found {
        Way::To(walks) => walks,
        Way::Nowhere(near) => {
            show(context, "", &json!({"asked": name, "callable": false, "tools": [], "near": near}));
            let failure = absent(view, "why", name, &near);
            return Err(live::because_closed(context, view, failure));
        }
    };
    // A name that several tools have means none of them.
    let callable = matches!(walks.as_slice(), [first, rest @ ..]
        if first.is_callable() && rest.iter().all(|walk| walk.name.is_none()));
    let tools: Vec<Value> = walks.iter().map(|walk| as_json(context, walk)).collect();
    let text: Vec<String> = walks.iter().map(|walk| describe(context, walk)).collect();
    let value = json!({"asked": name, "callable": callable, "tools": tools, "near": []});
    show(context, &text.join("\n"), &value);
    if 1 < walks.iter().filter(|walk| walk.name.is_some()).count() {
        let failure = Failure::new(Exit::NotFound, format!("{name:?} means more than one tool"));
        return Err(failure.hint("call it by one of the names above"));
    }
    Ok(walks.first().map_or(Exit::NotFound, |walk| exit(view, walk)))
}

fn exit(view: &View, walk: &Walk) -> Exit {
    // As a call would end.
    let is_meant = |(server, _): &(&ServerName, &Unreachable)| server.as_str() == walk.server;
    let away = || view.away().find(is_meant).map_or(Exit::Unavailable, |(_, away)| away.kind.into());
    match (&walk.stop, &walk.away) {
        (None, None) => Exit::Done,
        (None, Some(_)) => away(),
        (Some(stop), _) if stop.cause == Cause::Absent => away(),
        (Some(_), _) => Exit::Held,
    }
}

/// Names that operators wrote down for tools.
fn renamed(setup: &Setup) -> Vec<(String, ServerName, String)> {
    let of_server = |spec: &kitbag::ServerSpec| {
        let rules = spec.rules.tools.iter();
        let named =
            rules.filter_map(|(tool, rules)| Some((rules.name.clone()?, spec.name.clone(), tool.clone())));
        named.collect::<Vec<_>>()
    };
    setup.used().flat_map(of_server).collect()
}

/// Servers that were found and are not used; those that are held, broken or switched off have a state.
fn unused(setup: &Setup) -> Vec<Unused> {
    let rows = setup.merged.servers.iter().filter(|row| row.state == EntryState::Found);
    let unused = |name: &String| Unused {
        name: name.clone(),
        why: "is defined in another program's file and is not used",
        hint: format!("kitbag servers import {name}"),
    };
    rows.map(|row| unused(&row.name)).collect()
}

fn describe(context: &Context, walk: &Walk) -> String {
    let own = walk.tool.as_ref().map(|tool| format!("/{tool}")).unwrap_or_default();
    let mut text = format!("{}\n", styled(TITLE, visible(&format!("{}{own}", walk.server))));
    let mut table = table();
    for (number, stage) in STAGES.iter().enumerate() {
        let (sign, style, words) = match (walk.passed.get(number), &walk.stop) {
            (Some(words), _) => (sign("✓", "ok"), GOOD, words.clone()),
            (None, Some(stop)) if number == walk.passed.len() => {
                let rule = stop.rule.as_ref().map(|rule| format!("{rule}: ")).unwrap_or_default();
                (sign("✗", "no"), BAD, format!("{rule}{}", stop.why))
            }
            (None, _) => (sign("·", "-"), DIM, String::new()),
        };
        table.add_row([cell(style, sign), (*stage).into(), visible(&words).into()]);
    }
    text += &lines(&table);
    if context.global.verbose {
        text += &steps(&walk.trail);
    }
    text + &verdict(context, walk)
}

/// A sign for eyes, a word for programs.
fn sign(shown: &'static str, plain: &'static str) -> &'static str {
    if is_shown() { shown } else { plain }
}

fn to_try(hint: &str) -> String {
    format!("{}{}\n", styled(DIM, "  try: "), visible(hint))
}

fn verdict(context: &Context, walk: &Walk) -> String {
    let line = |style: Style, words: &str| format!("{}\n", styled(style, visible(words)));
    match (&walk.stop, &walk.away, &walk.name) {
        (Some(stop), ..) => {
            let hint = stop.hint.as_ref();
            let hint = hint.map(|hint| to_try(&context.to_type(hint)));
            line(BAD, "not callable") + &hint.unwrap_or_default()
        }
        (None, Some(away), _) => {
            let hint = context.to_type(&format!("kitbag logs {}", walk.server));
            line(ODD, &format!("not callable now: {away}")) + &to_try(&hint)
        }
        (None, None, name) => {
            line(GOOD, &format!("callable as {}", name.as_deref().unwrap_or_default())) + &bounds(walk)
        }
    }
}

/// How long a call may take, and which key says so.
fn bounds(walk: &Walk) -> String {
    let Some(clocks) = walk.clocks else { return String::new() };
    let text = format!("  a call may take {}, and be silent for {}", clocks.total, clocks.idle);
    format!("{}\n", styled(DIM, text))
}

/// Every rule it came by.
fn steps(trail: &[RuleStep]) -> String {
    let mut table = table();
    for step in trail {
        let (word, why) = outcome(&step.outcome);
        table.add_row([cell(DIM, "  rule"), visible(&step.rule).into(), word.into(), visible(why).into()]);
    }
    lines(&table)
}

fn outcome(outcome: &RuleOutcome) -> (&'static str, &str) {
    match outcome {
        RuleOutcome::Kept => ("kept", ""),
        RuleOutcome::Changed => ("changed", ""),
        RuleOutcome::Dropped(why) => ("dropped", why),
        RuleOutcome::Failed(why) => ("failed", why),
    }
}

fn as_json(context: &Context, walk: &Walk) -> Value {
    let stage = |(number, stage): (usize, &&str)| match (walk.passed.get(number), &walk.stop) {
        (Some(words), _) => json!({"stage": stage, "ok": true, "rule": null, "message": words}),
        (None, Some(stop)) if number == walk.passed.len() => {
            json!({"stage": stage, "ok": false, "rule": stop.rule, "message": stop.why})
        }
        (None, _) => json!({"stage": stage, "ok": null, "rule": null, "message": ""}),
    };
    let step = |step: &RuleStep| {
        let (word, why) = outcome(&step.outcome);
        json!({"rule": step.rule, "outcome": word, "message": why})
    };
    json!({
        "name": walk.name,
        "full_name": walk.full,
        "server": walk.server,
        "tool": walk.tool,
        "callable": walk.is_callable(),
        "listed": walk.listed,
        "unavailable": walk.away,
        "hint": walk.stop.as_ref().and_then(|stop| stop.hint.as_ref()).map(|hint| context.to_type(hint)),
        "stages": STAGES.iter().enumerate().map(stage).collect::<Vec<_>>(),
        "timeout_ms": walk.clocks.map(|clocks| clocks.total.time.as_millis() as u64),
        "trail": walk.trail.iter().map(step).collect::<Vec<_>>(),
    })
}
