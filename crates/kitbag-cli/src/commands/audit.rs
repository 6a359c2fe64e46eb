//! `kitbag audit`: who called what, when, by which decision, and whether the log is as it was written.

use std::time::{Duration, SystemTime};

use kitbag::ServerName;
use kitbag::store::{AuditDamage, AuditEntry, AuditPosition, AuditQuery, AuditScope, AuditVerdict, Store};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use crate::args::parse_time;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;
use crate::store::{open, refused, rfc3339_of};
use crate::terminal::{BAD, DIM, GOOD, cell, lines, table};

const EXAMPLES: &str = "\
Examples:
  kitbag audit                             the newest calls
  kitbag audit --user ada --since 24h      those of one user, of one day
  kitbag audit --server github --json      those of one server
  kitbag audit verify                      whether a row is missing or was changed

Arguments are masked and cut; [audit] payload = true in kitbag.toml keeps them in full.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Of this server alone
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Not older than this, such as 24h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Duration>,
    /// So many rows at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Behind the last row of the page before, as its "position" says
    #[arg(long, value_name = "POSITION")]
    before: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say whether a row is missing or was changed
    Verify,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let store = open(&setup)?;
    live::block_on(async {
        match args.command {
            None => page(context, &*store, args).await,
            Some(Command::Verify) => verify(context, &*store).await,
        }
    })
}

async fn page(context: &mut Context, store: &dyn Store, args: &Args) -> Result<Exit, Failure> {
    // Whoever runs Kitbag without naming a user sees all rows.
    let scope = context.user()?.map_or(AuditScope::All, AuditScope::User);
    let server = args.server.as_deref().map(ServerName::parse).transpose();
    let before = args.before.as_deref().map(str::parse::<AuditPosition>).transpose();
    let query = AuditQuery {
        server: server.map_err(|invalid| Failure::new(Exit::Usage, invalid.to_string()))?,
        since: args.since.and_then(|since| SystemTime::now().checked_sub(since)),
        before: before.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?,
        ..AuditQuery::newest(scope, args.limit)
    };
    let rows = store.page(&query).await.map_err(|error| refused(&error))?;
    if context.global.json {
        context.print_json(&rows.iter().map(as_json).collect::<Value>());
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        context.remark("no call is recorded");
        return Ok(Exit::Done);
    }
    let mut shown = table();
    shown.set_header(["TIME", "USER", "CALL", "DECISION", "OUTCOME", "MS"]);
    for AuditEntry { row, .. } in &rows {
        let call = [row.server.as_ref().map(ServerName::as_str), row.tool.as_deref()];
        let call = call.into_iter().flatten().collect::<Vec<_>>().join("/");
        let outcome = row.outcome.as_str();
        let style = if outcome == "ok" { GOOD } else { BAD };
        shown.add_row([
            cell(DIM, rfc3339_of(row.at)),
            row.user.as_ref().map(|user| visible(user.as_str())).unwrap_or_default().into(),
            visible(&call).into(),
            row.decision.to_string().into(),
            cell(style, outcome),
            row.took.as_millis().to_string().into(),
        ]);
    }
    context.print(lines(&shown));
    Ok(Exit::Done)
}

async fn verify(context: &mut Context, store: &dyn Store) -> Result<Exit, Failure> {
    let verdict = store.verify().await.map_err(|error| refused(&error))?;
    let (text, value, exit) = match &verdict {
        AuditVerdict::Intact { rows } => (
            format!("{rows} rows, none missing or changed"),
            json!({"intact": true, "rows": rows}),
            Exit::Done,
        ),
        AuditVerdict::Broken { writer, row, why } => {
            let why = match why {
                AuditDamage::Missing => "missing",
                AuditDamage::Changed => "changed",
            };
            let value = json!({"intact": false, "writer": writer.as_str(), "row": row, "why": why});
            (format!("row {row} of {writer} is {why}"), value, Exit::Drift)
        }
    };
    if context.global.json {
        context.print_json(&value);
    } else {
        context.print(text + "\n");
    }
    Ok(exit)
}

fn as_json(entry: &AuditEntry) -> Value {
    let row = &entry.row;
    json!({
        "position": entry.position.to_string(), "at": rfc3339_of(row.at),
        "user": row.user.as_ref().map(|user| user.as_str()), "agent": row.agent,
        "server": row.server.as_ref().map(ServerName::as_str), "tool": row.tool,
        "decision": row.decision.to_string(), "rule": row.rule, "outcome": row.outcome.as_str(),
        "took_ms": row.took.as_millis() as u64, "request_bytes": row.request_bytes,
        "result_bytes": row.result_bytes, "arguments": row.arguments, "call": row.call,
    })
}
