//! `kitbag doctor`: everything that is wrong with the configuration, with its line and what to write.

use kitbag::cli::how_to_get;
use kitbag::spec::ServerTarget;
use kitbag::{Fault, FaultKind, Kitbag, Provider, ServerSpec, Setup, Severity, View};
use kitbag_core::Stage;
use kitbag_core::config::layers::EntryState;
use kitbag_core::model::{Defaults, ResolvedTarget};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{BAD, GOOD, ODD, plural, styled};
use crate::{json, live};

mod connect;
mod inputs;
pub(super) mod rules;

const EXAMPLES: &str = "\
Examples:
  kitbag doctor                      files, values, programs and rules; nothing is started
  kitbag doctor --connect            also start every server and look at its tools
  kitbag doctor --provider gemini    the same for what one provider would refuse";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Start every server, wait for it (downloads included), and check its tools and the rules about them
    #[arg(long)]
    connect: bool,
    /// Connect, and say which tools this provider would not take: openai, openai-responses, anthropic, gemini,
    /// gemini-openapi or generic
    #[arg(long, value_name = "NAME", value_parser = Provider::parse)]
    provider: Option<Provider>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let mut setup = context.setup()?;
    inputs::ask_for_inputs(context, &mut setup)?;
    let used = setup.used().count() + setup.catalog.len();
    let unpinned = unpinned_launchers(&setup);
    let (rows, mut faults) = if args.connect || args.provider.is_some() {
        let providers = args.provider.map_or_else(|| Provider::ALL.to_vec(), |one| vec![one]);
        let checked = connect::check(context, setup, &providers)?;
        (checked.rows, checked.faults)
    } else {
        let mut faults = without_rules(&setup);
        faults.extend(rules::by_remembered(context, setup)?);
        (Vec::new(), faults)
    };
    faults.extend(unpinned);
    Ok(tell(context, used, &rows, faults))
}

/// Everything that is wrong as far as the files say.
pub(super) fn known_faults(setup: &Setup) -> Vec<Fault> {
    let mut faults = without_rules(setup);
    faults.extend(rules::misnamed(setup));
    faults
}

fn without_rules(setup: &Setup) -> Vec<Fault> {
    let of_rules = setup.fallbacks().faults.into_iter().chain(setup.rule_faults());
    let mut faults: Vec<Fault> = setup.faults().cloned().chain(of_rules).collect();
    for row in setup.merged.servers.iter().filter(|row| row.state == EntryState::Used) {
        if let Some(spec) = &row.spec {
            match setup.resolve(spec, &row.layer) {
                Ok(resolved) => faults.extend(startable(setup, spec, &resolved.link)),
                Err(missing) => faults.extend(missing),
            }
        }
    }
    faults
}

/// One note for all servers that start a package without a version: most people have many of these.
fn unpinned_launchers(setup: &Setup) -> Option<Fault> {
    let of = |spec: &ServerSpec| Some(format!("{} ({})", spec.name, spec.unpinned()?.package));
    let all: Vec<String> = setup.used().filter_map(of).collect();
    let servers = plural(all.len(), "server");
    let message = format!("{servers} may run another version at every start: {}", all.join(", "));
    let hint = "write the version, such as name@1.2.3, name==1.2.3 or image:1.2; kitbag errors unpinned";
    (!all.is_empty()).then(|| Fault::note(FaultKind::Unpinned, message).hint(hint))
}

/// What is worth knowing about tools: what their definitions say, and whether those an agent sees could together carry
/// private data off.
fn of_tools(kit: &Kitbag, view: &View) -> impl Iterator<Item = Fault> {
    // What is worse than a note is among the faults already.
    let notes = kit.notes().into_iter().filter(|note| note.severity == Severity::Note);
    notes.chain(view.toxic_fault())
}

/// Prints what is wrong, the worst first, and how much there is.
fn tell(context: &mut Context, used: usize, rows: &[connect::Server], mut faults: Vec<Fault>) -> Exit {
    faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity));
    let count = |severity: Severity| faults.iter().filter(|fault| fault.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let exit = exit(&faults);
    if context.global.json {
        let connected: Vec<Value> = rows.iter().map(connect::as_json).collect();
        let faults: Vec<Value> = faults.iter().map(json::fault).collect();
        context.print_json(&json!({
            "servers": used, "errors": errors, "warnings": warnings, "connected": connected, "faults": faults,
        }));
    } else {
        context.print(connect::as_table(rows));
        // One line for all servers, so it is shown without --verbose, too.
        let (unpinned, others): (Vec<_>, Vec<_>) = faults
            .into_iter()
            .partition(|fault| matches!(fault.kind, FaultKind::Unpinned | FaultKind::Trifecta));
        live::tell(context, &others);
        unpinned.iter().for_each(|fault| context.fault(fault));
        let style = if 0 < errors {
            BAD
        } else if 0 < warnings {
            ODD
        } else {
            GOOD
        };
        context.print(format!(
            "{}\n",
            styled(
                style,
                format!(
                    "{} in use, {}, {}",
                    plural(used, "server"),
                    plural(errors, "error"),
                    plural(warnings, "warning")
                )
            )
        ));
    }
    exit
}

/// What the files say outweighs servers that are away.
fn exit(faults: &[Fault]) -> Exit {
    let errors = || faults.iter().filter(|fault| fault.severity == Severity::Error);
    // A slip in a rule is found when the rules are compiled.
    if errors().any(|fault| fault.stage == Stage::Config || fault.kind == FaultKind::WrongValue) {
        Exit::Config
    } else if errors().next().is_some() {
        Exit::Unavailable
    } else {
        Exit::Done
    }
}

/// What would keep a program from starting.
fn startable(setup: &Setup, spec: &ServerSpec, link: &ResolvedTarget) -> Vec<Fault> {
    let ResolvedTarget::Stdio { command, cwd, .. } = link else { return Vec::new() };
    let at = |key: &str| spec.places.get(key).unwrap_or(&spec.origin.place).clone();
    let here = setup.env().cwd();
    let base = cwd.as_ref().map_or_else(|| here.to_owned(), |cwd| setup.env().path(cwd, here));
    let mut faults = Vec::new();
    if !base.is_dir() {
        let fault = Fault::error(FaultKind::MissingProgram, "the folder to run in does not exist");
        faults.push(fault.hint("correct \"cwd\"").of(&spec.name).at(at("cwd")));
    } else if setup.env().program(command, &base).is_none() {
        let shown = match &spec.link {
            ServerTarget::Stdio(program) => {
                program.command.as_ref().map(|text| text.shown_as_text(Defaults::Masked)).unwrap_or_default()
            }
            ServerTarget::Remote(_) | ServerTarget::InProcess(_) => String::new(),
        };
        let fault = Fault::error(FaultKind::MissingProgram, format!("{shown:?} cannot be found"));
        faults.push(fault.hint(how_to_get(command)).of(&spec.name).at(at("command")));
    }
    faults
}
