//! `kitbag chat`: a line in, an answer out as it is made. An interrupt ends the answer, not the conversation.

use kitbag::cli::READ_RESULT;
use kitbag::{Fault, Kitbag, OpenOptions, Severity};
use kitbag_agent::{Agent, AgentEvent};
use kitbag_core::text::visible;

use super::run::{as_json, tell};
use crate::agents::{self, AgentArgs, MODELS};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::keyboard::Keyboard;
use crate::link_args::LinkArgs;
use crate::live;
use crate::terminal::{is_interactive, plural, readable};

mod approve;

use approve::Questions;

const COMMANDS: &str =
    "/tools lists the tools, /servers the servers, /clear forgets what was said, /quit ends";

#[derive(Debug, clap::Args)]
#[command(after_help = format!("In a chat: {COMMANDS}.\n\n{MODELS}"))]
pub(crate) struct Args {
    /// Go on with the conversation of this id
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let prepared = agents::prepare(context, &args.agent, &args.link)?;
    let asked = args.conversation.as_deref().unwrap_or("new");
    let conversation = agents::conversation(&prepared.conversations(), asked)?;
    let (approver, mut questions) = approve::at_keyboard(context);
    let options = OpenOptions { approver, ..prepared.options(context)? };
    let options = prepared.with_sampling(options);
    let (setup, driver) = prepared.into_parts();
    live::say_if_off(context, &setup);
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let done = async {
            let mut agent = driver.agent(&kit, Some(conversation))?;
            banner(context, &agent, &faults)?;
            talk(context, &mut agent, &mut questions).await
        };
        let done = done.await;
        kit.close_and_exit().await;
        done
    })
}

/// Who answers, with which tools, and which servers are missing and why.
fn banner(context: &mut Context, agent: &Agent, faults: &[Fault]) -> Result<(), Failure> {
    let view = agent.view()?;
    let names = view.tools().iter().map(|shown| shown.name.as_str());
    let tools: Vec<&str> = names.filter(|name| *name != READ_RESULT).collect();
    context.remark(format!("{}; conversation {}", agent.model().at(), agent.talk().id()));
    let shown: Vec<&str> = tools.iter().copied().take(12).collect();
    let more = if shown.len() < tools.len() { ", …" } else { "" };
    match tools.len() {
        0 => context.remark("no tools"),
        count => context.remark(format!("{}: {}{more}", plural(count, "tool"), shown.join(", "))),
    }
    let told = live::beside(&view, faults);
    let told: Vec<Fault> = told.into_iter().filter(|fault| Severity::Warning <= fault.severity).collect();
    live::tell(context, &told);
    context.remark(COMMANDS);
    Ok(())
}

async fn talk(context: &mut Context, agent: &mut Agent, questions: &mut Questions) -> Result<Exit, Failure> {
    let keyboard = Keyboard::listen();
    let mut keyboard = keyboard
        .map_err(|error| Failure::new(Exit::Usage, format!("standard input cannot be read: {error}")))?;
    loop {
        if is_interactive() && !context.global.quiet {
            context.overwrite("> ");
        }
        let Some(line) = keyboard.line().await else { return Ok(Exit::Done) };
        match line.trim() {
            "" => {}
            "/quit" | "/exit" | "exit" | "quit" => return Ok(Exit::Done),
            "/clear" => {
                agent.clear()?;
                context.remark("everything that was said is forgotten");
            }
            "/tools" => {
                let view = agent.view()?;
                for shown in view.tools() {
                    context.remark(shown.name.as_str());
                }
            }
            "/servers" => {
                for row in agent.kit().status() {
                    let why = row.status.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
                    context.remark(format!("{} {}{why}", row.name, row.status.state.as_str()));
                }
            }
            word if word.starts_with('/') => {
                context.remark(format!("{} is not a command; {COMMANDS}", visible(word)))
            }
            _ => say(context, agent, &line, questions, &mut keyboard).await?,
        }
        context.flush();
        if context.is_broken() {
            return Ok(Exit::Done);
        }
    }
}

/// Says one thing. What goes wrong with the model is told, and the conversation goes on.
async fn say(
    context: &mut Context,
    agent: &mut Agent,
    line: &str,
    questions: &mut Questions,
    keyboard: &mut Keyboard,
) -> Result<(), Failure> {
    #[cfg(unix)]
    let interrupted = crate::signals::OpenRun::new();
    let mut run = agent.send(line);
    let mut report = None;
    loop {
        #[cfg(unix)]
        let event = tokio::select! {
            event = run.next() => event,
            question = questions.next() => {
                question.ask(context, keyboard).await;
                continue;
            }
            () = interrupted.cancelled() => {
                context.remark("\ncancelled; the conversation goes on");
                break;
            }
        };
        #[cfg(not(unix))]
        let event = tokio::select! {
            event = run.next() => event,
            question = questions.next() => {
                question.ask(context, keyboard).await;
                continue;
            }
        };
        match event {
            None => break,
            Some(Err(error)) => {
                let failure = Failure::from(error);
                context.failed(&failure);
                break;
            }
            Some(Ok(AgentEvent::Text(text))) if !context.global.json => {
                context.print(readable(&text));
                context.flush();
            }
            Some(Ok(AgentEvent::Step { .. })) if !context.global.json => context.print("\n"),
            Some(Ok(AgentEvent::Done(done))) => report = Some(done),
            Some(Ok(event)) => tell(context, &event),
        }
    }
    drop(run);
    if let Some(report) = report.filter(|_| context.global.json) {
        context.print_json(&as_json(agent, &report));
    }
    Ok(())
}
