//! `kitbag logs`: the stderr log of a server, with times and without secrets.

use kitbag::cli::log_file;
use serde_json::json;

use super::servers::find;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server
    server: String,
    /// How many of the last lines
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 50)]
    lines: usize,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let name = server_name(&args.server)?;
    let setup = context.setup()?;
    find(&setup, &name)?;
    let file = log_file(&setup, &name);
    let text =
        std::fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(args.lines)..];
    if context.global.json {
        context.print_json(&json!({"server": name.as_str(), "file": file.to_string_lossy(), "lines": last}));
    } else if last.is_empty() {
        context.remark(format!("{name} wrote nothing so far"));
    } else {
        context.print(last.join("\n") + "\n");
    }
    Ok(Exit::Done)
}
