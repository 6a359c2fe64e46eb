//! `kitbag run`: one message, one answer. The answer stands on stdout, everything else on stderr.

use std::io::Read as _;

use kitbag::{Kitbag, OpenOptions};
use kitbag_agent::{
    Agent, AgentEvent, AgentState, ConnectionState, Ended, Execution, Model, Report, Run, Talk, TextAgent,
    Usage,
};
use serde_json::{Value, json};

use crate::agents::{self, AgentArgs, MODELS, ShowUsage};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::LinkArgs;
use crate::live;
use crate::programs;
use crate::terminal::readable;
use crate::usage::Spent;

const EXAMPLES: &str = "\
Examples:
  kitbag run \"What changed in this repository this week?\"
  kitbag run --agent autonomous --model anthropic/claude-sonnet-4-5 \"Tidy up the notes\"
  kitbag run --agent claude \"Fix the failing test\"
  kitbag run --conversation new \"My name is Ada\"
  echo \"Summarise README.md\" | kitbag run -

The agents chat (the default), autonomous, text (for models without tool calling) and constrained
(for small models behind an API that can force a JSON Schema) need no entry in kitbag.toml. Nor do
the coding CLIs claude, codex, gemini and qwen: they are run with the tools and bring their own
model.

Exit codes: 0 answered · 2 usage · 3 config fault · 4 a required server is unavailable ·
5 no such agent or conversation · 11 no answer of a model (none is configured, its host failed,
too many steps, a loop) · 130 interrupted";

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
    if let Some(asked) = programs::asked(context, &args.agent, &args.link)? {
        return match &args.conversation {
            None => asked.run(context, &message),
            Some(_) => Err(Failure::new(Exit::Usage, "other programs keep their own conversations")
                .hint("leave out --conversation")),
        };
    }
    let prepared = agents::prepare(context, &args.agent, &args.link)?;
    let all = prepared.conversations();
    let conversation =
        args.conversation.as_deref().map(|asked| agents::conversation(&all, asked)).transpose()?;
    let options = OpenOptions { approver: live::approver(context), ..prepared.options(context)? };
    let options = prepared.with_sampling(options);
    let (setup, driver) = prepared.into_parts();
    live::say_if_off(context, &setup);
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let done = async {
            let text = driver.text_agent(&kit).filter(|_| conversation.is_none());
            if let Some(agent) = text {
                live::tell(context, &live::beside(&kit.own_view(), &faults));
                return say_by_text(context, (&kit, &agent), message, args.agent.usage()).await;
            }
            let mut agent = driver.agent(&kit, conversation)?;
            live::tell(context, &live::beside(&*agent.view()?, &faults));
            say(context, &mut agent, message, args.agent.usage()).await
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

async fn say(
    context: &mut Context,
    agent: &mut Agent,
    message: String,
    usage: ShowUsage,
) -> Result<Exit, Failure> {
    let mut spent = Spent::new(agent.model().id(), Usage::default());
    let ended = listen(context, agent.send(message), &mut spent).await;
    // Also of a run that failed: what was said until then is kept.
    if agent.talk().is_kept() {
        context.remark(format!("conversation {}", agent.talk().id()));
    }
    if usage == ShowUsage::Asked {
        tell_usage(context, agent.kit(), &spent);
    }
    let report = ended?;
    let json = as_json(agent, &report);
    told(context, agent.model(), &report, &json)
}

/// The same for an agent that calls tools by text.
async fn say_by_text(
    context: &mut Context,
    (kit, agent): (&Kitbag, &TextAgent),
    message: String,
    usage: ShowUsage,
) -> Result<Exit, Failure> {
    let (mut said, mut spent) = (String::new(), Spent::new(agent.model().id(), Usage::default()));
    let talk = Talk::question(message);
    let done = agent.run_with(&talk, |event| match event {
        AgentEvent::Text(text) => said = text,
        AgentEvent::Step { usage, calls, .. } => {
            spent.add(usage);
            if 0 < calls {
                aside(context, &std::mem::take(&mut said));
            }
        }
        event => tell(context, &event),
    });
    let done = done.await;
    if usage == ShowUsage::Asked {
        tell_usage(context, kit, &spent);
    }
    let report = done?.report;
    let cost = Spent::new(agent.model().id(), report.usage).dollars(&kit.setup());
    let states = (agent.state(), agent.connection());
    let json = json_of(agent.model(), (None, cost), states, &report);
    told(context, agent.model(), &report, &json)
}

fn tell_usage(context: &mut Context, kit: &Kitbag, spent: &Spent) {
    if !spent.is_unknown() {
        context.remark(spent.line(&kit.setup()));
    }
}

/// Prints what a run came to.
fn told(context: &mut Context, model: &dyn Model, report: &Report, json: &Value) -> Result<Exit, Failure> {
    if context.global.json {
        context.print_json(json);
    } else if report.ended == Ended::Answered {
        context.print(readable(&report.text) + "\n");
    }
    match report.ended {
        Ended::Answered => Ok(Exit::Done),
        ended => Err(no_answer(model, ended, report.steps)),
    }
}

/// Reads the events of a run to its end, and tells what happens on the way.
async fn listen(context: &mut Context, mut run: Run<'_>, spent: &mut Spent) -> Result<Report, Failure> {
    let (mut said, mut done, mut thoughts) = (String::new(), Report::default(), Thoughts::default());
    while let Some(event) = run.next().await {
        let event = event?;
        match &event {
            AgentEvent::Reasoning(text) => {
                thoughts.push(text);
                continue;
            }
            _ => thoughts.tell(context),
        }
        match event {
            AgentEvent::Text(text) => said.push_str(&text),
            AgentEvent::Step { usage, calls, .. } => {
                spent.add(usage);
                // What is said before calls is no answer.
                if 0 < calls {
                    aside(context, &std::mem::take(&mut said));
                }
            }
            AgentEvent::Done(report) => done = report,
            event => tell(context, &event),
        }
    }
    Ok(done)
}

/// Why a run ended that did not fail and has no answer.
pub(crate) fn no_answer(model: &dyn Model, ended: Ended, steps: usize) -> Failure {
    let at = model.at();
    match ended {
        Ended::StepLimit => Failure::new(Exit::Model, format!("{at} made {steps} replies and no answer"))
            .hint("--max-steps COUNT, or agent_steps in [limits]"),
        _ => Failure::new(Exit::Model, format!("{at} made the same call again and again"))
            .hint("say it in another way, or use another --model"),
    }
}

/// What a model thinks. It comes in pieces, and is told in lines to those who want to know more.
#[derive(Default)]
pub(crate) struct Thoughts(String);

impl Thoughts {
    pub(crate) fn push(&mut self, text: &str) {
        self.0 += text;
    }

    /// The line it is at.
    pub(crate) fn last_line(&self) -> &str {
        self.0.trim_end().lines().next_back().unwrap_or_default()
    }

    /// Tells what was thought since the last time.
    pub(crate) fn tell(&mut self, context: &mut Context) {
        let text = std::mem::take(&mut self.0);
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| context.aside(line));
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
        AgentEvent::Delegated { event, .. } => tell(context, event),
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
    let cost = Spent::new(agent.model().id(), report.usage).dollars(&agent.kit().setup());
    json_of(agent.model(), (conversation, cost), (agent.state(), agent.connection()), report)
}

fn json_of(
    model: &dyn Model,
    (conversation, cost): (Option<String>, Option<f64>),
    (state, connection): (AgentState, ConnectionState),
    report: &Report,
) -> Value {
    json!({
        "ok": report.ended == Ended::Answered, "answer": report.text, "ended": report.ended.as_str(),
        "model": model.id().to_string(), "steps": report.steps, "tools": report.tools(),
        "executions": executions(&report.executions), "delegated": executions(&report.delegated),
        "errors": report.errors().collect::<Vec<_>>(),
        "usage": {
            "input": report.usage.input, "cached": report.usage.cached, "output": report.usage.output,
        },
        "cost_usd": cost,
        "conversation": conversation, "agent_state": state.as_str(), "connection": connection.as_str(),
    })
}

/// The calls of a run.
pub(crate) fn executions(all: &[Execution]) -> Vec<Value> {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let row = |one: &Execution| json!({"step": one.step, "tool": one.tool, "took_ms": millis(one.took), "error": one.error});
    all.iter().map(row).collect()
}
