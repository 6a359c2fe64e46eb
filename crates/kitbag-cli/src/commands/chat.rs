//! `kitbag chat`: a line in, an answer out as it is made. An interrupt ends the answer, not the conversation.

use kitbag::cli::READ_RESULT;
use kitbag::{Fault, Kitbag, OpenOptions, Severity};
use kitbag_agent::{Agent, ChatItem};

use crate::agents::{self, AgentArgs, MODELS, ShowUsage};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::LinkArgs;
use crate::live;
use crate::terminal::{on_terminal, plural};
use crate::usage::Tally;

mod answer;
mod approve;
mod carry_out;
mod input;
mod screen;
mod slash;

use approve::Questions;
use input::{LineSource, Typed};
use slash::Command;

/// How many tools the banner names.
const NAMED: usize = 12;

#[derive(Debug, clap::Args)]
#[command(after_help = format!("In a chat:\n{}
At a terminal lines can be edited: arrow keys, history, Tab. Ctrl-C clears the line, and during an answer it cancels that
answer; Ctrl-D ends the chat. `kitbag conversations` lists the conversations that are kept.\n\n{MODELS}", slash::help()))]
pub(crate) struct Args {
    /// Go on with the conversation of this id
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    link: LinkArgs,
}

/// Who talks, with which agent, and what it cost so far.
struct Chat {
    agent: Agent,
    input: LineSource,
    questions: Questions,
    tally: Tally,
    usage: ShowUsage,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let prepared = agents::prepare(context, &args.agent, &args.link)?;
    let (asked, all) = (args.conversation.as_deref().unwrap_or("new"), prepared.conversations());
    let conversation = agents::conversation(&all, asked)?;
    let id = conversation.id().clone();
    let (approver, questions) = approve::at_keyboard(context);
    let options = OpenOptions { approver, ..prepared.options(context)? };
    let options = prepared.with_sampling(options);
    let (setup, driver) = prepared.into_parts();
    live::say_if_off(context, &setup);
    let usage = args.agent.usage();
    let done = live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let done = async {
            let agent = driver.agent(&kit, Some(conversation))?;
            banner(context, &agent, &faults)?;
            let input = LineSource::open(kit.setup().env().filled("TERM"), said_before(&agent))?;
            let mut chat = Chat { agent, input, questions, tally: Tally::default(), usage };
            talk(context, &mut chat).await?;
            Ok(chat.agent.talk().items().len())
        };
        let done = done.await;
        kit.close_and_exit().await;
        done
    });
    // Nobody wants to find a conversation in which nothing was said.
    if asked == "new" && matches!(done, Ok(0)) {
        let _ = all.remove(&id);
    }
    done.map(|_| Exit::Done)
}

/// What was said in an earlier chat, for the arrow keys.
fn said_before(agent: &Agent) -> Vec<String> {
    let said = |item: &ChatItem| if let ChatItem::User(text) = item { Some(text.clone()) } else { None };
    agent.talk().items().filter_map(said).collect()
}

/// Who answers, with which tools, and which servers are missing and why.
fn banner(context: &mut Context, agent: &Agent, faults: &[Fault]) -> Result<(), Failure> {
    let view = agent.view()?;
    let names = view.tools().iter().map(|shown| shown.name.as_str());
    let tools: Vec<&str> = names.filter(|name| *name != READ_RESULT).collect();
    context.remark(agent.model().at().to_string());
    let shown: Vec<&str> = tools.iter().copied().take(NAMED).collect();
    let more = if shown.len() < tools.len() { ", …" } else { "" };
    match tools.len() {
        0 => context.remark("no tools; `kitbag servers add --help` shows how to add a server"),
        count => {
            let tools = format!("{}: {}{more}", plural(count, "tool"), shown.join(", "));
            context.remark(on_terminal(&tools, 2));
        }
    }
    let told = live::beside(&view, faults);
    let told: Vec<Fault> = told.into_iter().filter(|fault| Severity::Warning <= fault.severity).collect();
    live::tell(context, &told);
    context.remark(format!("conversation {}", agent.talk().id()));
    context.remark(slash::WORDS);
    Ok(())
}

async fn talk(context: &mut Context, chat: &mut Chat) -> Result<(), Failure> {
    loop {
        context.flush();
        if context.is_broken() {
            return Ok(());
        }
        let line = match chat.input.message(carry_out::lines(&chat.agent)).await {
            Typed::Line(line) => line,
            Typed::Interrupt => continue,
            Typed::End => return Ok(()),
        };
        match slash::parse(&line) {
            Some(Ok(Command::Quit)) => return Ok(()),
            Some(Ok(command)) => {
                // What a command cannot do is told, and the chat goes on.
                if let Err(failure) = carry_out::carry_out(context, chat, command) {
                    context.failed(&failure);
                }
            }
            Some(Err(misuse)) => context.failed(&Failure::new(Exit::Usage, misuse)),
            None if line.trim().is_empty() => {}
            None => answer::say(context, chat, &line).await,
        }
    }
}
