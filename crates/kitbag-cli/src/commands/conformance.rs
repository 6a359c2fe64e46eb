//! `kitbag conformance-client`: what the protocol's own test suite starts, once for each of its scenarios.
//!
//! It opens one server with the engine every other command uses. All that is decided here is which tools are called
//! and how questions are answered.

use std::sync::Arc;

use kitbag::{Env, Kitbag, OpenOptions, ServerSpec, Setup, ToolCall};
use serde_json::Value;

use crate::context::{self, Context};
use crate::exit::{Exit, Failure};
use crate::live;

mod answers;
mod plan;

use answers::AnswerDefaults;
use plan::Plan;

/// What the suite's server is called here.
const SERVER: &str = "suite";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the suite's server listens
    url: String,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let env = context::process_env()?;
    let plan = Plan::of(&env)?;
    let setup = setup(env, &args.url)?;
    // A server that wants to know who we are ends the wait at once.
    let options = OpenOptions {
        wait: Some(setup.limits.wait_http),
        responder: Some(Arc::new(AnswerDefaults)),
        ..OpenOptions::default()
    };
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        context.faults(&faults);
        let exit = call_all(context, &kit, &plan).await;
        kit.close().await;
        Ok(exit)
    })
}

/// The one server; without it there is nothing to do.
fn setup(env: Env, url: &str) -> Result<Setup, Failure> {
    let mut spec = ServerSpec::url(context::server_name(SERVER)?, url);
    spec.required = true;
    Ok(Setup::from_specs(env, vec![spec]))
}

/// Makes the planned calls one after another. What an answer is worth is for the suite to say.
async fn call_all(context: &mut Context, kit: &Kitbag, plan: &Plan) -> Exit {
    let view = kit.own_view();
    let mut exit = Exit::Done;
    for (name, arguments) in plan.calls(&view) {
        let arguments = Value::Object(arguments).to_string();
        context.remark(format!("{name} {arguments}"));
        match kit.call_tool(&view, ToolCall::new(&name, &arguments)).await {
            Ok(result) => context.remark(format!("{name}: {:?}", result.for_model())),
            Err(failure) => {
                context.remark(format!("{name}: {}: {}", failure.kind.as_str(), failure.message));
                exit = failure.kind.into();
            }
        }
    }
    exit
}
