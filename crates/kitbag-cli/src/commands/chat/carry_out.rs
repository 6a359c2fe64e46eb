//! What the commands of a chat do. They are answered on stderr, so that stdout has nothing but what the model says.

use kitbag_agent::{Agent, ModelChoice, ModelError, Vendor, choose};
use kitbag_core::text::{one_line, visible};
use serde_json::{Value, json};

use super::Chat;
use super::slash::{self, Command};
use crate::commands::why;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{DIM, cell, keep_whole, lines as rows_of, start_within, table, width};
use crate::{json, transcripts};

/// Columns of what is told of a tool, where nobody knows how wide the terminal is.
const ABOUT: usize = 50;

/// The lines that Tab completes to.
pub(super) fn lines(agent: &Agent) -> Vec<String> {
    let view = agent.view().ok();
    let tools = view.iter().flat_map(|view| view.tools()).map(|shown| shown.name.as_str().to_owned());
    slash::lines(tools, Vendor::ALL.iter().map(Vendor::to_string))
}

pub(super) fn carry_out(context: &mut Context, chat: &mut Chat, command: Command) -> Result<(), Failure> {
    match command {
        Command::Tools => tools(context, &chat.agent),
        Command::Servers => {
            servers(context, &chat.agent);
            Ok(())
        }
        Command::Why(tool) => {
            let view = chat.agent.view()?;
            // How it would end as a command is no matter here.
            let explained = why::explain_seen(context, chat.agent.kit(), &view, &tool, told);
            explained.map(drop).map_err(as_in_a_chat)
        }
        Command::Cost => {
            let setup = chat.agent.kit().setup();
            let (text, value) = (chat.tally.as_table(&setup), chat.tally.as_json(&setup));
            told(context, &text, &json!({ "cost": value }));
            Ok(())
        }
        Command::Clear => {
            chat.agent.clear()?;
            context.remark("everything that was said is forgotten");
            Ok(())
        }
        Command::Model(name) => model(context, &mut chat.agent, name),
        Command::Save(name) => save(context, &chat.agent, name),
        Command::Help | Command::Quit => {
            told(context, &slash::help(), &json!({ "help": slash::WORDS }));
            Ok(())
        }
    }
}

/// What is to be typed next is a command of the chat, where there is one.
fn as_in_a_chat(failure: Failure) -> Failure {
    let hint = failure.hint.map(|hint| match hint.strip_prefix("kitbag ") {
        Some("tools") => "/tools".to_owned(),
        Some("status") => "/servers".to_owned(),
        Some(rest) if rest.starts_with("why ") => format!("/{rest}"),
        _ => hint,
    });
    Failure { hint, ..failure }
}

/// Tells what was asked for, also where only results are wanted.
fn told(context: &mut Context, text: &str, value: &Value) {
    match context.global.json {
        true => context.tell(&(json::line(value) + "\n")),
        false => context.tell(text),
    }
}

fn tools(context: &mut Context, agent: &Agent) -> Result<(), Failure> {
    let view = agent.view()?;
    let mut rows = table();
    let mut names = Vec::new();
    let widest = view.tools().iter().map(|shown| shown.name.as_str().len()).max().unwrap_or_default();
    let room = width().map_or(ABOUT, |width| width.saturating_sub(widest + 6).max(12));
    for shown in view.tools() {
        let about = shown.tool.description.trim().lines().next().unwrap_or_default();
        let away = if view.is_available(shown) { "" } else { "(its server is away) " };
        let about = start_within(&one_line(&format!("{away}{about}")), room);
        rows.add_row([visible(shown.name.as_str()).into(), cell(DIM, about)]);
        names.push(shown.name.as_str().to_owned());
    }
    keep_whole(&mut rows, &[0]);
    let text = if names.is_empty() { "no tools\n".to_owned() } else { rows_of(&rows) };
    told(context, &text, &json!({ "tools": names }));
    Ok(())
}

fn servers(context: &mut Context, agent: &Agent) {
    let mut rows = table();
    let mut values = Vec::new();
    for row in agent.kit().status() {
        let why = row.status.reason().map(|reason| reason.to_string()).unwrap_or_default();
        let state = row.status.state.as_str();
        rows.add_row([visible(&row.name).into(), state.into(), cell(DIM, visible(&why))]);
        values.push(json!({"server": row.name, "state": state, "error": why}));
    }
    keep_whole(&mut rows, &[0, 1]);
    let text = if values.is_empty() { "no servers\n".to_owned() } else { rows_of(&rows) };
    told(context, &text, &json!({ "servers": values }));
}

fn model(context: &mut Context, agent: &mut Agent, name: Option<String>) -> Result<(), Failure> {
    if let Some(name) = name {
        let setup = agent.kit().setup();
        let choice = ModelChoice { flag: Some(name), agent: None };
        let chosen = choose(&choice, setup.env(), &setup.limits).map_err(|error| match error {
            ModelError::BadName { given, hint, .. } => {
                ModelError::BadName { given, hint, place: "/model".to_owned() }
            }
            error => error,
        })?;
        agent.use_model(chosen);
    }
    let at = agent.model().at().to_string();
    told(context, &format!("{}\n", visible(&at)), &json!({ "model": at }));
    Ok(())
}

fn save(context: &mut Context, agent: &Agent, name: Option<String>) -> Result<(), Failure> {
    if agent.talk().items().len() == 0 {
        return Err(Failure::new(Exit::Usage, "nothing was said yet, so there is nothing to save"));
    }
    let name = name.unwrap_or_else(|| format!("{}.md", agent.talk().id()));
    let saved = transcripts::save(&agent.transcript(), agent.kit().setup().env().cwd(), &name);
    let path = saved.map_err(|failure| Failure {
        hint: Some("/save NAME.md or /save NAME.json".to_owned()),
        ..failure
    })?;
    let path = path.display().to_string();
    told(context, &format!("saved as {}\n", visible(&path)), &json!({ "saved": path }));
    Ok(())
}
