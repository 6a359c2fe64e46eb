//! `kitbag call`: one tool, called once.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use kitbag::cli::speaks_of;
use kitbag::{
    CallOptions, CallResult, ErrorKind, Kitbag, Repair, ResultSize, ServerName, ToolCall, UserId, View,
    ViewTool,
};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::schema::{ExactJson, filled_example};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::{arguments, live, starting, unused};

mod elicit;
mod given;
mod hide;
mod progress;
mod result;
mod save;

use elicit::Asker;
use given::{Given, Sources};
pub(super) use hide::Hide;
use progress::ProgressLine;
pub(super) use result::show;
pub(super) use save::Folder;

const EXAMPLES: &str = "\
Examples:
  kitbag call mcp_time_get_current_time timezone=Europe/Berlin
  kitbag call time/get_current_time --args '{\"timezone\": \"UTC\"}'
  kitbag call notes add='buy milk' --demo
  kitbag call --server 'npx -y @modelcontextprotocol/server-everything' echo message=hi
  kitbag call --server https://example.com/mcp search query=kit --trace

KEY=VALUE is read as the tool's schema says: n=3 is a number only where it asks for one.
Where it asks for a list, tags=a,b and tags=a tags=b are two items.
KEY:=JSON is always read as JSON.
KEY=@FILE takes the text of a file, KEY=@- of standard input; KEY=@@a is the text @a.
Images, sounds and files are saved where --save says, else kept for a while in the state folder;
--json alone saves nothing.
What a server asks during the call is asked at the terminal; without one it is declined.";

/// A modern server sends log messages to calls that ask for them.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The tool: its shown name, server/tool (or server.tool, mcp__server__tool), or its own
    /// name when only one server has it
    tool: String,
    /// Arguments: KEY=VALUE, or KEY:=JSON
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Arguments as a JSON object; - reads them from standard input
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// How long the call may take, such as 30s; within the limits
    #[arg(long, value_name = "TIME", value_parser = crate::args::parse_time)]
    timeout: Option<Duration>,
    /// Print the whole result, however large it is
    #[arg(long)]
    full: bool,
    /// Save images, sounds and files in this folder
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Print the server's own secrets instead of ***, where its result holds them
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    link: LinkArgs,
}

impl Args {
    /// The tool as it was typed.
    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = link_args::setup_in_use(context, &args.link)?;
    let mut sources = Sources::new(setup.env().cwd().to_owned(), setup.limits.line);
    let base = sources.base(args.args.as_deref())?;
    if !setup.switched_on && !live::is_local(context, &setup, &args.tool) {
        return Err(Failure::new(Exit::Unavailable, live::OFF.0).hint(live::OFF.1));
    }
    if let Some(failure) = unused::why_written(&setup, &args.tool) {
        return Err(not_sent(context, failure));
    }
    let folder = match &args.save {
        Some(folder) => Folder::asked_for(folder)?,
        None => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            Folder::kept(&setup.folders.state, &setup.user, &setup.limits, now)
        }
    };
    let user = setup.user.clone();
    live::block_on(async {
        let kit = live::start_for(context, setup, &args.tool)?;
        starting::wait_for_tool(context, &kit, &args.tool).await;
        let hide = if args.show_secrets { Hide::default() } else { Hide::of(&kit) };
        let outcome = once(context, &kit, &user, args, (base, sources), &hide).await;
        let exit = match outcome {
            Ok(result) => result::show(context, &result, &folder, &hide, kit.limits().files),
            Err(failure) => Err(failure),
        };
        kit.close_and_exit().await;
        exit
    })
}

