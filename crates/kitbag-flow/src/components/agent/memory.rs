//! A memory for an agent, which lasts as long as the run.

use std::future::ready;
use std::sync::Arc;

use kitbag_agent::NotedMemory;

use super::{AGENT, Remembered};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Next};
use crate::raised::Raised;
use crate::value::{Object, Value};

/// By its name in Xircuits; what fits is found by words, without NumPy and without embeddings.
pub(super) struct AgentNumpyMemory;

impl Component for AgentNumpyMemory {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            outputs: &["memory"],
            ..Face::new("AgentNumpyMemory", AGENT, "A memory that lasts as long as the run")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        let memory = Remembered(Arc::new(NotedMemory::new(call.host().bounds().conversation)));
        let done = call.set("memory", Value::Object(Object::new("Memory", memory)));
        Box::pin(ready(done.map(|()| Next::Follow)))
    }
}
