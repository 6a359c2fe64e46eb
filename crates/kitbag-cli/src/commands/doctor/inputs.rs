//! Asking for inputs that have no value yet, where a person sits who can answer.

use std::sync::Arc;

use kitbag::{Secret, ServerSpec, Setup};
use kitbag_core::config::layers::EntryState;
use kitbag_core::config::own::asks_for;
use kitbag_core::model::{Input, input_variable};

use crate::context::Context;
use crate::exit::Failure;
use crate::store;
use crate::terminal::{ask, is_interactive};

/// On a terminal, asks once for every input that has no value yet, and keeps the answers.
pub(super) fn ask_for_inputs(context: &mut Context, setup: &mut Setup) -> Result<(), Failure> {
    if !is_interactive() || context.global.quiet || context.global.json {
        return Ok(());
    }
    let rows = setup.merged.servers.iter().filter(|row| row.state == EntryState::Used);
    let specs: Vec<Arc<ServerSpec>> = rows.filter_map(|row| row.spec.clone()).collect();
    for spec in &specs {
        let open = |id: &str| {
            asks_for(spec, id)
                && setup.env().filled(&input_variable(id)).is_none()
                && setup.answer(spec, id).is_none()
        };
        let open: Vec<&Input> = spec.inputs.iter().filter(|input| open(&input.id)).collect();
        for input in open {
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
                store::keep_answer(setup, spec, &input.id, &Secret::new(answer))?;
            }
        }
    }
    Ok(())
}

/// A line typed without showing it.
fn hidden(question: &str) -> Option<String> {
    rpassword::prompt_password(question).ok()
}
