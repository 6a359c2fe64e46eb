//! `kitbag flow show`: a drawing as mermaid text, with the tools its agents will see.

use std::path::PathBuf;

use kitbag::{AgentRules, Kitbag, OpenOptions, ServerName, Setup};
use kitbag_core::text::one_line;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args;
use crate::live;
use crate::terminal::readable;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The drawing
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let drawing =
        kitbag_flow::load(&args.file, &setup.limits).map_err(|problem| super::failure(&[problem]))?;
    let servers = drawing.servers();
    let tools = if servers.is_empty() { Vec::new() } else { tools(context, setup, &servers)? };
    context.print(readable(&drawing.mermaid(&tools)));
    Ok(Exit::Done)
}

/// The tools of each server, by its name; of one that is not there, why.
fn tools(
    context: &mut Context,
    setup: Setup,
    servers: &[String],
) -> Result<Vec<(String, Vec<String>)>, Failure> {
    let only: Vec<ServerName> = servers.iter().filter_map(|name| ServerName::parse(name).ok()).collect();
    let options =
        OpenOptions { wait: context.global.wait, only: Some(only), ..link_args::options(context, &setup)? };
    live::block_on(async {
        let (kit, _) = Kitbag::open_with(setup, options).await?;
        let view = kit.view(kit.user(), &AgentRules::default());
        let seen = view.map(|view| {
            let of = |server: &String| {
                let own = view.tools().iter().filter(|shown| shown.tool.server.as_str() == server);
                let lines: Vec<String> = own.map(|shown| one_line(shown.tool.name.as_str())).collect();
                let none = vec!["not available".to_owned()];
                (server.clone(), if lines.is_empty() { none } else { lines })
            };
            servers.iter().map(of).collect()
        });
        kit.close_and_exit().await;
        seen.map_err(|clash| Failure::new(Exit::Config, clash.to_string()))
    })
}
