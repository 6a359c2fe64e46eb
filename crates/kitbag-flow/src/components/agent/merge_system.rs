//! Adds to the system message of a conversation.

use std::future::ready;

use super::{AGENT, CONVERSATION};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Value, add, item, items, set_item};

pub(super) struct AgentMergeSystem;

impl Component for AgentMergeSystem {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::required("new_system_prompt"), CONVERSATION],
            outputs: &["out_conversation"],
            ..Face::new("AgentMergeSystem", AGENT, "Adds to the system message of a conversation")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(merge(call).map(|()| Next::Follow)))
    }
}

fn merge(call: &Call) -> Result<(), Raised> {
    let prompt = call.get("new_system_prompt")?;
    // The caller's own stays as it is.
    let mut messages = items(&call.get("conversation")?.deep_copy())?;
    let (role, content) = (Value::from("role"), Value::from("content"));
    let first = messages.first().cloned();
    let is_system = match &first {
        Some(first) => item(first, &role)?.as_str() == Some("system"),
        None => false,
    };
    match first.filter(|_| is_system) {
        Some(first) => {
            let before = add(&item(&first, &content)?, &Value::from("\n\n"))?;
            set_item(&first, &content, add(&before, &prompt)?)?;
        }
        None => messages.insert(0, Value::dict([("role", Value::from("system")), ("content", prompt)])),
    }
    call.set("out_conversation", Value::list(messages))
}
