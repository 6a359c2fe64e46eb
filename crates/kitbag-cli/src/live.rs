//! Running servers for the length of one command, and what its agent sees of them.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kitbag::cli::{READ_RESULT, could_have, speaks_of};
use kitbag::connect::StartServers;
use kitbag::{
    ApprovalAnswer, ApprovalRequest, Approver, BoxFuture, CancellationToken, Fault, FaultKind, Kitbag,
    LocalTool, OpenOptions, ServerName, ServerSpec, ServerStatus, Setup, Severity, UserId, View,
};
use kitbag_core::Stage;
use kitbag_core::model::TrifectaPolicy;
use kitbag_core::text::visible;

use crate::context::Context;
use crate::exit::{Exit, Failure};
#[cfg(unix)]
use crate::signals::Interrupts;
use crate::terminal::{ask, is_interactive};
use crate::{link_args, starting};

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
    let status = kit.status();
    let why = if !setup.catalog.is_empty() {
        "the catalog has no tool that is seen here".to_owned()
    } else if status.is_empty() {
        "no servers are configured; `--demo` adds three small tools".to_owned()
    } else if kit.links().is_empty() {
        format!("no server is in use ({}); `kitbag servers` shows them", states(&status))
    } else {
        "no server in use has a tool that is seen here; `kitbag status` shows their state".to_owned()
    };
    context.remark(format!("nothing to show: {why}"));
}

/// How many servers are in which state.
fn states(status: &[ServerStatus]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in status {
        *counts.entry(row.status.state.as_str()).or_default() += 1;
    }
    counts.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
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

/// What may be told beside what an agent sees: of tools and servers it does not see, nothing.
pub(crate) fn beside(view: &View, faults: &[Fault]) -> Vec<Fault> {
    let all = view.tools().iter().chain(view.shadowed());
    let seen: HashMap<_, _> =
        all.map(|shown| ((&shown.tool.server, shown.tool.name.as_str()), shown)).collect();
    // A person who asks for no agent may know of all servers.
    let is_the_persons = view.agent().name.is_none();
    let sees = |server: &ServerName| {
        let is_away = view.snapshot().away(server).is_some();
        is_the_persons || !is_away || view.away().any(|(name, _)| name == server)
    };
    let told = |fault: &Fault| {
        if fault.server.as_ref().is_some_and(|server| !sees(server)) {
            return None;
        }
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
pub(crate) fn start_for(context: &Context, setup: Setup, name: &str) -> Result<Kitbag, Failure> {
    let only = if is_local(context, &setup, name) { Vec::new() } else { servers_for(context, &setup, name) };
    let local = demo(context, &setup);
    let approver = approver(context);
    let start = StartServers::OnDemand;
    let options = link_args::options(context, &setup)?;
    Ok(Kitbag::start(setup, OpenOptions { only: Some(only), start, local, approver, ..options }))
}

/// Asks a kit with the servers that could have a tool, once these are there or cannot be.
pub(crate) fn ask_about<T>(
    context: &mut Context,
    setup: Setup,
    tool: &str,
    ask: impl FnOnce(&mut Context, &Kitbag) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        let kit = start_for(context, setup, tool)?;
        starting::wait_for_tool(context, &kit, tool).await;
        let answer = ask(context, &kit);
        kit.close_and_exit().await;
        answer
    })
}

/// The servers that could have a tool: those for which an operator wrote the name down, and those it is named
/// after.
fn servers_for(context: &Context, setup: &Setup, name: &str) -> Vec<ServerName> {
    if is_judged_together(setup) && context.chosen.is_empty() {
        return setup.used().map(|spec| spec.name.clone()).collect();
    }
    let is_chosen = |spec: &&ServerSpec| context.chosen.is_empty() || context.chosen.contains(&spec.name);
    let used = || setup.used().filter(is_chosen);
    let renames =
        |spec: &&ServerSpec| spec.rules.tools.iter().any(|(_, rules)| rules.name.as_deref() == Some(name));
    let names: Vec<ServerName> = used().map(|spec| spec.name.clone()).collect();
    let mut only: Vec<ServerName> = used().filter(renames).map(|spec| spec.name.clone()).collect();
    if only.is_empty() || names.iter().any(|server| speaks_of(server, name)) {
        only.extend(could_have(names.iter(), name));
        only.sort();
        only.dedup();
    }
    with_fallbacks(setup, only)
}

/// The same with the servers that take their calls while they are not available.
fn with_fallbacks(setup: &Setup, mut only: Vec<ServerName>) -> Vec<ServerName> {
    let fallbacks = setup.fallbacks().by_server;
    let mut at = 0;
    while let Some(other) = only.get(at).map(|server| fallbacks.get(server)) {
        at += 1;
        let is_new = other.is_some_and(|other| !only.contains(other));
        only.extend(other.filter(|_| is_new).cloned());
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

/// Whether there is a person to ask, who wants to be asked.
pub(crate) fn can_ask(context: &Context) -> bool {
    is_interactive() && !context.global.quiet && !context.global.json
}

/// Asks at the terminal before a call that needs approval by a person; nobody where nobody sits there.
pub(crate) fn approver(context: &Context) -> Option<Arc<dyn Approver>> {
    can_ask(context).then(|| Arc::new(AtTerminal) as Arc<dyn Approver>)
}

struct AtTerminal;

impl Approver for AtTerminal {
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        let question = question(&approval);
        let asked = tokio::task::spawn_blocking(move || answer(ask(&question).as_deref()));
        Box::pin(async move { asked.await.unwrap_or(ApprovalAnswer::No) })
    }
}

/// What a person is asked about a call.
pub(crate) fn question(approval: &ApprovalRequest) -> String {
    let arguments = serde_json::Value::Object(approval.arguments.clone()).to_string();
    let call = format!("{}/{} {arguments}", approval.server, approval.tool);
    format!(
        "{} needs your approval: {}\nCall it? y once, s for this session, a always, anything else no [y/N] ",
        visible(&call),
        visible(&approval.why)
    )
}

/// What a line that was typed means.
pub(crate) fn answer(line: Option<&str>) -> ApprovalAnswer {
    match line.map(str::trim) {
        Some("y" | "Y" | "yes") => ApprovalAnswer::Once,
        Some("s" | "S" | "session") => ApprovalAnswer::Session,
        Some("a" | "A" | "always") => ApprovalAnswer::Always,
        _ => ApprovalAnswer::No,
    }
}

/// Runs something that goes on until a signal tells it to end, and then ends as it should within `most`.
pub(crate) fn serve_on<T, F: Future<Output = Result<T, Failure>>>(
    most: Duration,
    work: impl FnOnce(CancellationToken) -> F,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Bug, format!("no runtime: {error}")))?;
    let stop = CancellationToken::new();
    #[cfg(unix)]
    crate::signals::within(most);
    #[cfg(unix)]
    let interrupts = Interrupts::listen()
        .map_err(|error| Failure::new(Exit::Bug, format!("cannot listen for signals: {error}")))?;
    #[cfg(unix)]
    let interrupted = interrupts.next();
    #[cfg(not(unix))]
    let interrupted = async { drop(tokio::signal::ctrl_c().await) };
    let done = runtime.block_on(async {
        let work = work(stop.clone());
        tokio::pin!(work);
        tokio::select! {
            done = &mut work => return done,
            () = interrupted => stop.cancel(),
        }
        let late = || Failure::new(Exit::Interrupted, "interrupted");
        tokio::time::timeout(most, work).await.unwrap_or_else(|_| Err(late()))
    });
    runtime.shutdown_background();
    done
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