async fn once(
    context: &mut Context,
    kit: &Kitbag,
    user: &UserId,
    args: &Args,
    (base, mut sources): (Given, Sources),
    hide: &Hide,
) -> Result<CallResult, Failure> {
    let view = live::view(context, kit, user)?;
    let found = if let NameMatch::One(index) = view.find(&args.tool) { view.at(index) } else { None };
    let arguments = match found {
        Some(shown) => {
            say_what_is_taken(context, &args.tool, shown);
            let given = sources.with_pairs(base, &args.pairs, &shown.tool.input);
            given.map_err(|failure| match failure.hint {
                None => with_arguments(context, &view, &args.tool, failure),
                Some(_) => failure,
            })?
        }
        // What is wrong with the name is said below, in the words everybody gets.
        None => base,
    };
    let text = ExactJson::Object(arguments).to_string();
    let done = follow(context, kit, &view, args, &text, hide).await;
    done.map_err(|failure| {
        let kind = failure.kind;
        if kind == ErrorKind::NotFound
            && let Some(failure) = unused::why_tool(&kit.setup(), &args.tool)
        {
            return not_sent(context, failure);
        }
        let failure = failed(context, &view, &args.tool, failure).of_kind(kind);
        live::because_closed(context, &view, failure)
    })
}

/// A tool of a server that is not used: why, as JSON too.
fn not_sent(context: &mut Context, failure: Failure) -> Failure {
    if context.global.json {
        let kind = if failure.exit == Exit::Held { ErrorKind::Held } else { ErrorKind::Unavailable };
        context.print_json(&json!({
            "ok": false, "kind": kind.as_str(), "content": [], "structured": null, "is_error": true,
            "message": failure.message, "repair": null, "meta": {"server": null, "tool": null, "code": null},
        }));
    }
    failure
}

/// Says which tool a name is taken for that nobody gave it.
fn say_what_is_taken(context: &mut Context, name: &str, shown: &ViewTool) {
    let (server, tool) = (&shown.tool.server, shown.tool.name.as_str());
    let own = format!("{server}/{tool}");
    let is_known = [shown.name.as_str(), shown.full.as_str(), tool, &own].contains(&name);
    // The short name has no prefix, and is in nobody's way.
    let is_short = shown.full.as_str().strip_prefix("mcp_") == Some(name);
    if !is_known && !is_short {
        context.remark(format!("note: {name} is taken for {own}"));
    }
}

/// Makes the call and shows what is said while it runs.
async fn follow(
    context: &mut Context,
    kit: &Kitbag,
    view: &View,
    args: &Args,
    text: &str,
    hide: &Hide,
) -> Result<CallResult, kitbag::CallError> {
    let (sender, mut notes) = tokio::sync::mpsc::channel(kit.limits().notes.max(1));
    let logs = context.global.verbose.then(|| (LOG_LEVEL.to_owned(), "debug".into()));
    let meta = logs.into_iter().collect();
    let size = match (args.full, context.global.json && args.save.is_none()) {
        (true, _) => ResultSize::Whole,
        (false, true) => ResultSize::Bounded,
        // What becomes a file is not printed, and may be as large as it likes.
        (false, false) => ResultSize::Texts,
    };
    let (responder, mut questions) = elicit::channel(kit.limits().questions);
    let options = CallOptions {
        notifications: Some(sender),
        responder: Some(responder),
        meta,
        size,
        timeout: args.timeout,
        ..CallOptions::default()
    };
    let call = ToolCall { options, ..ToolCall::new(args.tool.as_str(), text) };
    let mut progress = ProgressLine::new(context, &args.tool, hide);
    let mut work = std::pin::pin!(kit.call_tool(view, call));
    let mut asker = Asker::new(context, hide, &kit.limits());
    let mut open = true;
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            () = asker.answered() => {}
            // A person who is being asked is not shown anything else.
            question = questions.recv(), if asker.is_free() => {
                progress.end(context);
                question.into_iter().for_each(|question| asker.take(context, question));
            }
            note = notes.recv(), if open && asker.is_free() => match note {
                Some(note) => progress.take(context, &note),
                None => open = false,
            },
        }
    };
    // Notes come before the answer, and some may still lie there.
    while let Ok(note) = notes.try_recv() {
        progress.take(context, &note);
    }
    progress.end(context);
    done
}

