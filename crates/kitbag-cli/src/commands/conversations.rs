//! `kitbag conversations`: the conversations that are kept, to look at, to hand on and to remove.

use std::time::{SystemTime, UNIX_EPOCH};

use kitbag_agent::{ConversationId, Conversations, KeptConversation};
use kitbag_core::text::{one_line, rfc3339};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::markdown::Painter;
use crate::terminal::{DIM, cell, is_shown, keep_whole, lines, plural, readable, start_within, table, width};
use crate::transcripts;

const EXAMPLES: &str = "\
Examples:
  kitbag conversations                       list them, the one used last first
  kitbag conversations show ID               read one; with --json as JSON
  kitbag conversations save ID talk.md       write one into a new file, .md or .json
  kitbag chat --conversation ID              go on with one";

/// Columns of what a conversation began with, where nobody knows how wide the terminal is.
const FIRST: usize = 60;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them, the one used last first
    List,
    /// Print what was said in one, with its calls and their results
    Show {
        /// Its id
        id: String,
    },
    /// Write one into a new file that ends in .md or .json
    Save {
        /// Its id
        id: String,
        /// The file
        file: String,
    },
    /// Remove some
    Remove {
        /// Their ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let all = Conversations::of(&setup.user, &setup.folders.state, &setup.limits);
    match &args.action {
        None | Some(Action::List) => list(context, &all.list()),
        Some(Action::Show { id }) => show(context, &all, id)?,
        Some(Action::Save { id, file }) => {
            let path = transcripts::save(&all.transcript(&parsed(id)?)?, setup.env().cwd(), file)?;
            match context.global.json {
                true => context.print_json(&json!({"saved": path.to_string_lossy()})),
                false => context.remark(format!("saved as {}", path.display())),
            }
        }
        Some(Action::Remove { ids }) => {
            let ids: Vec<ConversationId> = ids.iter().map(|id| parsed(id)).collect::<Result<_, _>>()?;
            for id in &ids {
                all.remove(id)?;
            }
            let names: Vec<&str> = ids.iter().map(ConversationId::as_str).collect();
            match context.global.json {
                true => context.print_json(&json!({"removed": names})),
                false => context.remark(format!("removed {}", plural(names.len(), "conversation"))),
            }
        }
    }
    Ok(Exit::Done)
}

fn parsed(id: &str) -> Result<ConversationId, Failure> {
    ConversationId::parse(id).map_err(|invalid| {
        Failure::new(Exit::Usage, invalid.to_string()).hint("`kitbag conversations` lists them")
    })
}

fn list(context: &mut Context, all: &[KeptConversation]) {
    if context.global.json {
        let row = |one: &KeptConversation| json!({"id": one.id.as_str(), "changed": when(one.changed), "first": one.first});
        return context.print_json(&all.iter().map(row).collect::<Value>());
    }
    if all.is_empty() {
        return context.remark("no conversation is kept; `kitbag chat` begins one");
    }
    let mut rows = table();
    rows.set_header(["ID", "LAST USED", "BEGAN WITH"]);
    let room = width().map_or(FIRST, |width| width.saturating_sub(44).max(12));
    for one in all {
        let first = start_within(&one_line(&one.first), room);
        rows.add_row([one.id.as_str().into(), cell(DIM, when(one.changed)), first.into()]);
    }
    keep_whole(&mut rows, &[0, 1]);
    context.print(lines(&rows));
}

fn show(context: &mut Context, all: &Conversations, id: &str) -> Result<(), Failure> {
    let transcript = all.transcript(&parsed(id)?)?;
    if context.global.json {
        context.print_json(&transcript.to_json());
    } else if is_shown() {
        let mut painter = Painter::new(width());
        let text = painter.push(&transcript.to_markdown()) + &painter.end();
        context.print(text);
    } else {
        context.print(readable(&transcript.to_markdown()));
    }
    Ok(())
}

fn when(time: SystemTime) -> String {
    rfc3339(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}
