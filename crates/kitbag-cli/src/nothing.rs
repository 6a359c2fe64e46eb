//! Why a command that shows tools has none to show of a server, and how it ends then: an empty answer always says what
//! keeps the tools away, for what was asked.

use kitbag::{ErrorKind, Fault, Kitbag, ServerName, Severity, View};
use kitbag_core::Stage;
use kitbag_core::shape::{HiddenTool, RuleOutcome};
use kitbag_core::text::visible;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::plural;
use crate::{live, starting, unused};

/// Why one server has nothing to show.
enum Cause {
    /// It was told already, with what is wrong with the server.
    Told(Exit),
    /// To be told.
    New(Failure),
    /// To be told, and no failure.
    Empty(String),
}

impl Cause {
    fn untold(&self) -> Option<&Failure> {
        match self {
            Self::New(failure) => Some(failure),
            Self::Told(_) | Self::Empty(_) => None,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Told(exit) => *exit,
            Self::New(failure) => failure.exit,
            Self::Empty(_) => Exit::Done,
        }
    }
}

/// How a command ends that showed no tool at all; what was told of these servers may be the reason.
pub(crate) fn ends(
    context: &mut Context,
    kit: &Kitbag,
    view: &View,
    asked: &[ServerName],
    told: &[Fault],
) -> Exit {
    let exit = explain(context, kit, view, asked);
    if exit.is_none() {
        live::say_nothing_to_show(context, kit);
    }
    let is_misread = |fault: &Fault| fault.stage == Stage::Config && fault.severity == Severity::Error;
    let exit = match exit {
        None if told.iter().any(is_misread) => Exit::Config,
        None => Exit::Done,
        Some(exit) => exit,
    };
    live::unless_closed(view, exit)
}

/// The same for one that showed some tools: of servers that were asked for by name, each without a tool says why.
pub(crate) fn partly(context: &mut Context, kit: &Kitbag, view: &View, asked: &[ServerName]) -> Exit {
    if !asked.is_empty() {
        explain(context, kit, view, asked);
    }
    live::unless_closed(view, Exit::Done)
}

/// Says of each of these servers that has no tool in the view why that is; of all servers in use where none are named.
/// How the command ends if nothing at all is shown: as a call to each of them would, where they agree.
fn explain(context: &mut Context, kit: &Kitbag, view: &View, asked: &[ServerName]) -> Option<Exit> {
    let all = servers(kit, view);
    let is_shown = |server: &&ServerName| view.tools().iter().any(|row| row.tool.server == **server);
    let of = |server: &ServerName| match cause(context, kit, view, server) {
        None if asked.contains(server) => out_of_reach(context, view, server),
        cause => cause,
    };
    let asked_or_all = if asked.is_empty() { &all } else { asked };
    let causes: Vec<Cause> = asked_or_all.iter().filter(|server| !is_shown(server)).filter_map(of).collect();
    say(context, &causes);
    causes.first()?;
    // That a server has nothing is no failure; beside another reason it does not count.
    let mut exits = causes.iter().map(Cause::exit).filter(|exit| *exit != Exit::Done);
    let Some(first) = exits.next() else { return Some(Exit::Done) };
    Some(if exits.all(|exit| exit == first) { first } else { Exit::Unavailable })
}

