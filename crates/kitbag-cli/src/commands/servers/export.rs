//! `kitbag servers export`: configuration for another program, printed or written into its file.

use std::path::{Path, PathBuf};

use kitbag::files::export_into;
use kitbag::{ServerName, ServerSpec, Setup};
use kitbag_core::config::export;
use kitbag_core::config::export::{ExportSecrets, ExportTarget};
use kitbag_core::config::layers::EntryState;
use kitbag_core::config::tree::Format;
use kitbag_core::text::nearest;
use serde_json::Value;

use super::show;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::terminal::is_shown;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these servers; all that are in use or disabled otherwise
    #[arg(conflicts_with = "endpoint")]
    names: Vec<String>,
    /// The program, such as claude, cursor or vscode
    #[arg(long, value_name = "PROGRAM", value_parser = parse_target)]
    to: ExportTarget,
    /// Export Kitbag's own endpoint at this address instead of the servers
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    endpoint: Option<String>,
    /// The name of the endpoint's entry
    #[arg(long, value_name = "NAME", default_value = "kitbag", requires = "endpoint", value_parser = parse_name)]
    name: ServerName,
    /// Write into this file of the program (JSON, for codex TOML; a backup is kept) instead of printing
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Print secrets instead of ***; required when the output is a pipe or a file
    #[arg(long)]
    show_secrets: bool,
}

fn parse_url(text: &str) -> Result<String, String> {
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|host| !host.is_empty()));
    is_url.then(|| text.to_owned()).ok_or_else(|| "write it with http:// or https://".to_owned())
}

fn parse_name(text: &str) -> Result<ServerName, String> {
    ServerName::parse(text).map_err(|error| error.to_string())
}

fn parse_target(word: &str) -> Result<ExportTarget, String> {
    let ids: Vec<&str> = ExportTarget::all().map(|target| target.dialect().id).collect();
    ExportTarget::by_word(word).ok_or_else(|| {
        let near = nearest(word, ids.iter().copied()).map(|near| format!("did you mean {near}? "));
        format!("{}programs: {}", near.unwrap_or_default(), ids.join(", "))
    })
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let specs = specs(&setup, &args.names)?;
    let exported = |secrets: ExportSecrets| match &args.endpoint {
        Some(url) => export::endpoint(args.to, &args.name, url),
        None => export::servers(args.to, specs.iter().copied(), secrets),
    };
    let whole = exported(ExportSecrets::Written);
    let is_asked = args.endpoint.is_some() || !args.names.is_empty();
    if whole.entries.is_empty() && is_asked {
        return Err(Failure::new(Exit::Config, whole.remarks.join("; ")));
    }
    for remark in &whole.remarks {
        context.remark(format!("note: {remark}"));
    }
    let is_fitting = |file: &&Path| Format::of(file) == args.to.format();
    if let Some(file) = args.write.as_deref().filter(is_fitting) {
        return write_into(context, &setup, args.to, file, &whole.entries);
    }
    let shown = if args.show_secrets { whole.clone() } else { exported(ExportSecrets::Masked) };
    if shown.entries != whole.entries {
        // A file with *** in place of a key looks usable and is not.
        if !is_shown() {
            let message = "it has values that may be secrets, and *** would be written in their place";
            return Err(Failure::new(Exit::Usage, message)
                .hint("add --show-secrets to write them, or --write FILE to change a file in place"));
        }
        context.remark(
            "values that may be secrets are shown as ***; --show-secrets prints them, --write writes them",
        );
    }
    if args.to.format() == Format::Json || context.global.json {
        context.print_json(&shown.document(args.to));
    } else {
        context.print(shown.text(args.to));
    }
    match &args.write {
        Some(file) => {
            let format = args.to.format().as_str();
            let message = format!("{} is not {format} and was left as it is", file.display());
            Err(Failure::new(Exit::Config, message).hint("put the snippet above into the file by hand"))
        }
        None => Ok(Exit::Done),
    }
}

fn specs<'a>(setup: &'a Setup, names: &[String]) -> Result<Vec<&'a ServerSpec>, Failure> {
    if names.is_empty() {
        let is_meant = |state: EntryState| matches!(state, EntryState::Used | EntryState::Disabled);
        let rows = setup.merged.servers.iter().filter(|row| is_meant(row.state));
        return Ok(rows.filter_map(|row| row.spec.as_deref()).collect());
    }
    let spec = |name: &String| {
        let row = show::find(setup, &server_name(name)?)?;
        let refused = |exit: Exit| {
            Failure::new(exit, format!("{name} is {} and cannot be exported", row.state.as_str()))
        };
        match row.spec.as_deref() {
            Some(_) if row.state == EntryState::Held => {
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
    target: ExportTarget,
    file: &Path,
    entries: &[(String, Value)],
) -> Result<Exit, Failure> {
    let copy = export_into(&setup.folders, target, file, entries)?;
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
