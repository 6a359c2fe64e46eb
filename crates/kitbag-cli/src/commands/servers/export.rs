//! `kitbag servers export`: configuration for another program, printed or written into its file.

use std::path::{Path, PathBuf};

use kitbag::config::export::{self, Secrets, Target};
use kitbag::config::layers::State;
use kitbag::config::tree::Format;
use kitbag::registry::export_into;
use kitbag::{ServerSpec, Setup};
use serde_json::Value;

use super::show;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::terminal::is_shown;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these servers; all that are in use otherwise
    #[arg(conflicts_with = "endpoint")]
    names: Vec<String>,
    /// The program: claude, cursor, qwen, lmstudio or openai
    #[arg(long, value_name = "PROGRAM", value_parser = parse_target)]
    to: Target,
    /// Export Kitbag's own endpoint at this address instead of the servers
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    endpoint: Option<String>,
    /// The name of the endpoint's entry
    #[arg(long, value_name = "NAME", default_value = "kitbag", requires = "endpoint")]
    name: String,
    /// Write into this JSON file (a backup is kept) instead of printing
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print secrets instead of ***; a pipe or file gets nothing else
    #[arg(long)]
    show_secrets: bool,
}

fn parse_url(text: &str) -> Result<String, String> {
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|host| !host.is_empty()));
    is_url.then(|| text.to_owned()).ok_or_else(|| "write it with http:// or https://".to_owned())
}

fn parse_target(word: &str) -> Result<Target, String> {
    let words: Vec<&str> = Target::ALL.iter().map(|target| target.as_str()).collect();
    Target::parse(word).ok_or_else(|| format!("one of {}", words.join(", ")))
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let value = |secrets: Secrets, specs: &[&ServerSpec]| match &args.endpoint {
        Some(url) => export::endpoint(args.to, &args.name, url),
        None => export::servers(args.to, specs.iter().copied(), secrets),
    };
    let setup = context.setup()?;
    let specs = specs(&setup, &args.names)?;
    let is_json = args.write.as_deref().is_none_or(|file| Format::of(file) == Format::Json);
    if let Some(file) = args.write.as_deref().filter(|_| is_json) {
        return write_into(context, &setup, args.to, file, &value(Secrets::Written, &specs));
    }
    let secrets = if args.show_secrets { Secrets::Written } else { Secrets::Masked };
    let shown = value(secrets, &specs);
    if !args.show_secrets && shown != value(Secrets::Written, &specs) {
        // A file with *** in place of a key looks usable and is not.
        if !is_shown() {
            let message = "values that may be secrets stand in it, and *** would be written in their place";
            return Err(Failure::new(Exit::Usage, message)
                .hint("add --show-secrets to write them, or --write FILE to change a file in place"));
        }
        context.remark(
            "values that may be secrets are shown as ***; --show-secrets prints them, --write writes them",
        );
    }
    context.print_json(&shown);
    match &args.write {
        Some(file) => {
            let message = format!("{} is not JSON and was left as it is", file.display());
            Err(Failure::new(Exit::Config, message).hint("put the snippet above into the file by hand"))
        }
        None => Ok(Exit::Done),
    }
}

fn specs<'a>(setup: &'a Setup, names: &[String]) -> Result<Vec<&'a ServerSpec>, Failure> {
    if names.is_empty() {
        return Ok(setup.used().collect());
    }
    let spec = |name: &String| {
        let row = show::find(setup, &server_name(name)?)?;
        let refused = |exit: Exit| {
            Failure::new(exit, format!("{name} is {} and cannot be exported", row.state.as_str()))
        };
        match row.spec.as_deref() {
            Some(_) if row.state == State::Held => {
                Err(refused(Exit::Held).hint(format!("kitbag trust {name}")))
            }
            Some(spec) => Ok(spec),
            None => Err(refused(Exit::Config).hint("kitbag doctor")),
        }
    };
    names.iter().map(spec).collect()
}

/// Sets each entry in the file and leaves the rest as it is.
fn write_into(
    context: &mut Context,
    setup: &Setup,
    target: Target,
    file: &Path,
    value: &Value,
) -> Result<Exit, Failure> {
    let copy = export_into(&setup.folders, target, file, &export::entries(target, value))?;
    if context.global.json {
        let copy = copy.as_ref().map(|copy| copy.to_string_lossy());
        context.print_json(
            &serde_json::json!({"done": "wrote", "file": file.to_string_lossy(), "backup": copy}),
        );
        return Ok(Exit::Done);
    }
    let kept =
        copy.map(|copy| format!("; the file as it was is kept in {}", copy.display())).unwrap_or_default();
    context.remark(format!("wrote {}{kept}", file.display()));
    Ok(Exit::Done)
}