/// Says what was not told yet; what is to be done about several servers once.
fn say(context: &mut Context, causes: &[Cause]) {
    for cause in causes {
        if let Cause::Empty(note) = cause {
            context.remark(note);
        }
    }
    let new: Vec<&Failure> = causes.iter().filter_map(Cause::untold).collect();
    for (at, failure) in new.iter().enumerate() {
        let same = |other: &&&Failure| other.hint == failure.hint;
        let more = new[at + 1..].iter().filter(same).count();
        if new[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let and =
            if more == 0 { String::new() } else { format!(", nor of {}", plural(more, "other server")) };
        context.failed(&Failure {
            message: format!("{}{and}", failure.message),
            hint: failure.hint.clone(),
            ..Failure::new(failure.exit, "").of_kind(ErrorKind::Denied)
        });
    }
}

/// The servers in use; those of a catalog where there are no others.
fn servers(kit: &Kitbag, view: &View) -> Vec<ServerName> {
    let links: Vec<ServerName> = kit.links().iter().map(|link| link.name().clone()).collect();
    if links.is_empty() { view.snapshot().parts().map(|part| part.server.clone()).collect() } else { links }
}

/// What may be told to somebody who asked for these servers: of others, nothing; of files as a whole, what could have
/// kept these away.
pub(crate) fn about(asked: &[ServerName], mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.retain(|fault| match &fault.server {
        _ if asked.is_empty() => true,
        Some(server) => asked.contains(server),
        None => fault.severity == Severity::Error,
    });
    faults
}

fn cause(context: &Context, kit: &Kitbag, view: &View, server: &ServerName) -> Option<Cause> {
    if let Some(failure) = unused::why(&kit.setup(), server) {
        // Those were told before anything was started.
        return Some(Cause::Told(failure.exit));
    }
    if starting::still_starting(kit).iter().any(|row| row.name == server.as_str()) {
        // That is told, too, and is no failure.
        return Some(Cause::Told(Exit::Done));
    }
    if let Some((_, away)) = view.away().find(|(name, _)| *name == server) {
        return Some(Cause::Told(away.kind.into()));
    }
    if view.faults().iter().any(|fault| fault.severity == Severity::Error && is_of(fault, server)) {
        return Some(Cause::Told(Exit::Config));
    }
    let hidden: Vec<&HiddenTool> = view.left_out().iter().filter(|tool| tool.server == *server).collect();
    if hidden.is_empty() {
        return empty(view, server);
    }
    Some(Cause::New(kept_away(context, view, server, &hidden)))
}

fn is_of(fault: &Fault, server: &ServerName) -> bool {
    fault.server.as_ref().is_none_or(|name| name == server)
}

/// A server that is away and not one of the agent's.
fn out_of_reach(context: &Context, view: &View, server: &ServerName) -> Option<Cause> {
    view.snapshot().away(server)?;
    let agent = context.global.agent.as_ref()?;
    let failure = denied(format!("the agent {agent} does not see the server {server}"));
    Some(Cause::New(failure.hint(format!("servers of [agents.{agent}] in kitbag.toml"))))
}

/// A server that is there and has nothing, which is no failure.
fn empty(view: &View, server: &ServerName) -> Option<Cause> {
    let part = view.snapshot().part(server)?;
    part.tools.is_empty().then(|| Cause::Empty(format!("{server} lists no tools")))
}

/// A server whose every tool something was decided about.
fn kept_away(context: &Context, view: &View, server: &ServerName, hidden: &[&HiddenTool]) -> Failure {
    let rules = || hidden.iter().filter_map(|tool| tool.trail.last()).map(|step| step.rule.as_str());
    let is_all = |rule: &str| rules().all(|other| other == rule);
    let count = plural(hidden.len(), "tool");
    let none = format!("none of the {count} of {}", visible(server.as_str()));
    let why = hidden.first().map(|tool| format!("kitbag why {server}/{}{}", tool.tool, context.flags()));
    let (message, hint) = match &context.global.agent {
        _ if is_all("filter") => {
            (format!("{none} passes its include and exclude lists"), "kitbag doctor --connect".to_owned())
        }
        Some(agent) if is_all("agent") => (
            format!("the agent {agent} sees {none}"),
            format!("servers and allow of [agents.{agent}] in kitbag.toml"),
        ),
        _ if is_all("permission") => {
            let first = hidden.iter().find_map(|tool| match &tool.trail.last()?.outcome {
                RuleOutcome::Dropped(why) => Some(format!(": {why}")),
                _ => None,
            });
            let message = format!("the user {} may use {none}{}", view.user(), first.unwrap_or_default());
            (message, why.unwrap_or_default())
        }
        _ => (format!("{none} is left by the rules"), why.unwrap_or_default()),
    };
    denied(message).hint(hint)
}

fn denied(message: String) -> Failure {
    Failure::new(Exit::Held, message).of_kind(ErrorKind::Denied)
}
