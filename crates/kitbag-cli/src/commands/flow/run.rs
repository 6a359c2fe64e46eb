//! `kitbag flow run`: what the drawing prints stands on stdout, then its outputs; a line per node on stderr with `--trace`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use kitbag::{BoxFuture, Kitbag, OpenOptions, Setup};
use kitbag_flow::{FlowError, Host, NodeDone, Output, Results};
use serde_json::{Map, Value, json};

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
    /// Values for its arguments
    #[arg(value_name = "NAME=VALUE", value_parser = argument)]
    arguments: Vec<(String, String)>,
    /// Write a line per node to stderr, with the time it took
    #[arg(long)]
    trace: bool,
}

fn argument(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write name=value")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Prints lines as they come; with `--json` it keeps them.
#[derive(Clone)]
struct Screen {
    kept: Option<Arc<Mutex<String>>>,
    trace: bool,
}

impl Output for Screen {
    fn print(&self, text: &str) {
        match &self.kept {
            Some(kept) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push_str(text);
                kept.push('\n');
            }
            // Who closed the pipe reads no more.
            None => {
                let _ = writeln!(std::io::stdout().lock(), "{}", readable(text));
            }
        }
    }

    fn done(&self, step: &NodeDone<'_>) {
        if self.trace {
            let (indent, took) = ("  ".repeat(step.depth), step.took.as_secs_f64() * 1e3);
            let failed = if step.failed { " failed" } else { "" };
            let _ =
                writeln!(std::io::stderr().lock(), "{indent}{} {took:.3} ms{failed}", readable(step.name));
        }
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let (_, flow) = super::open(context, &setup, &args.file)?;
    let typed = args.arguments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let values = flow.values(typed).map_err(failed)?;
    let screen = Screen { kept: context.global.json.then(Arc::default), trace: args.trace };
    let (env, limits) = (setup.env().clone(), setup.limits.clone());
    let options = OpenOptions {
        approver: live::approver(context),
        wait: context.global.wait,
        local: live::demo(context, &setup),
        ..link_args::options(context, &setup)?
    };
    let host = Host::new(env, screen.clone()).limits(limits);
    let host = host.kit_when_needed(move || opened(setup.clone(), options.clone()));
    let ended = live::block_on(async {
        let ended = flow.run(&host, values).await;
        if let Some(kit) = host.opened() {
            kit.close_and_exit().await;
        }
        ended.map_err(failed)
    });
    match screen.kept {
        Some(kept) => {
            let results = ended?;
            let printed = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
            context.print_json(&json!({"ok": true, "printed": printed, "outputs": outputs(&results)}));
        }
        None => context.print(readable(&ended?.text())),
    }
    Ok(Exit::Done)
}

/// The kit, when the first agent needs it: no server is started before.
fn opened(setup: Setup, options: OpenOptions) -> BoxFuture<'static, Result<Kitbag, String>> {
    Box::pin(async move {
        let opened = Kitbag::open_with(setup, options).await;
        opened.map(|(kit, _)| kit).map_err(|error| error.to_string())
    })
}

/// What JSON has no value for is given as Python writes it.
fn outputs(results: &Results) -> Value {
    let one = |(name, value): (String, &kitbag_flow::Value)| {
        (name, value.to_json().unwrap_or_else(|_| value.repr().into()))
    };
    Value::Object(results.named().map(one).collect::<Map<_, _>>())
}

fn failed(error: FlowError) -> Failure {
    let message = error.to_string();
    match error {
        FlowError::Argument { fix, .. } => Failure::new(Exit::Usage, message).hint(fix),
        FlowError::Raised { raised, .. } if raised.kind() == "AgentError" => {
            Failure::new(Exit::Model, message)
        }
        _ => Failure::new(Exit::ToolError, message)
            .hint("kitbag flow run --trace FILE shows the nodes before it"),
    }
}
