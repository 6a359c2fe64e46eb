//! One message and its answer. Calls may wait for a yes meanwhile, and an interrupt ends the answer, not the conversation.

use std::collections::VecDeque;
use std::pin::pin;

use kitbag_agent::{AgentError, AgentEvent, Ended, Report, Run, Usage};

use super::Chat;
use super::approve::{Questions, WaitingCall};
use super::input::{LineSource, Typed};
use super::screen::Screen;
use crate::agents::ShowUsage;
use crate::commands::run::{as_json, no_answer};
use crate::context::Context;
use crate::exit::Failure;
#[cfg(unix)]
use crate::signals::OpenRun;
use crate::terminal::on_terminal;
use crate::usage::Spent;

/// Nothing interrupts an answer alone where there are no signals.
#[cfg(not(unix))]
struct OpenRun;

#[cfg(not(unix))]
impl OpenRun {
    fn new() -> Self {
        Self
    }

    async fn cancelled(&self) {
        std::future::pending().await
    }
}

type Event = Result<AgentEvent, AgentError>;

/// What comes next.
enum Next {
    Event(Option<Event>),
    Question(WaitingCall),
    Interrupt,
}

/// How an answer ended.
enum End {
    Done(Box<Report>),
    Failed(AgentError),
    Cancelled,
}

/// Says one thing. What goes wrong with the model is told, and the conversation goes on.
pub(super) async fn say(context: &mut Context, chat: &mut Chat, line: &str) {
    let Chat { agent, input, questions, tally, usage } = chat;
    let mut screen = Screen::new(context);
    let mut spent = Spent::new(agent.model().id(), Usage::default());
    screen.wait(context);
    let end = follow(context, agent.send(line), &mut screen, questions, input).await;
    screen.clear(context);
    spent.add(screen.usage());
    match end {
        End::Cancelled => context.remark("cancelled; the conversation goes on"),
        End::Failed(error) => context.failed(&Failure::from(error)),
        End::Done(report) => {
            if context.global.json {
                context.print_json(&as_json(agent, &report));
            }
            if report.ended != Ended::Answered {
                context.failed(&no_answer(agent.model(), report.ended, report.steps));
            }
        }
    }
    if *usage == ShowUsage::Asked && !spent.is_unknown() {
        context.remark(spent.line(&agent.kit().setup()));
    }
    tally.push(spent);
}

async fn follow(
    context: &mut Context,
    mut run: Run<'_>,
    screen: &mut Screen,
    questions: &mut Questions,
    input: &mut LineSource,
) -> End {
    let interrupted = OpenRun::new();
    // What happened while somebody was asked.
    let mut missed: VecDeque<Event> = VecDeque::new();
    let mut report = Box::<Report>::default();
    loop {
        let next = match missed.pop_front() {
            Some(event) => Next::Event(Some(event)),
            None => tokio::select! {
                event = run.next() => Next::Event(event),
                question = questions.next() => Next::Question(question),
                () = interrupted.cancelled() => Next::Interrupt,
            },
        };
        match next {
            Next::Event(None) => return End::Done(report),
            Next::Event(Some(Err(error))) => return End::Failed(error),
            Next::Event(Some(Ok(AgentEvent::Done(done)))) => *report = done,
            Next::Event(Some(Ok(event))) => screen.take(context, event),
            Next::Interrupt => return End::Cancelled,
            Next::Question(question) => {
                screen.clear(context);
                let typed = ask(context, &question, &mut run, &mut missed, input).await;
                question.answer(context, &typed);
                if matches!(typed, Typed::Interrupt) {
                    return End::Cancelled;
                }
            }
        }
    }
}

/// Asks whether a call may be made. Whatever else runs goes on meanwhile, and is told afterwards.
async fn ask(
    context: &mut Context,
    question: &WaitingCall,
    run: &mut Run<'_>,
    missed: &mut VecDeque<Event>,
    input: &mut LineSource,
) -> Typed {
    if question.is_over() {
        return Typed::End;
    }
    let (told, asked) = question.words();
    context.remark(on_terminal(&told, 2));
    let mut typed = pin!(input.answer(asked));
    let mut goes_on = true;
    loop {
        tokio::select! {
            typed = &mut typed => return typed,
            event = run.next(), if goes_on => match event {
                Some(event) => missed.push_back(event),
                None => goes_on = false,
            },
        }
    }
}
