//! Running servers for the length of one command.

use std::future::Future;

use kitbag::Setup;

use crate::context::Context;
use crate::exit::{Exit, Failure};

/// What there is to say when MCP is switched off, and what to do about it.
pub(crate) const OFF: (&str, &str) =
    ("MCP is switched off by AGENT_ENABLE_MCP", "set it to true, or unset it");

/// Says so when MCP is switched off: then there are no servers to wait for.
pub(crate) fn say_if_off(context: &mut Context, setup: &Setup) {
    if !setup.switched_on {
        context.remark(format!("{}; {}", OFF.0, OFF.1));
    }
}

/// Runs something that needs servers. An interrupt ends it and us at once; the guards end the servers.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Bug, format!("no runtime: {error}")))?;
    runtime.block_on(async {
        tokio::select! {
            done = work => done,
            () = interrupted() => Err(Failure::new(Exit::Interrupted, "interrupted")),
        }
    })
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut int), Ok(mut term), Ok(mut hup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
        _ = hup.recv() => {}
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    let _ = tokio::signal::ctrl_c().await;
}
