//! Running servers for the length of one command, and what its agent sees of them.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use kitbag::cli::{READ_RESULT, could_have, speaks_of};
use kitbag::connect::StartServers;
use kitbag::{
    ApprovalRequest, Approver, BoxFuture, ErrorKind, Fault, FaultKind, Kitbag, LocalTool, OpenOptions,
    ServerName, ServerSpec, Setup, Severity, UserId, View,
};
use kitbag_core::Stage;
use kitbag_core::config::layers::{EntryState, MergedServer};
use kitbag_core::model::TrifectaPolicy;
use kitbag_core::text::visible;

use crate::context::Context;
use crate::exit::{Exit, Failure};
#[cfg(unix)]
use crate::signals::Interrupts;
use crate::starting;
use crate::terminal::{confirm, is_interactive};

/// What there is to say when MCP is switched off, and what to do about it.
pub(crate) const OFF: (&str, &str) =
    ("MCP is switched off by AGENT_ENABLE_MCP", "set it to true, or unset it");

/// Says so when MCP is switched off: then there are no servers to wait for.
pub(crate) fn say_if_off(context: &mut Context, setup: &Setup) {
    if !setup.switched_on {
        context.remark(format!("{}; {}", OFF.0, OFF.1));
    }
}

/// Says that there is nothing to show, so that silence is not taken for a mistake.
pub(crate) fn say_nothing_to_show(context: &mut Context, kit: &Kitbag) {
    let setup = kit.setup();
    if !setup.switched_on {
        return context.remark("nothing to show");
    }
    let why = if !setup.catalog.is_empty() {
        "the catalog has no tool that is seen here"
    } else if kit.status().is_empty() {
        "no servers are configured; `--demo` has three tools at hand"
    } else {
        "no server in use has a tool that is seen here; `kitbag status` says how they are"
    };
    context.remark(format!("nothing to show: {why}"));
}

/// Prints what is wrong and worth knowing on stderr. Where a server's tools have much of the same kind a person is
/// shown the first, and where the rest is; a program, and whoever wants to know more, gets all of it.
pub(crate) fn tell(context: &mut Context, faults: &[Fault]) {
    if context.global.json || context.global.verbose {
        return context.faults(faults);
    }
    let of_kind =
        |fault: &Fault| Some((fault.server.clone()?, fault.kind)).filter(|_| fault.stage == Stage::Catalog);
    let mut counts: HashMap<(ServerName, FaultKind), usize> = HashMap::new();
    for kind in faults.iter().filter_map(of_kind) {
        *counts.entry(kind).or_default() += 1;
    }
    for fault in faults {
        let Some(kind) = of_kind(fault) else {
            context.faults([fault]);
            continue;
        };
        // The first of its kind speaks for all of them.
        match counts.remove(&kind) {
            None => {}
            Some(1) => context.faults([fault]),
            Some(count) => {
                let message = format!("{} (and {} more like it)", fault.message, count - 1);
                let all = Fault { message, ..fault.clone() }.hint(format!("kitbag status {}", kind.0));
                context.faults([&all]);
            }
        }
    }
}

/// What may be told beside what an agent sees: of tools it does not see, nothing.
pub(crate) fn beside(view: &View, faults: &[Fault]) -> Vec<Fault> {
    let all = view.tools().iter().chain(view.shadowed());
    let seen: HashMap<_, _> =
        all.map(|shown| ((&shown.tool.server, shown.tool.name.as_str()), shown)).collect();
    let told = |fault: &Fault| {
        let (Some(server), Some(tool)) = (&fault.server, &fault.tool) else { return Some(fault.clone()) };
        if view.snapshot().tool(server, tool.as_str()).is_none() {
            return Some(fault.clone());
        }
        let shown = seen.get(&(server, tool.as_str()))?;
        if fault.kind != FaultKind::TwinNames {
            return Some(fault.clone());
        }
        // Its name is like that of another that is seen, not of any other.
        view.notes_of(shown).into_iter().find(|note| note.kind == FaultKind::TwinNames)
    };
    faults.iter().filter_map(told).collect()
}

/// The tools that are at hand without any server, if they are asked for.
pub(crate) fn demo(context: &Context, setup: &Setup) -> Vec<LocalTool> {
    if !context.global.demo {
        return Vec::new();
    }
    kitbag::cli::demo(&setup.folders.state, setup.env().cwd())
}

/// Whether a name means a tool of the program itself, which needs no server. An agent may have it otherwise.
pub(crate) fn is_local(context: &Context, setup: &Setup, name: &str) -> bool {
    let is_free = setup.merged.servers.iter().all(|row| row.name != "local");
    let bare = name.strip_prefix("local/").filter(|_| is_free).unwrap_or(name);
    let known = bare == READ_RESULT || demo(context, setup).iter().any(|tool| tool.name() == bare);
    known && context.global.agent.is_none()
}

/// A kit with the servers that could have a tool, started once it is known which of them is needed.
pub(crate) fn start_for(context: &Context, setup: Setup, name: &str) -> Kitbag {
    let only = if is_local(context, &setup, name) { Vec::new() } else { servers_for(&setup, name) };
    let local = demo(context, &setup);
    let approver = approver(context);
    let start = StartServers::OnDemand;
    Kitbag::start(setup, OpenOptions { only: Some(only), start, local, approver, ..OpenOptions::default() })
}

