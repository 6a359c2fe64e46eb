//! The components of agents, a file each. They meet in the context of the run, under the keys `toolbelt_<toolbelt>`,
//! `mcp_servers_<toolbelt>` and `agent_<name>`. What an agent does is the text-protocol agent of `kitbag-agent`.

use std::sync::Arc;

use kitbag_agent::{NotedMemory, Talk};

use crate::component::{Call, Component, Input};
use crate::raised::Raised;
use crate::value::{Dict, Value};

mod authorize;
mod belt;
mod define_route;
mod define_tool;
mod drive;
mod init;
mod learn;
mod make_toolbelt;
mod memory;
mod merge_system;
mod router;
mod run;
mod run_tool;
mod stream_string;
mod tool_output;
mod update;
mod use_mcp_tools;

const AGENT: &str = "xai_components/xai_agent/agent_components.py";
const OPENAI: &str = "xai_components/xai_openai/openai_components.py";

/// The toolbelt of those who name none.
const DEFAULT: &str = "default";
const AGENT_NAME: Input = Input::required("agent_name");
const CONVERSATION: Input = Input::required("conversation");

pub(super) fn all() -> Vec<Arc<dyn Component>> {
    vec![
        Arc::new(define_tool::AgentDefineTool),
        Arc::new(tool_output::AgentToolOutput),
        Arc::new(use_mcp_tools::AgentUseMcpTools),
        Arc::new(make_toolbelt::AgentMakeToolbelt),
        Arc::new(init::AgentInit),
        Arc::new(update::AgentUpdate),
        Arc::new(run::AgentRun),
        Arc::new(run_tool::AgentRunTool),
        Arc::new(learn::AgentLearn),
        Arc::new(define_route::AgentDefineRoute),
        Arc::new(router::AgentRouter),
        Arc::new(merge_system::AgentMergeSystem),
        Arc::new(stream_string::AgentStreamStringResponse),
        Arc::new(memory::AgentNumpyMemory),
        Arc::new(authorize::OpenAiAuthorize),
    ]
}

/// What an agent remembers, as a value.
struct Remembered(Arc<NotedMemory>);

/// The record that AgentInit made.
fn record(call: &Call) -> Result<Dict, Raised> {
    let name = call.text("agent_name")?;
    let known = call.context().get(&format!("agent_{name}"));
    known.as_ref().and_then(Value::as_dict).cloned().ok_or_else(|| {
        Raised::new("KeyError", format!("no agent is called {name:?}: AgentInit must run before"))
    })
}

/// The conversation at an input: a list of messages, or what the user says.
fn conversation(call: &Call) -> Result<Talk, Raised> {
    let value = call.get("conversation")?;
    match &value {
        Value::Str(text) => Ok(Talk::question(text.to_string())),
        other => Talk::from_json(&other.to_json()?).map_err(|error| Raised::value_error(error.to_string())),
    }
}

fn talk_value(talk: &Talk) -> Value {
    Value::of_json(&talk.to_json())
}
