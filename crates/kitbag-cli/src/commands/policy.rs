//! `kitbag policy test`: what the rules say about a call, without making it.

use kitbag::connect::StartServers;
use kitbag::{Kitbag, OpenOptions, UserId};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::shape::policy::CallDecision;
use kitbag_core::text::visible;
use serde_json::{Map, Value, json};

use super::doctor::rules;
use crate::arguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{BAD, GOOD, ODD, styled};
use crate::{link_args, live, starting};

const EXAMPLES: &str = "\
Examples:
  kitbag policy test ada fs/write_file path=/etc/passwd
  kitbag policy test local github/delete_repo --agent coder

Exit codes: 0 it is allowed, or a person is asked · 5 no server has it · 6 it is denied or held";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say what the rules decide about a call
    Test(Test),
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct Test {
    /// For whom
    user: String,
    /// The tool, by any of its names
    tool: String,
    /// Arguments, as key=value or key:=JSON
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let Command::Test(args) = &args.command;
    let user = UserId::parse(&args.user).map_err(|invalid| Failure::new(Exit::Usage, invalid.to_string()))?;
    // The user's own servers and rules count.
    context.global.user = (user != UserId::local()).then(|| args.user.clone());
    let setup = context.setup()?;
    let options = OpenOptions { start: StartServers::OnDemand, ..link_args::options(context, &setup)? };
    live::block_on(async {
        let kit = Kitbag::start(setup, options);
        starting::wait_for_tool(context, &kit, &args.tool).await;
        let decided = decide(context, &kit, &user, args);
        kit.close_and_exit().await;
        let (decision, why) = decided?;
        let (style, exit) = match decision {
            "allow" => (GOOD, Exit::Done),
            "ask" => (ODD, Exit::Done),
            _ => (BAD, Exit::Held),
        };
        if context.global.json {
            context
                .print_json(&json!({"user": args.user, "tool": args.tool, "decision": decision, "why": why}));
        } else {
            let why = why.map(|why| format!(": {}", visible(&why))).unwrap_or_default();
            context.print(format!("{}{why}\n", styled(style, decision)));
        }
        Ok(exit)
    })
}

/// Arguments as they are typed, read by the schema.
fn given(schema: &Value, pairs: &[String]) -> Result<Map<String, Value>, Failure> {
    let invalid = |why: String| Failure::new(Exit::InvalidArguments, why);
    let read = |pair: &String| {
        let (key, text) =
            pair.split_once('=').ok_or_else(|| invalid(format!("{pair:?} is not key=value")))?;
        let value = match key.strip_suffix(':') {
            Some(key) => {
                (key, serde_json::from_str(text).map_err(|error| invalid(format!("{key:?}: {error}")))?)
            }
            None => {
                let value = arguments::read::once(schema, key, text).map_err(invalid)?;
                (key, serde_json::from_str(&value.to_string()).unwrap_or_else(|_| text.into()))
            }
        };
        Ok((value.0.to_owned(), value.1))
    };
    pairs.iter().map(read).collect()
}

/// What is decided, and why.
fn decide(
    context: &mut Context,
    kit: &Kitbag,
    user: &UserId,
    args: &Test,
) -> Result<(&'static str, Option<String>), Failure> {
    let view = live::view(context, kit, user)?;
    let agent = context.global.agent.clone();
    context.faults(&rules::about(&kit.setup(), &kit.snapshot(), None, agent.as_deref()));
    let NameMatch::One(index) = view.find(&args.tool) else {
        let hidden = view.hidden(&args.tool).next().and_then(|hidden| hidden.reason());
        return match hidden {
            Some(("pin", why)) => Ok(("held", Some(why.to_owned()))),
            Some((_, why)) => Ok(("deny", Some(why.to_owned()))),
            None => {
                let failure = Failure::new(Exit::NotFound, format!("no tool is called {:?}", args.tool));
                Err(failure.hint("kitbag tools"))
            }
        };
    };
    let Some(shown) = view.at(index) else { return Ok(("deny", None)) };
    let mut sent = given(&shown.tool.input, &args.arguments)?;
    kitbag_core::shape::restore(&shown.tool.undo, &mut sent);
    Ok(match shown.access.decide(&sent) {
        CallDecision::Allow => ("allow", None),
        CallDecision::Ask(why) => ("ask", Some(why)),
        CallDecision::Deny { rule, .. } => ("deny", Some(rule)),
    })
}