/// Asks a kit with the servers that could have a tool, once these are there or cannot be.
pub(crate) fn ask_about<T>(
    context: &mut Context,
    setup: Setup,
    tool: &str,
    ask: impl FnOnce(&mut Context, &Kitbag) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        let kit = start_for(context, setup, tool);
        starting::wait_for_tool(context, &kit, tool).await;
        let answer = ask(context, &kit);
        kit.close_and_exit().await;
        answer
    })
}

/// The servers that could have a tool: those for which an operator wrote the name down, and those it is named
/// after.
fn servers_for(setup: &Setup, name: &str) -> Vec<ServerName> {
    if is_judged_together(setup) {
        return setup.used().map(|spec| spec.name.clone()).collect();
    }
    let renames =
        |spec: &&ServerSpec| spec.rules.tools.iter().any(|(_, rules)| rules.name.as_deref() == Some(name));
    let names: Vec<ServerName> = setup.used().map(|spec| spec.name.clone()).collect();
    let mut only: Vec<ServerName> = setup.used().filter(renames).map(|spec| spec.name.clone()).collect();
    if only.is_empty() || names.iter().any(|server| speaks_of(server, name)) {
        only.extend(could_have(names.iter(), name));
        only.sort();
        only.dedup();
    }
    only
}

/// Whether a tool can only be judged beside the tools of all servers: a policy looks at what they could do together.
pub(crate) fn is_judged_together(setup: &Setup) -> bool {
    setup.trifecta() != TrifectaPolicy::Unset
}

/// What the user and agent of the flags see.
pub(crate) fn view(context: &Context, kit: &Kitbag, user: &UserId) -> Result<Arc<View>, Failure> {
    let agent = context.global.agent.as_deref().map(|name| kit.agent(name)).transpose();
    let agent = agent.map_err(|error| Failure::new(Exit::NotFound, error.to_string()))?.unwrap_or_default();
    kit.view(user, &agent).map_err(|clash| {
        let failure = Failure::new(Exit::Config, clash.to_string());
        failure.hint("rename one of them, or set clash = \"prefix\" for the agent")
    })
}

/// How a command ends that found nothing because servers are away: as calls to all of them would.
pub(crate) fn exit_of_away(view: &View) -> Exit {
    let mut kinds = view.away().map(|(_, away)| away.kind);
    let first = kinds.next().unwrap_or(ErrorKind::Unavailable);
    if kinds.all(|kind| kind == first) { first.into() } else { Exit::Unavailable }
}

/// How a command ends that went well otherwise: what a file says and cannot be read shuts off what it could have
/// meant, and that is a fault of the configuration.
pub(crate) fn unless_closed(view: &View, exit: Exit) -> Exit {
    let is_closed =
        view.faults().iter().any(|fault| fault.stage == Stage::Config && fault.severity == Severity::Error);
    match exit {
        Exit::Done | Exit::NotFound | Exit::Unavailable if is_closed => Exit::Config,
        exit => exit,
    }
}

/// The same for a failure: says what cannot be read where that is why nothing was found.
pub(crate) fn because_closed(context: &mut Context, view: &View, failure: Failure) -> Failure {
    let exit = unless_closed(view, failure.exit);
    if exit == failure.exit {
        return failure;
    }
    context.faults(view.faults());
    Failure { exit, ..failure }
}

/// The same for a tool of a server whose own entry cannot be read: another server's tool was not meant.
pub(crate) fn because_broken(context: &mut Context, kit: &Kitbag, name: &str, failure: Failure) -> Failure {
    let setup = kit.setup();
    let is_meant = |row: &&MergedServer| {
        row.state == EntryState::Broken
            && ServerName::parse(&row.name).is_ok_and(|server| speaks_of(&server, name))
    };
    let broken = setup.merged.servers.iter().find(is_meant);
    let Some(row) = broken.filter(|_| failure.exit == Exit::NotFound) else { return failure };
    context.faults(&row.faults);
    let message = format!("the entry of {} cannot be read, so it is not used", visible(&row.name));
    Failure::new(Exit::Config, message).hint("kitbag doctor")
}

/// Asks at the terminal before a call that needs a person's yes; nobody where nobody sits there.
pub(crate) fn approver(context: &Context) -> Option<Arc<dyn Approver>> {
    let asks = is_interactive() && !context.global.quiet && !context.global.json;
    asks.then(|| Arc::new(AtTerminal) as Arc<dyn Approver>)
}

struct AtTerminal;

impl Approver for AtTerminal {
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, bool> {
        let arguments = serde_json::Value::Object(approval.arguments).to_string();
        let call = format!("{}/{} {arguments}", approval.server, approval.tool);
        let asked = tokio::task::spawn_blocking(move || {
            confirm(&format!("{} needs your approval. Call it?", visible(&call)))
        });
        Box::pin(async move { asked.await.unwrap_or(false) })
    }
}

/// Runs something that needs servers. An interrupt ends it and us at once; the guards end the servers.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Bug, format!("no runtime: {error}")))?;
    #[cfg(unix)]
    let interrupts = Interrupts::listen()
        .map_err(|error| Failure::new(Exit::Bug, format!("cannot listen for signals: {error}")))?;
    #[cfg(unix)]
    let interrupted = interrupts.next();
    #[cfg(not(unix))]
    let interrupted = async { drop(tokio::signal::ctrl_c().await) };
    let done = runtime.block_on(async {
        tokio::select! {
            done = work => done,
            () = interrupted => Err(Failure::new(Exit::Interrupted, "interrupted")),
        }
    });
    // A question at the terminal may still wait for an answer, and nobody waits for that any more.
    runtime.shutdown_background();
    done
}
