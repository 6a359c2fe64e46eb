//! `kitbag run`: one message, one answer. The answer stands on stdout, everything else on stderr.

use std::io::Read as _;

use kitbag::{Kitbag, OpenOptions};
use kitbag_agent::{Agent, AgentEvent, AgentState, ConnectionState, Ended, Model, Report, Talk, TextAgent};
use serde_json::{Value, json};

use crate::agents::{self, AgentArgs, MODELS};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::LinkArgs;
use crate::live;
use crate::terminal::readable;

const EXAMPLES: &str = "\
Examples:
  kitbag run \"What changed in this repository this week?\"
  kitbag run --agent autonomous --model anthropic/claude-sonnet-4-5 \"Tidy up the notes\"
  kitbag run --conversation new \"My name is Ada\"
  echo \"Summarise README.md\" | kitbag run -

The agents chat (the default), autonomous, text (for models without tool calling) and constrained (for small models behind an API
that can force a JSON Schema) need no entry in kitbag.toml.";

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{MODELS}"))]
pub(crate) struct Args {
    /// What to say; - reads it from standard input
    message: String,
    /// Go on with a conversation that is kept, or keep a new one: its id, or new
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let message = message(&args.message)?;
    let prepared = agents::prepare(context, &args.agent, &args.link)?;
    let all = prepared.conversations();
    let conversation =
        args.conversation.as_deref().map(|asked| agents::conversation(&all, asked)).transpose()?;
    let options = OpenOptions { approver: live::approver(context), ..prepared.options(context)? };
    let (setup, driver) = prepared.into_parts();
    live::say_if_off(context, &setup);
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let done = async {
            let text = driver.text_agent(&kit).filter(|_| conversation.is_none());
            if let Some(agent) = text {
                live::tell(context, &live::beside(&*kit.own_view(), &faults));
                return say_by_text(context, &agent, message).await;
            }
            let mut agent = driver.agent(&kit, conversation)?;
            live::tell(context, &live::beside(&*agent.view()?, &faults));
            say(context, &mut agent, message).await
        };
        let done = done.await;
        kit.close_and_exit().await;
        done
    })
}

fn message(given: &str) -> Result<String, Failure> {
    let mut text = given.to_owned();
    if given == "-" {
        text.clear();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| Failure::new(Exit::Usage, format!("standard input cannot be read: {error}")))?;
    }
    if text.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the message is empty").hint("kitbag run \"What can you do?\""));
    }
    Ok(text)
}

async fn say(context: &mut Context, agent: &mut Agent, message: String) -> Result<Exit, Failure> {
    let mut run = agent.send(message);
    let (mut said, mut done) = (String::new(), None);
    while let Some(event) = run.next().await {
        match event? {
            AgentEvent::Text(text) => said.push_str(&text),
            // What is said before calls is no answer.
            AgentEvent::Step { calls, .. } if 0 < calls => {
                aside(context, &std::mem::take(&mut said));
            }
            AgentEvent::Done(report) => done = Some(report),
            event => tell(context, &event),
        }
    }
    drop(run);
    let report = done.unwrap_or_default();
    if agent.talk().is_kept() {
        context.remark(format!("conversation {}", agent.talk().id()));
    }
    let json = as_json(agent, &report);
    ended(context, agent.model(), &report, &json)
}

/// The same for an agent that calls tools by text.
async fn say_by_text(context: &mut Context, agent: &TextAgent, message: String) -> Result<Exit, Failure> {
    let mut said = String::new();
    let talk = Talk::question(message);
    let done = agent.run_with(&talk, |event| match event {
        AgentEvent::Text(text) => said = text,
        AgentEvent::Step { calls, .. } if 0 < calls => aside(context, &std::mem::take(&mut said)),
        event => tell(context, &event),
    });
    let report = done.await?.report;
    let states = (agent.state(), agent.connection());
    ended(context, agent.model(), &report, &json_of(agent.model(), None, states, &report))
}

/// Prints what a run came to.
fn ended(context: &mut Context, model: &dyn Model, report: &Report, json: &Value) -> Result<Exit, Failure> {
    if context.global.json {
        context.print_json(json);
    } else if report.ended == Ended::Answered {
        context.print(readable(&report.text) + "\n");
    }
    match report.ended {
        Ended::Answered => Ok(Exit::Done),
        Ended::StepLimit => {
            let message = format!("{} made {} replies and no answer", model.at(), report.steps);
            Err(Failure::new(Exit::Model, message).hint("--max-steps COUNT, or agent_steps in [limits]"))
        }
        _ => {
            let message = format!("{} made the same call again and again", model.at());
            Err(Failure::new(Exit::Model, message).hint("say it in another way, or use another --model"))
        }
    }
}

fn aside(context: &mut Context, text: &str) {
    if !text.trim().is_empty() && !context.global.json {
        context.remark(text.trim());
    }
}

/// What happens on the way to an answer, a line each. Arguments and results may be private, and are shown on request.
pub(crate) fn tell(context: &mut Context, event: &AgentEvent) {
    match event {
        AgentEvent::Call { tool, arguments, .. } if context.global.verbose => {
            context.remark(format!("calls {tool} {arguments}"));
        }
        AgentEvent::Call { tool, .. } => context.remark(format!("calls {tool}")),
        AgentEvent::Result(outcome) => {
            let ended = if outcome.is_error { "failed" } else { "done" };
            let first = outcome.text.lines().next().unwrap_or_default();
            let why = if outcome.is_error { format!(": {}", cut(first)) } else { String::new() };
            context.remark(format!("{} {ended} in {} ms{why}", outcome.tool, outcome.took.as_millis()));
        }
        AgentEvent::Retrying { error } => context.remark(format!("{error}; asking again")),
        AgentEvent::Reasoning(text) => context.aside(text),
        _ => {}
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a run came to; `docs/json.md` describes it.
pub(crate) fn as_json(agent: &Agent, report: &Report) -> Value {
    let conversation = agent.talk().is_kept().then(|| agent.talk().id().to_string());
    json_of(agent.model(), conversation, (agent.state(), agent.connection()), report)
}

fn json_of(
    model: &dyn Model,
    conversation: Option<String>,
    (state, connection): (AgentState, ConnectionState),
    report: &Report,
) -> Value {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let executions: Vec<Value> = report
        .executions
        .iter()
        .map(|one| json!({"step": one.step, "tool": one.tool, "took_ms": millis(one.took), "error": one.error}))
        .collect();
    json!({
        "ok": report.ended == Ended::Answered, "answer": report.text, "ended": report.ended.as_str(),
        "model": model.id().to_string(), "steps": report.steps, "tools": report.tools(),
        "executions": executions, "errors": report.errors().collect::<Vec<_>>(),
        "usage": {
            "input": report.usage.input, "cached": report.usage.cached, "output": report.usage.output,
        },
        "conversation": conversation, "agent_state": state.as_str(), "connection": connection.as_str(),
    })
}
