//! What a program tells of a run, as the events and the report that every agent has.

use std::collections::HashMap;

use serde_json::Value;
use tokio::time::Instant;

use super::DeniedTool;
use crate::agent::{AgentEvent, Execution, Report, ToolOutcome};
use crate::conversation::Masks;
use crate::model::Usage;

/// What was told so far.
#[derive(Default)]
pub(super) struct Telling {
    /// What must not be shown of the servers.
    pub(super) masks: Masks,
    /// What it comes to.
    pub(super) report: Report,
    /// What was not passed on yet.
    pub(super) events: Vec<AgentEvent>,
    /// Tools that the model was not let use.
    pub(super) denied: Vec<DeniedTool>,
    /// What went wrong altogether.
    pub(super) failure: Option<String>,
    /// Whether there is an answer.
    pub(super) has_answered: bool,
    /// What the program calls the answer, where it does.
    answer: Option<String>,
    /// What the last reply says.
    said: String,
    /// Whether a reply is being told, and how many calls it makes.
    reply: Option<usize>,
    /// Calls without a result: their places in the report and in their reply, and when they began.
    open: HashMap<String, (usize, usize, Instant)>,
}

impl Telling {
    /// Nothing was told yet.
    pub(super) fn masked(masks: Masks) -> Self {
        Self { masks, ..Self::default() }
    }

    /// The model says something.
    pub(super) fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.replies();
        self.said.push_str(text);
        self.events.push(AgentEvent::Text(text.to_owned()));
    }

    /// The model thinks.
    pub(super) fn reason(&mut self, text: &str) {
        if !text.is_empty() {
            self.events.push(AgentEvent::Reasoning(text.to_owned()));
        }
    }

    /// The program says something beside.
    pub(super) fn remark(&mut self, text: &str) {
        self.reason(text);
    }

    /// A call begins; told twice it is one.
    pub(super) fn call(&mut self, id: &str, tool: &str, arguments: &str) {
        if self.open.contains_key(id) {
            return;
        }
        let calls = self.replies();
        let place = *calls;
        *calls += 1;
        let step = self.report.steps;
        self.open.insert(id.to_owned(), (self.report.executions.len(), place, Instant::now()));
        let tool = tool.to_owned();
        let execution = Execution { step, tool: tool.clone(), took: Default::default(), error: None };
        self.report.executions.push(execution);
        self.events.push(AgentEvent::Call { place, tool, arguments: arguments.to_owned() });
    }

    /// A call has ended; which tool that was.
    pub(super) fn result(&mut self, id: &str, text: &str, is_error: bool) -> String {
        self.ends();
        let Some((at, place, began)) = self.open.remove(id) else { return String::new() };
        let Some(execution) = self.report.executions.get_mut(at) else { return String::new() };
        let text = self.masks.text(text.to_owned());
        execution.took = began.elapsed();
        execution.error = is_error.then(|| text.clone());
        let (tool, took) = (execution.tool.clone(), execution.took);
        let outcome = ToolOutcome { place, tool: tool.clone(), text, is_error, took };
        self.events.push(AgentEvent::Result(outcome));
        tool
    }

    /// The program did not let its model use a tool. What it says first about a tool is what counts.
    pub(super) fn denied(&mut self, tool: &str, why: &str) {
        if self.denied.iter().all(|known| known.tool != tool) {
            let why = self.masks.text(why.to_owned());
            self.denied.push(DeniedTool { tool: tool.to_owned(), why });
        }
    }

    /// The run came to nothing.
    pub(super) fn failed(&mut self, why: &str) {
        self.failure = Some(self.masks.text(why.to_owned()));
    }

    /// What the program calls the answer.
    pub(super) fn answer(&mut self, text: &str) {
        self.answer = Some(text.to_owned());
    }

    /// What further replies took.
    pub(super) fn usage(&mut self, input: u64, cached: u64, output: u64) {
        self.report.usage += Usage { input, cached, output };
    }

    /// The program has ended.
    pub(super) fn end(&mut self) {
        self.ends();
        if let Some(answer) = self.answer.take().filter(|answer| !answer.is_empty()) {
            self.report.text = answer;
        }
        self.has_answered = !self.report.text.trim().is_empty();
        // What was begun and not told to its end ended with the program.
        for (at, ..) in self.open.drain().map(|(_, open)| open) {
            if let Some(execution) = self.report.executions.get_mut(at) {
                execution.error = Some("the program ended first".to_owned());
            }
        }
    }

    /// A reply is being told; how many calls it makes so far.
    fn replies(&mut self) -> &mut usize {
        if self.reply.is_none() {
            self.report.steps += 1;
            self.said.clear();
        }
        self.reply.get_or_insert(0)
    }

    /// A reply is told to its end.
    fn ends(&mut self) {
        let Some(calls) = self.reply.take() else { return };
        if !self.said.trim().is_empty() {
            self.report.text = self.said.clone();
        }
        let number = self.report.steps;
        self.events.push(AgentEvent::Step { number, usage: Usage::default(), calls });
    }
}

/// A string, empty where there is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The content of a result as text; what is no text is told by its kind.
pub(super) fn blocks(content: &Value) -> String {
    let one = |block: &Value| match text(&block["type"]) {
        "text" => text(&block["text"]).to_owned(),
        kind => format!("[{kind}]"),
    };
    match content {
        Value::Array(blocks) => blocks.iter().map(one).collect::<Vec<_>>().join("\n"),
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}
