//! `kitbag show`: everything about one tool.

use kitbag::{Fault, Kitbag, UserId, View, ViewTool};
use kitbag_core::catalog::{ToolAnnotations, Undo};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::shape::RuleOutcome;
use kitbag_core::text::{MASK, looks_secret, names_secret, visible};
use serde_json::{Value, json};

use super::call::absent;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::present::definition_notes;
use crate::terminal::{DIM, TITLE, cell, lines, readable, styled, table};
use crate::{arguments, json, live, unused};

const EXAMPLES: &str = "\
Examples:
  kitbag show mcp_time_get_current_time
  kitbag show time/get_current_time --json
  kitbag show clock --demo";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The tool: its shown name, server/tool, or its own name when only one server has it
    tool: String,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = link_args::setup_in_use(context, &args.link)?;
    live::say_if_off(context, &setup);
    if let Some(failure) = unused::why_written(&setup, &args.tool) {
        return Err(failure);
    }
    let user = setup.user.clone();
    live::ask_about(context, setup, &args.tool, |context, kit| once(context, kit, &user, &args.tool))?;
    Ok(Exit::Done)
}

fn once(context: &mut Context, kit: &Kitbag, user: &UserId, name: &str) -> Result<(), Failure> {
    let view = live::view(context, kit, user)?;
    let shown = match view.find(name) {
        NameMatch::One(index) => view.at(index),
        NameMatch::Ambiguous(all) => return Err(several(&view, name, &all)),
        NameMatch::None { near } => {
            let near: Vec<String> =
                near.iter().filter_map(|at| Some(view.at(*at)?.name.to_string())).collect();
            if let Some(failure) = unused::why_tool(&kit.setup(), name) {
                return Err(failure);
            }
            let failure = absent(&view, "show", name, &near);
            return Err(live::because_closed(context, &view, failure));
        }
    };
    let Some(shown) = shown else { return Ok(()) };
    if context.global.json {
        let mut all = as_json(&view, shown, &context.flags());
        let one = |(providers, note): (Vec<&str>, String)| json!({"providers": providers, "note": note});
        let noted = definition_notes(kit, &view, shown).into_iter().map(one);
        all["definition_notes"] = noted.collect();
        context.print_json(&all);
    } else {
        let text = describe(&view, shown, &definition_notes(kit, &view, shown), &context.flags());
        context.print(text);
    }
    Ok(())
}

/// A name that means several tools.
pub(crate) fn several(view: &View, name: &str, all: &[usize]) -> Failure {
    let names: Vec<&str> = all.iter().filter_map(|at| Some(view.at(*at)?.name.as_str())).collect();
    let message = format!("{name:?} may mean any of {}", names.join(", "));
    Failure::new(Exit::NotFound, message).hint("use one of these names")
}

fn describe(view: &View, shown: &ViewTool, noted: &[(Vec<&str>, String)], flags: &str) -> String {
    let tool = &shown.tool;
    let mut text = format!("{}\n", styled(TITLE, shown.name.as_str()));
    let mut facts = table();
    for (label, value) in facts_of(view, shown) {
        facts.add_row([cell(DIM, label), value.into()]);
    }
    for (providers, note) in noted {
        facts.add_row([
            cell(DIM, "definition"),
            format!("{}: {}", providers.join(", "), visible(note)).into(),
        ]);
    }
    text += &lines(&facts);
    if !tool.description.trim().is_empty() {
        let mut about = table();
        about.add_row([readable(tool.description.trim()).replace('\t', "    ")]);
        text += &format!("\n{}", lines(&about));
    }
    let all = arguments::of(&tool.input);
    text += &format!("\n{}\n", styled(TITLE, if all.is_empty() { "No arguments" } else { "Arguments" }));
    if !all.is_empty() {
        text += &arguments::as_table(&all);
    }
    for argument in &all {
        if let Some(schema) = argument.nested {
            text += &format!("\n{}", block(&visible(argument.name), schema));
        }
    }
    if let Some(output) = &tool.output {
        text += &format!("\n{}", block("Structured result", output));
    }
    if let Some(example) = example(shown, flags) {
        text += &format!("\n{}\n  {example}\n", styled(TITLE, "Example"));
    }
    text
}

fn facts_of(view: &View, shown: &ViewTool) -> Vec<(&'static str, String)> {
    let tool = &shown.tool;
    let mut facts =
        vec![("server", visible(tool.server.as_str())), ("own name", visible(tool.name.as_str()))];
    if shown.full != shown.name {
        facts.push(("full name", shown.full.to_string()));
    }
    facts.extend(tool.title.as_ref().map(|title| ("title", visible(title))));
    facts.extend(tool.category.as_ref().map(|category| ("category", visible(category))));
    if let Some(away) = view.snapshot().away(&tool.server) {
        facts.push(("unavailable", visible(&away.why)));
    }
    let hints = hints(tool.hints);
    if !hints.is_empty() {
        facts.push(("the server says", hints.join(", ")));
    }
    let marks = marks(shown);
    if !marks.is_empty() {
        facts.push(("you say", marks.join(", ")));
    }
    let changed = changed(shown);
    if !changed.is_empty() {
        facts.push(("rules changed", changed.join(", ")));
    }
    facts.extend(tool.undo.iter().map(|undo| ("on the wire", sent(undo))));
    facts.extend(notes(view, shown).iter().map(|note| (note.severity.as_str(), with_hint(note))));
    facts
}

