//! `kitbag doctor`: everything that is wrong with the configuration, with its line and what to write.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag::cli::how_to_get;
use kitbag::connect::StartServers;
use kitbag::files::SecretStore;
use kitbag::spec::ServerTarget;
use kitbag::{
    Fault, FaultKind, Kitbag, Mode, OpenOptions, PresentOptions, Provider, Secret, ServerSpec, Setup,
    Severity, View,
};
use kitbag_core::config::layers::EntryState;
use kitbag_core::config::own::asks_for;
use kitbag_core::model::{Defaults, ResolvedTarget, input_variable};
use serde_json::json;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{BAD, GOOD, ODD, ask, is_interactive, plural, styled};
use crate::{json, live, present};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Connect, and say which tools this provider would not take: openai, openai-responses, anthropic, gemini,
    /// gemini-openapi or generic
    #[arg(long, value_name = "NAME", value_parser = Provider::parse)]
    provider: Option<Provider>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let mut setup = context.setup()?;
    ask_for_inputs(context, &mut setup)?;
    if let Some(provider) = args.provider {
        return of_provider(context, setup, provider);
    }
    let mut faults = known_faults(&setup);
    faults.extend(unpinned_launchers(&setup));
    let used = setup.used().count();
    Ok(tell(context, used, faults))
}

/// Everything that is wrong as far as it is known without connecting.
pub(super) fn known_faults(setup: &Setup) -> Vec<Fault> {
    let mut faults: Vec<Fault> = setup.faults().cloned().collect();
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

/// What a provider would not take of what the servers offer, and what is told it otherwise.
fn of_provider(context: &mut Context, setup: Setup, provider: Provider) -> Result<Exit, Failure> {
    let (user, used) = (setup.user.clone(), setup.used().count() + setup.catalog.len());
    let options =
        OpenOptions { wait: context.global.wait, start: StartServers::AtOnce, ..OpenOptions::default() };
    live::block_on(async {
        let (kit, mut faults) = Kitbag::open_with(setup, options).await?;
        let told = live::view(context, &kit, &user).map(|view| {
            let usual = kit.present_options(view.agent(), provider);
            let audience = PresentOptions { mode: Mode::Native, servers: BTreeMap::new(), ..usual };
            let shown = kit.present(&view, &audience);
            // All that is asked for here is worth being shown.
            let seen = |fault: Fault| Fault { severity: fault.severity.max(Severity::Warning), ..fault };
            faults.extend(present::faults(&shown).into_iter().map(seen));
            faults.extend(of_tools(&kit, &view));
            tell(context, used, faults)
        });
        kit.close().await;
        told
    })
}

/// What is worth knowing about tools: what their definitions say, and whether those an agent sees could together carry
/// private data off.
fn of_tools(kit: &Kitbag, view: &View) -> impl Iterator<Item = Fault> {
    kit.notes().into_iter().chain(view.toxic_fault())
}

/// Prints what is wrong, the worst first, and how much there is.
fn tell(context: &mut Context, used: usize, mut faults: Vec<Fault>) -> Exit {
    faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity));
    let count = |severity: Severity| faults.iter().filter(|fault| fault.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if context.global.json {
        let faults: Vec<_> = faults.iter().map(json::fault).collect();
        context
            .print_json(&json!({"servers": used, "errors": errors, "warnings": warnings, "faults": faults}));
    } else {
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
    if 0 < errors { Exit::Config } else { Exit::Done }
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
        faults.push(fault.hint("mend \"cwd\"").of(&spec.name).at(at("cwd")));
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

/// On a terminal, asks once for every input that has no value yet, and keeps the answers.
fn ask_for_inputs(context: &mut Context, setup: &mut Setup) -> Result<(), Failure> {
    if !is_interactive() || context.global.quiet || context.global.json {
        return Ok(());
    }
    let rows = setup.merged.servers.iter().filter(|row| row.state == EntryState::Used);
    let specs: Vec<Arc<ServerSpec>> = rows.filter_map(|row| row.spec.clone()).collect();
    for spec in &specs {
        let secrets = SecretStore::load(&setup.folders);
        let open = |id: &str| {
            asks_for(spec, id)
                && setup.env().filled(&input_variable(id)).is_none()
                && secrets.get(&setup.user, spec, id).is_none()
        };
        for input in spec.inputs.iter().filter(|input| open(&input.id)) {
            let choices = if input.options.is_empty() {
                String::new()
            } else {
                format!(" ({})", input.options.join(", "))
            };
            let question =
                format!("{}: {}{choices}: ", spec.name, kitbag_core::text::visible(&input.description));
            let answer = if input.password { hidden(&question) } else { ask(&question) };
            let answer = answer.filter(|answer| !answer.is_empty()).or_else(|| input.default.clone());
            if let Some(answer) =
                answer.filter(|answer| input.options.is_empty() || input.options.contains(answer))
            {
                SecretStore::keep(&setup.folders, &setup.user, spec, &input.id, &Secret::new(answer))?;
            }
        }
    }
    setup.reload_secrets();
    Ok(())
}

/// A line typed without showing it.
fn hidden(question: &str) -> Option<String> {
    rpassword::prompt_password(question).ok()
}