/// Why there is no result, as JSON and in words.
fn failed(context: &mut Context, view: &View, name: &str, error: kitbag::CallError) -> Failure {
    if context.global.json {
        let server = error.server.as_ref().map(ServerName::as_str);
        let meta = json!({"server": server, "tool": error.tool, "code": error.code});
        let repair = match error.repair.as_deref() {
            Some(Repair::Names(names)) => json!({"names": names}),
            Some(Repair::Schema(schema)) => json!({"schema": schema}),
            None => Value::Null,
        };
        context.print_json(&json!({
            "ok": false, "kind": error.kind.as_str(), "content": [], "structured": null, "is_error": true,
            "message": error.message, "repair": repair, "meta": meta,
        }));
    }
    let near = match error.repair.as_deref() {
        Some(Repair::Names(names)) => names.as_slice(),
        _ => &[],
    };
    let message = match &error.server {
        // Which server has the tool is not known; a person may know why those that could are away.
        Some(server) if error.tool.is_none() && !speaks_of(server, name) => {
            format!("{} ({})", nobody(view, name), error.kind.as_str())
        }
        Some(server) => format!("{server} ({}): {}", error.kind.as_str(), error.message),
        None => format!("{} ({})", error.message, error.kind.as_str()),
    };
    match error.kind {
        ErrorKind::NotFound => unknown("call", name, message, near),
        ErrorKind::Ambiguous => Failure::new(Exit::NotFound, message).hint("use one of these names"),
        ErrorKind::InvalidArguments => {
            with_arguments(context, view, name, Failure::new(Exit::InvalidArguments, message))
        }
        ErrorKind::ApprovalDenied => Failure::new(Exit::Held, message)
            .hint("call it at a terminal, where you are asked, or change \"approve\" in kitbag.toml"),
        // The message says what to do.
        ErrorKind::Held if message.contains("kitbag pins") => Failure::new(Exit::Held, message),
        ErrorKind::OutcomeUnknown => Failure::new(Exit::OutcomeUnknown, message)
            .hint("look whether it was carried out before you call it again"),
        kind => {
            // A server that nobody configured has no log that could be named.
            let logged = error.server.as_ref().filter(|_| !context.ad_hoc);
            let log = logged.map(|server| format!("kitbag logs {server}"));
            let fix = error.reason.as_ref().and_then(|reason| reason.hint.as_ref());
            let message = fix.map_or(message.clone(), |fix| format!("{message}; {fix}"));
            Failure::new(kind.into(), message).hint(log.unwrap_or_else(|| "kitbag status".to_owned()))
        }
    }
}

/// That a name means nothing here: no tool has it, or the server that may have it is away.
pub(crate) fn absent(view: &View, command: &str, name: &str, near: &[String]) -> Failure {
    let message = nobody(view, name);
    match kitbag::cli::absent(view, name, near.to_vec()).kind {
        ErrorKind::NotFound => unknown(command, name, message, near),
        kind => Failure::new(kind.into(), message).hint("kitbag status"),
    }
}

/// That nobody has a name, and who could not be asked.
fn nobody(view: &View, name: &str) -> String {
    let away = view.away().map(|(server, away)| format!("{server}: {}", away.why));
    let away: Vec<String> = away.collect();
    let away = if away.is_empty() { String::new() } else { format!("; not connected: {}", away.join("; ")) };
    format!("no tool is called {name:?}{away}")
}

/// A name nobody here has: what may have been meant.
fn unknown(command: &str, name: &str, message: String, near: &[String]) -> Failure {
    let failure = Failure::new(Exit::NotFound, message);
    match near {
        [] if command != "why" => failure.hint(format!("kitbag why {}", arguments::quoted(name))),
        [] => failure.hint("kitbag tools"),
        [near] => failure.hint(format!("kitbag {command} {near}")),
        near => failure.hint(format!("kitbag {command} with one of {}", near.join(", "))),
    }
}

/// What would have been right.
fn with_arguments(context: &Context, view: &View, name: &str, failure: Failure) -> Failure {
    let NameMatch::One(index) = view.find(name) else { return failure };
    let Some(shown) = view.at(index) else { return failure };
    let all = arguments::of(&shown.tool.input);
    let failure = if all.is_empty() {
        failure.detail("  it takes no arguments\n")
    } else {
        failure.detail(arguments::as_table(&all))
    };
    let example = shown.tool.examples.first().cloned().or_else(|| filled_example(&shown.tool.input));
    match example {
        Some(example) => {
            let command = arguments::command(shown.name.as_str(), &shown.tool.input, &example);
            // Arguments may hold anything, so the flags are put there here.
            failure.hint(command + &context.flags())
        }
        None => failure.hint(format!("kitbag show {}", shown.name)),
    }
}
