//! JSON as people paste it: from a README, a whole file, one entry or a fragment of one.

use std::io::Read as _;

use kitbag::{ServerSpec, Setup, Severity};
use kitbag_core::config::own;
use kitbag_core::config::paste::read_pasted;

use super::super::all_done;
use super::Named;
use super::scope::Destination;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

pub(super) fn add(
    context: &mut Context,
    setup: &Setup,
    to: &Destination,
    name: Option<&str>,
    text: &str,
) -> Result<Exit, Failure> {
    let text = if text == "-" { stdin()? } else { text.to_owned() };
    let document = read_pasted(&text, &setup.limits);
    let faults = document.faults.iter().chain(document.servers.iter().flat_map(|loaded| &loaded.faults));
    let faults: Vec<_> = faults.cloned().collect();
    context.faults(&faults);
    let mut specs: Vec<ServerSpec> =
        document.servers.iter().filter_map(|loaded| loaded.spec.clone()).collect();
    let unusable = document.servers.len() - specs.len();
    match (name, specs.as_mut_slice()) {
        (Some(name), [spec]) => spec.name = server_name(name)?,
        (Some(name), [_, _, ..]) => {
            let failure =
                Failure::new(Exit::Usage, format!("{} servers cannot all be called {name}", specs.len()));
            return Err(failure.hint("leave the name out: pasted servers bring their own"));
        }
        _ => {}
    }
    if specs.iter().any(|spec| spec.name.as_str() == "<pasted>") {
        return Err(Failure::new(Exit::Config, "the pasted server has no name")
            .hint("kitbag servers add <name> --paste …"));
    }
    if specs.is_empty()
        || faults.iter().any(|fault| fault.severity == Severity::Error && fault.server.is_none())
    {
        let failure = Failure::new(Exit::Config, "nothing was added");
        return Err(match faults.is_empty() {
            true => failure.hint(
                "no server is named in the pasted text: {\"mcpServers\": {\"name\": {\"command\": …}}}",
            ),
            false => failure.hint("correct the pasted text as shown above"),
        });
    }
    let entries: Vec<Named> = specs.iter().map(|spec| (spec.name.clone(), own::entry(spec))).collect();
    let files = to.add(&entries)?;
    specs.iter().for_each(|spec| to.warn(context, setup, &spec.name));
    all_done(context, "added", &specs.iter().map(|spec| &spec.name).zip(files).collect::<Vec<_>>());
    Ok(if 0 < unusable { Exit::Config } else { Exit::Done })
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(8 << 20).read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::Usage, format!("standard input cannot be read: {error}")))?;
    Ok(text)
}