/// What is worth knowing about the tool and about its server's whole list.
fn notes(view: &View, shown: &ViewTool) -> Vec<Fault> {
    let of_list = view.snapshot().list_notes(&shown.tool.server);
    view.notes_of(shown).into_iter().chain(of_list).collect()
}

/// A note, and what to type next.
fn with_hint(note: &Fault) -> String {
    let hint = note.hint.as_ref().map(|hint| format!(" ({})", visible(hint))).unwrap_or_default();
    visible(&note.message) + &hint
}

fn block(title: &str, schema: &Value) -> String {
    let json = json::pretty(schema);
    let indented: String = json.lines().map(|line| format!("  {line}\n")).collect();
    format!("{}\n{indented}", styled(DIM, title))
}

/// What the server claims; nothing rests on it.
fn hints(hints: ToolAnnotations) -> Vec<&'static str> {
    let word = |flag: Option<bool>, yes, no| flag.map(|flag| if flag { yes } else { no });
    [
        word(hints.read_only, "changes nothing", "changes things"),
        word(hints.destructive, "may destroy", "destroys nothing"),
        word(hints.idempotent, "idempotent", "not idempotent"),
        word(hints.open_world, "reaches beyond this machine", "stays on this machine"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn marks(shown: &ViewTool) -> Vec<&'static str> {
    let marks = shown.tool.marks;
    let repeatable = marks.repeatable.then_some("may be retried");
    let approve = shown.access.asks().map(|_| "needs approval by a person");
    repeatable.into_iter().chain(approve).collect()
}

/// The rules that changed something, each once.
pub(crate) fn changed(shown: &ViewTool) -> Vec<&str> {
    let mut rules: Vec<&str> = Vec::new();
    for step in shown.trail.iter().filter(|step| step.outcome == RuleOutcome::Changed) {
        if !rules.contains(&step.rule.as_str()) {
            rules.push(&step.rule);
        }
    }
    rules
}

/// What becomes of an argument on its way.
fn sent(undo: &Undo) -> String {
    visible(&match undo {
        Undo::Rename { shown, own } => format!("{shown} is sent as {own}"),
        Undo::Pin { own, value } => format!("{own} = {}, always", masked(own, value)),
        Undo::Default { own, value } => format!("{own} = {}, unless given", masked(own, value)),
        Undo::Hide { own } => format!("{own} is not sent"),
    })
}

/// A value an operator wrote down may be a secret.
fn masked(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if names_secret(name) || looks_secret(&text) { MASK.to_owned() } else { json::line(value) }
}

fn example(shown: &ViewTool, flags: &str) -> Option<String> {
    let arguments = shown.examples().into_iter().next()?;
    Some(arguments::command(shown.name.as_str(), &shown.tool.input, &arguments) + flags)
}

fn as_json(view: &View, shown: &ViewTool, flags: &str) -> Value {
    let tool = &shown.tool;
    let mut value = json::tool(view, shown);
    let argument = |argument: &arguments::Argument<'_>| {
        json!({
            "name": argument.name, "type": argument.kind, "required": argument.required,
            "default": argument.default, "description": argument.description,
        })
    };
    let sent = |undo: &Undo| match undo {
        Undo::Rename { shown, own } => json!({"argument": own, "change": "rename", "shown": shown}),
        Undo::Pin { own, value } => json!({"argument": own, "change": "pin", "value": masked(own, value)}),
        Undo::Default { own, value } => {
            json!({"argument": own, "change": "default", "value": masked(own, value)})
        }
        Undo::Hide { own } => json!({"argument": own, "change": "hide"}),
    };
    let more = json!({
        "unavailable": view.snapshot().away(&tool.server).map(|away| &away.why),
        "arguments": arguments::of(&tool.input).iter().map(argument).collect::<Vec<_>>(),
        "marks": {"repeatable": tool.marks.repeatable, "approve": shown.access.asks().is_some()},
        "rules": changed(shown),
        "sent": tool.undo.iter().map(sent).collect::<Vec<_>>(),
        "examples": shown.examples(),
        "example": example(shown, flags),
        "notes": notes(view, shown).iter().map(json::note).collect::<Vec<_>>(),
        "definition": tool.raw.as_ref(),
    });
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}
