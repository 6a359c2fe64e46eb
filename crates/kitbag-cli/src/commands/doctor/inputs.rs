//! Asking for inputs that have no value yet, where a person sits who can answer.

use std::sync::Arc;

use kitbag::files::SecretStore;
use kitbag::{Secret, ServerSpec, Setup};
use kitbag_core::config::layers::EntryState;
use kitbag_core::config::own::asks_for;
use kitbag_core::model::input_variable;

use crate::context::Context;
use crate::exit::Failure;
use crate::terminal::{ask, is_interactive};

/// On a terminal, asks once for every input that has no value yet, and keeps the answers.
pub(super) fn ask_for_inputs(context: &mut Context, setup: &mut Setup) -> Result<(), Failure> {
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
