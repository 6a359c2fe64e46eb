//! What the commands about resources and prompts have in common: servers started, waited for, asked, and what is shown of
//! a result.

use std::sync::Arc;
use std::time::Duration;

use kitbag::connect::StartServers;
use kitbag::offered::ServerResult;
use kitbag::{CallError, CallOptions, ErrorKind, Fault, Kitbag, OpenOptions, Repair, ServerName, View};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::{live, starting, unused};

/// Runs something with all servers that the flags ask for, once they are there or cannot be.
pub(crate) fn with_servers<T>(
    context: &mut Context,
    link: &LinkArgs,
    work: impl AsyncFnOnce(&mut Context, &Kitbag, &Arc<View>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let setup = link_args::setup_in_use(context, link)?;
    if !setup.switched_on {
        return Err(Failure::new(Exit::Unavailable, live::OFF.0).hint(live::OFF.1));
    }
    let asked = context.chosen.clone();
    if let Some(failure) = unused::all(context, &setup, &asked) {
        return Err(failure);
    }
    let user = setup.user.clone();
    let options = OpenOptions {
        wait: context.global.wait,
        only: (!asked.is_empty()).then_some(asked),
        start: StartServers::AtOnce,
        approver: live::approver(context),
        ..link_args::options(context, &setup)?
    };
    live::block_on(async {
        let kit = Kitbag::start(setup, options);
        starting::wait(context, &kit, starting::how_long(context, &kit.limits())).await;
        let view = live::view(context, &kit, &user);
        let done = match view {
            Ok(view) => work(context, &kit, &view)
                .await
                .map_err(|failure| live::because_closed(context, &view, failure)),
            Err(failure) => Err(failure),
        };
        kit.close_and_exit().await;
        done
    })
}

/// How a request of these is made.
pub(crate) fn options(timeout: Option<Duration>) -> CallOptions {
    CallOptions { timeout, ..CallOptions::default() }
}

/// What is wrong with lists, and how the command ends that shows them.
pub(crate) fn ended(context: &mut Context, view: &View, rows: usize, faults: &[Fault]) -> Exit {
    let is_away = faults.iter().any(|fault| fault.severity == kitbag::Severity::Error);
    live::tell(context, faults);
    let exit = if is_away && rows == 0 { Exit::Unavailable } else { Exit::Done };
    live::unless_closed(view, exit)
}

/// Facts about a result, as JSON.
pub(crate) fn meta(done: &ServerResult, what: &str) -> Value {
    let name = done.info.tool.split_once(':').map_or(done.info.tool.as_str(), |(_, name)| name);
    json!({
        "server": done.info.server.as_str(),
        what: name,
        "transport": done.info.transport.map(|transport| transport.as_str()),
        "duration_ms": done.info.took.as_millis() as u64,
        "retries": done.info.retries,
    })
}

/// Why there is no result, as JSON and in words.
pub(crate) fn failed(context: &mut Context, what: &str, name: &str, error: CallError) -> Failure {
    let near: &[String] = match error.repair.as_deref() {
        Some(Repair::Names(names)) => names,
        _ => &[],
    };
    if context.global.json {
        let server = error.server.as_ref().map(ServerName::as_str);
        let repair = match error.repair.as_deref() {
            Some(Repair::Names(names)) => json!({"names": names}),
            Some(Repair::Schema(schema)) => json!({"schema": schema}),
            None => Value::Null,
        };
        context.print_json(&json!({
            "ok": false, "kind": error.kind.as_str(), "is_error": true, "message": error.message,
            "repair": repair, "meta": {"server": server, what: name, "code": error.code},
        }));
    }
    let kind = error.kind.as_str();
    let message = match &error.server {
        Some(server) => format!("{server} ({kind}): {}", error.message),
        None => format!("{} ({kind})", error.message),
    };
    let command = if what == "prompt" { "prompts" } else { "resources" };
    let failure = Failure::new(error.kind.into(), message).of_kind(error.kind);
    match (error.kind, near) {
        (ErrorKind::NotFound | ErrorKind::Ambiguous, []) => failure.hint(format!("kitbag {command} list")),
        (ErrorKind::NotFound | ErrorKind::Ambiguous, near) => {
            failure.hint(format!("one of {}", near.join(", ")))
        }
        (ErrorKind::InvalidArguments, _) => failure.hint(format!("kitbag {command} list --verbose")),
        (ErrorKind::ApprovalDenied, _) => {
            failure.hint("do it at a terminal, where you are asked, or change \"approve\" in kitbag.toml")
        }
        _ => {
            let log = error.server.as_ref().filter(|_| !context.ad_hoc);
            failure.hint(log.map_or("kitbag status".to_owned(), |server| format!("kitbag logs {server}")))
        }
    }
}

/// `KEY=VALUE` as the arguments of a prompt, which are strings.
pub(crate) fn arguments(pairs: &[String]) -> Result<String, Failure> {
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let failure = Failure::new(Exit::Usage, format!("{pair:?} is not KEY=VALUE"));
            return Err(failure.hint("kitbag prompts get NAME KEY=VALUE"));
        };
        arguments.insert(key.to_owned(), value.into());
    }
    Ok(Value::Object(arguments).to_string())
}
