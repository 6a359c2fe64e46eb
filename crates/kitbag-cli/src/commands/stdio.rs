//! `kitbag stdio`: everything a user may have, for a host that starts Kitbag as its one server.

use kitbag_server::{Endpoint, Scope};
use tracing::level_filters::LevelFilter;

use super::serve::{AllKits, LookArgs, entry_name};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::log::LogArgs;
use crate::{live, log, snippets, terminal};

/// How wide an entry is written on one line.
const ROOM: usize = 76;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = link_args::setup_in_use(context, &args.link)?;
    // The host writes down what is said on stderr: only what goes wrong, unless it is asked for.
    log::start(context, &args.log, setup.env().get("KITBAG_LOG"), LevelFilter::WARN)?;
    let scope = context.global.agent.clone().map_or(Scope::Everything, Scope::Agent);
    let limits = &setup.limits;
    let most = limits.drain * 3 + limits.wait_end + limits.wait_signal;
    if terminal::is_interactive() {
        show_how_to_connect(context);
    }
    let done = live::serve_on(most, async |stop| {
        let user = setup.user.clone();
        let kits = AllKits::start(context, setup)?;
        if kits.is_demo {
            context.remark("no servers are configured: serving the demo tools (clock, notes, folder)");
        }
        let all = kits.clone();
        let endpoint = Endpoint::new(kits, args.look.options());
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let served = kitbag_server::serve_stdio(&endpoint, user, scope, input, output, stop).await;
        all.close().await;
        served.map_err(|error| Failure::new(Exit::Unavailable, format!("the host is gone: {error}")))?;
        Ok(Exit::Done)
    });
    log::finish();
    done
}

/// A person who types this command waits for nothing: it is hosts that speak first.
fn show_how_to_connect(context: &mut Context) {
    let entry = snippets::generic(&entry_name(), &snippets::process());
    context.remark(format!(
        "a program that speaks MCP starts this command and talks to it; here nobody does (Ctrl-C ends it).\n\
         Its entry in such a program's file:\n{}\n\
         `kitbag serve` shows the entry or command of each known program, and is one address for all of them",
        snippets::spread(&entry, ROOM)
    ));
    context.flush();
}
