//! What an agent is told before anything else. It speaks of tools only if there are some.

use std::sync::Arc;

use kitbag::{Kitbag, Mode, PresentOptions, Presentation, View};
use kitbag_core::present::markdown::system_form;
use serde_json::Value;

use super::{AgentState, Purpose};

const CHAT: &str = "You are a helpful assistant. Answer in the language of the user.";
const AUTONOMOUS: &str = "You work on a task on your own until it is done. Nobody answers questions meanwhile. When the \
                          task is done, or cannot be done, say so with the result and make no further call.";
const OF_SERVERS: &str = "You have tools of MCP servers.";
const OF_PROGRAM: &str = "You have tools.";
const HAS_TOOLS: &str = "Use them where they help, and rely on their results instead of \
                         guessing. When a call fails, read why, and try another way or say what is missing.";

/// The instruction of an agent that is given none.
pub(super) fn usual(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Chat => CHAT,
        Purpose::Autonomous => AUTONOMOUS,
    }
}

/// The system prompt.
pub(super) fn system(
    purpose: Purpose,
    instruction: &str,
    kit: &Kitbag,
    view: &Arc<View>,
    shown: &Presentation,
    options: &PresentOptions,
) -> String {
    if !has_tools(shown) {
        return instruction.to_owned();
    }
    let parts = match purpose {
        Purpose::Chat => {
            let whose = match AgentState::of(kit, Some(view)) {
                AgentState::WithMcp => OF_SERVERS,
                _ => OF_PROGRAM,
            };
            [instruction.to_owned(), format!("{whose} {HAS_TOOLS}"), shown.prompt.clone()]
        }
        Purpose::Autonomous => {
            [instruction.to_owned(), system_form(&description(kit, view, shown, options)), String::new()]
        }
    };
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The tools in words: as their servers are shown where that is a text, and in Markdown otherwise.
fn description(kit: &Kitbag, view: &Arc<View>, shown: &Presentation, options: &PresentOptions) -> String {
    if !shown.prompt.is_empty() {
        return shown.prompt.clone();
    }
    let mut options = options.clone();
    options.mode = Mode::Markdown;
    options.servers.clear();
    kit.present(view, &options).prompt.clone()
}

fn has_tools(shown: &Presentation) -> bool {
    let has_definitions = shown.tools.as_array().is_some_and(|tools: &Vec<Value>| !tools.is_empty());
    has_definitions || !shown.prompt.is_empty()
}
