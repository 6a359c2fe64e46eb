//! `kitbag flow new`: a drawing to begin with.

use std::io::Write as _;
use std::path::PathBuf;

use kitbag_core::text::nearest;
use kitbag_flow::{Drawing, Value};

use crate::arguments::quoted;
use crate::context::Context;
use crate::exit::{Exit, Failure};

const PROMPT: &str =
    "You are a helpful assistant. Answer in the language of the user.\n\n{tool_instruction}\n\n{tools}";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A server whose tools the agent may use (repeatable)
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// The model of the agent, as <provider>/<name>; KITBAG_MODEL otherwise
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let names: Vec<String> = super::options(&setup).servers.unwrap_or_default();
    if let Some(server) = args.server.iter().find(|server| !names.contains(server)) {
        let near = nearest(server, names.iter().map(String::as_str));
        let hint = near.map_or("kitbag servers list".to_owned(), |near| format!("--server {}", quoted(near)));
        return Err(Failure::new(Exit::NotFound, format!("no server is called {server:?}")).hint(hint));
    }
    let model = args.model.as_deref().or_else(|| setup.env().filled("KITBAG_MODEL"));
    let model = model.unwrap_or("openai/gpt-5-mini");
    let Some((provider, name)) = model.split_once('/') else {
        let failure = Failure::new(Exit::Usage, format!("{model:?} is not <provider>/<name>"));
        return Err(failure.hint("--model ollama/qwen3"));
    };
    let drawing = drawing(&args.server, provider, name);
    let drawing = drawing.map_err(|problem| super::failure(&[problem]))?;
    write(&args.file, drawing.text())?;
    let file = quoted(&args.file.to_string_lossy());
    context.remark(format!("kitbag flow run {file} question=\"What can you do?\""));
    Ok(Exit::Done)
}

/// An agent that answers the argument `question`.
fn drawing(servers: &[String], provider: &str, model: &str) -> Result<Drawing, kitbag_flow::Problem> {
    let mut drawing = Drawing::build("agent");
    for server in servers {
        drawing.then("AgentUseMCPTools", [("server_name", Value::from(server.as_str()))]);
    }
    let belt = drawing.then("AgentMakeToolbelt", []);
    let init = drawing.then(
        "AgentInit",
        [
            ("agent_name", "agent".into()),
            ("agent_provider", provider.into()),
            ("agent_model", model.into()),
            ("system_prompt", PROMPT.into()),
        ],
    );
    drawing.connect((belt, "toolbelt_spec"), (init, "toolbelt_spec"));
    let run = drawing.then("AgentRun", [("agent_name", "agent".into())]);
    drawing.argument("question", "string", (run, "conversation"));
    let print = drawing.then("Print", []);
    drawing.connect((run, "last_response"), (print, "msg"));
    drawing.finish()
}

/// A file that is there is somebody's work.
fn write(file: &std::path::Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let failure = Failure::new(Exit::Usage, format!("{} cannot be written: {error}", file.display()));
        failure.hint("give the path of a file that is not there")
    };
    let mut new = std::fs::File::options().write(true).create_new(true).open(file).map_err(failed)?;
    new.write_all(text.as_bytes()).map_err(failed)
}
