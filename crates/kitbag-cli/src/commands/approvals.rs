//! `kitbag approvals`: calls that wait for a person's approval in some process of this user, and answers to them.

use std::sync::Arc;
use std::time::SystemTime;

use kitbag::UserId;
use kitbag::store::{AnswerError, ApprovalAnswer, ApprovalId, Grant, PendingApproval, Store};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;
use crate::store::{open, refused, rfc3339_of};
use crate::terminal::{DIM, cell, lines, table};

const EXAMPLES: &str = "\
Examples:
  kitbag approvals                    calls that wait for you
  kitbag approvals answer ID once     approve one; also session, always, no
  kitbag approvals grants             what you approved for good
  kitbag approvals revoke mail/send   take that back";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the calls that wait for approval (default)
    List,
    /// Answer one of them
    Answer {
        /// Which, as the list shows it
        id: String,
        /// once, session, always or no
        #[arg(value_parser = parse_answer)]
        answer: ApprovalAnswer,
    },
    /// List what was approved for good
    Grants,
    /// Take back what was approved for good
    Revoke {
        /// The tool, as server/tool
        tool: String,
    },
}

fn parse_answer(word: &str) -> Result<ApprovalAnswer, String> {
    ApprovalAnswer::parse(word).ok_or_else(|| "write once, session, always or no".to_owned())
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let (store, user) = (open(&setup)?, setup.user.clone());
    live::block_on(async {
        match &args.command {
            None | Some(Command::List) => list(context, &store, &user).await,
            Some(Command::Answer { id, answer }) => self::answer(context, &store, &user, id, *answer).await,
            Some(Command::Grants) => grants(context, &store, &user).await,
            Some(Command::Revoke { tool }) => revoke(context, &store, &user, tool).await,
        }
    })
}

async fn list(context: &mut Context, store: &Arc<dyn Store>, user: &UserId) -> Result<Exit, Failure> {
    let pending = store.pending(user, SystemTime::now()).await.map_err(|error| refused(&error))?;
    if context.global.json {
        let row = |pending: &PendingApproval| {
            let ask = &pending.ask;
            json!({
                "id": pending.id.as_str(), "server": ask.server.as_str(), "tool": ask.tool.as_str(),
                "arguments": ask.shown, "created": rfc3339_of(ask.created), "expires": rfc3339_of(ask.expires),
            })
        };
        context.print_json(&pending.iter().map(row).collect::<Value>());
    } else if pending.is_empty() {
        context.remark("no call waits for your approval");
    } else {
        for PendingApproval { id, ask } in &pending {
            let call = format!("{}/{} {}", ask.server, ask.tool, ask.shown);
            context.print(format!("{id}  {}\n", visible(&call)));
        }
        context.remark("kitbag approvals answer ID once|session|always|no");
    }
    Ok(Exit::Done)
}

async fn answer(
    context: &mut Context,
    store: &Arc<dyn Store>,
    user: &UserId,
    id: &str,
    answer: ApprovalAnswer,
) -> Result<Exit, Failure> {
    let answered = store.answer(user, &ApprovalId::new(id), answer, SystemTime::now()).await;
    answered.map_err(|error| match error {
        AnswerError::Store(error) => refused(&error),
        error => Failure::new(Exit::NotFound, error.to_string()).hint("kitbag approvals"),
    })?;
    context.remark(format!("answered: {}", answer.as_str()));
    Ok(Exit::Done)
}

async fn grants(context: &mut Context, store: &Arc<dyn Store>, user: &UserId) -> Result<Exit, Failure> {
    let grants = store.grants(user).await.map_err(|error| refused(&error))?;
    if context.global.json {
        let row = |grant: &Grant| json!({"server": grant.server.as_str(), "tool": grant.tool.as_str(), "at": rfc3339_of(grant.at)});
        context.print_json(&grants.iter().map(row).collect::<Value>());
    } else if grants.is_empty() {
        context.remark("nothing is approved for good");
    } else {
        let mut rows = table();
        for grant in &grants {
            let tool = format!("{}/{}", grant.server, grant.tool);
            rows.add_row([visible(&tool).into(), cell(DIM, rfc3339_of(grant.at))]);
        }
        context.print(lines(&rows));
    }
    Ok(Exit::Done)
}

async fn revoke(
    context: &mut Context,
    store: &Arc<dyn Store>,
    user: &UserId,
    tool: &str,
) -> Result<Exit, Failure> {
    let grants = store.grants(user).await.map_err(|error| refused(&error))?;
    let meant: Vec<&Grant> =
        grants.iter().filter(|grant| format!("{}/{}", grant.server, grant.tool) == tool).collect();
    if meant.is_empty() {
        let failure = Failure::new(Exit::NotFound, format!("{tool:?} is not approved for good"));
        return Err(failure.hint("kitbag approvals grants"));
    }
    for grant in meant {
        store.revoke_grant(grant).await.map_err(|error| refused(&error))?;
    }
    context.remark(format!("{} needs approval again", visible(tool)));
    Ok(Exit::Done)
}
