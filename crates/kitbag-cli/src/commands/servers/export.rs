//! `kitbag servers export`: configuration for another program, printed or written into its file.

use std::path::{Path, PathBuf};

use kitbag::files::export_into;
use kitbag::{ServerName, ServerSpec, Setup};
use kitbag_core::config::export;
use kitbag_core::config::export::{EndpointReach, ExportSecrets, ExportTarget};
use kitbag_core::config::layers::EntryState;
use kitbag_core::config::tree::Format;
use kitbag_core::text::nearest;
use serde_json::Value;

use super::show;
use crate::commands::overview::short;
use crate::commands::serve::usual_address;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::snippets::{self, HostSnippet, TOKEN};
use crate::terminal::{DIM, TITLE, is_shown, styled};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these servers; all that are in use or disabled otherwise
    #[arg(conflicts_with = "endpoint")]
    names: Vec<String>,
    /// The program, such as claude, cursor or vscode; with --endpoint also all
    #[arg(long, value_name = "PROGRAM", value_parser = parse_target)]
    to: Target,
    /// Export Kitbag's own endpoint instead of the servers: at this address, at that of `kitbag serve`
    /// without one, or, with stdio, as a process that the program starts
    #[arg(long, value_name = "URL", value_parser = parse_endpoint, num_args = 0..=1, default_missing_value = "")]
    endpoint: Option<At>,
    /// The endpoint asks for a token, which the program finds in this variable
    #[arg(long, value_name = "VARIABLE", requires = "endpoint", num_args = 0..=1, default_missing_value = TOKEN)]
    token: Option<String>,
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

/// Whose configuration is written.
#[derive(Clone, Copy, Debug)]
enum Target {
    One(ExportTarget),
    All,
}

/// Where the endpoint is.
#[derive(Clone, Debug)]
enum At {
    /// Where `kitbag serve` listens by the settings.
    Usual,
    Url(String),
    Process,
}

impl At {
    fn reach(&self, setup: &Setup, token: Option<&String>) -> Result<EndpointReach, Failure> {
        let url = match self {
            Self::Process => return Ok(snippets::process()),
            Self::Url(url) => url.clone(),
            Self::Usual => format!("http://{}/mcp", usual_address(setup)?),
        };
        Ok(match token {
            None => EndpointReach::Address(url),
            Some(variable) => EndpointReach::AddressWithToken { url, variable: variable.clone() },
        })
    }
}

fn parse_endpoint(text: &str) -> Result<At, String> {
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|host| !host.is_empty()));
    match text {
        "" => Ok(At::Usual),
        "stdio" => Ok(At::Process),
        url if is_url => Ok(At::Url(url.to_owned())),
        _ => Err("write it with http:// or https://, or write stdio".to_owned()),
    }
}

fn parse_name(text: &str) -> Result<ServerName, String> {
    ServerName::parse(text).map_err(|error| error.to_string())
}

fn parse_target(word: &str) -> Result<Target, String> {
    if word == "all" {
        return Ok(Target::All);
    }
    let ids: Vec<&str> = ExportTarget::all().map(|target| target.dialect().id).collect();
    ExportTarget::by_word(word).map(Target::One).ok_or_else(|| {
        let near = nearest(word, ids.iter().copied()).map(|near| format!("did you mean {near}? "));
        format!("{}programs: {}", near.unwrap_or_default(), ids.join(", "))
    })
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let reach = args.endpoint.as_ref().map(|at| at.reach(&setup, args.token.as_ref())).transpose()?;
    let to = match (args.to, &reach) {
        (Target::One(to), _) => to,
        (Target::All, Some(reach)) if args.write.is_none() => {
            return Ok(every(context, &setup, &args.name, reach));
        }
        (Target::All, _) => {
            let message =
                "--to all prints how every program is told of the endpoint, and needs --endpoint alone";
            return Err(Failure::new(Exit::Usage, message).hint("kitbag servers export --to all --endpoint"));
        }
    };
    let specs = specs(&setup, &args.names)?;
    let exported = |secrets: ExportSecrets| match &reach {
        Some(reach) => export::endpoint(to, &args.name, reach),
        None => export::servers(to, specs.iter().copied(), secrets),
    };
    let whole = exported(ExportSecrets::Written);
    let is_asked = args.endpoint.is_some() || !args.names.is_empty();
    if whole.entries.is_empty() && is_asked {
        return Err(Failure::new(Exit::Config, whole.remarks.join("; ")));
    }
    for remark in &whole.remarks {
        context.remark(format!("note: {remark}"));
    }
    let is_fitting = |file: &&Path| Format::of(file) == to.format();
    if let Some(file) = args.write.as_deref().filter(is_fitting) {
        return write_into(context, &setup, to, file, &whole.entries);
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
    if to.format() == Format::Json || context.global.json {
        context.print_json(&shown.document(to));
    } else {
        context.print(shown.text(to));
    }
    match &args.write {
        Some(file) => {
            let format = to.format().as_str();
            let message = format!("{} is not {format} and was left as it is", file.display());
            Err(Failure::new(Exit::Config, message).hint("put the snippet above into the file by hand"))
        }
        None => Ok(Exit::Done),
    }
}

/// How every program is told: its command, or its file and what goes into it.
fn every(context: &mut Context, setup: &Setup, name: &ServerName, reach: &EndpointReach) -> Exit {
    let all = snippets::all(setup.env(), name, reach);
    if context.global.json {
        let row = |snippet: &HostSnippet| {
            serde_json::json!({"program": snippet.title, "to": snippet.id, "found": snippet.is_here,
                "command": snippet.command, "file": snippet.file.to_string_lossy(), "text": snippet.text})
        };
        context.print_json(&all.iter().map(row).collect());
        return Exit::Done;
    }
    let one = |snippet: &HostSnippet| {
        let file = short(setup, &snippet.file);
        let lines: String = match &snippet.command {
            Some(command) => format!("  {command}\n"),
            None => snippet.text.lines().map(|line| format!("  {line}\n")).collect(),
        };
        let title = styled(TITLE, snippet.title);
        match &snippet.command {
            Some(_) => format!("{title}\n{lines}"),
            None => format!("{title} {}\n{lines}", styled(DIM, file)),
        }
    };
    let told: Vec<String> = all.iter().map(one).collect();
    context.print(told.join("\n"));
    Exit::Done
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
