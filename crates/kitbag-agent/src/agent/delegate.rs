//! Agent mode: the one tool of a server takes a task in words, and an agent of its own does it with just that server's tools.
//! Its calls are its user's like all others: the same rules, approvals and records hold for them. It sees tools as they are,
//! one by one, so no agent ever works below it.

use std::sync::Arc;
use std::time::Duration;

use kitbag::cli::READ_RESULT;
use kitbag::{AgentRules, Kitbag, Limits, Mode, ModelRequest, ServerName, UserId, View};
use kitbag_core::present::native::ToolAnswer;
use kitbag_core::text::one_line;
use serde_json::json;

use super::report::Execution;
use super::run::Events;
use super::{Agent, AgentEvent, Ended, Purpose, Report};
use crate::model::{Model, Usage};

/// What is repeated of the arguments of one call, in characters.
const ARGUMENTS: usize = 200;

/// All that an agent needs which does a task for another.
pub(super) struct Delegation {
    kit: Kitbag,
    model: Arc<dyn Model>,
    user: UserId,
    rules: AgentRules,
    limits: Arc<Limits>,
}

/// What came of a task.
#[derive(Debug, Default)]
pub(super) struct Delegated {
    text: String,
    is_error: bool,
    /// More about each of `executions`, and where those of the last reply begin.
    calls: Vec<MadeCall>,
    of_reply: usize,
    pub(super) executions: Vec<Execution>,
    pub(super) usage: Usage,
}

/// One call, as the one who asked is told of it.
#[derive(Debug, Default)]
struct MadeCall {
    arguments: String,
    /// How it ended; none while it runs.
    ended: Option<String>,
}

/// What an agent sees that works with one server alone. What is too long to be told at once is read on with the program's
/// own tool for that.
pub(super) fn narrowed(view: &View, server: &ServerName) -> Arc<View> {
    let server = server.clone();
    Arc::new(view.only(move |shown| shown.tool.server == server || shown.name.as_str() == READ_RESULT))
}

impl Delegation {
    pub(super) fn of(agent: &Agent) -> Self {
        Self {
            kit: agent.kit.clone(),
            model: agent.model.clone(),
            user: agent.user.clone(),
            rules: AgentRules { mode: Some(Mode::Native), ..agent.rules.clone() },
            limits: agent.limits.clone(),
        }
    }

    /// Does a task with the tools of a server. Dropping this cancels what runs for it.
    pub(super) async fn work(&self, place: usize, server: &str, query: &str, events: &Events) -> Delegated {
        let Ok(name) = ServerName::parse(server) else {
            let text = format!("there is no server called {server:?}");
            return Delegated { text, is_error: true, ..Delegated::default() };
        };
        // One that starts on first need is needed now.
        let limits = &self.limits;
        self.kit.wait_for_servers(std::slice::from_ref(&name), limits.wait_stdio.max(limits.wait_http)).await;
        let mut agent = Agent {
            user: self.user.clone(),
            rules: self.rules.clone(),
            within: Some(name.clone()),
            instruction: instruction(&name),
            steps: limits.delegate_steps.max(1),
            ..Agent::new(self.model.clone(), self.kit.clone(), Purpose::Chat)
        };
        // Where nothing can be done there is nothing to ask a model for.
        let has_tools = |view: Arc<View>| view.tools().iter().any(|shown| shown.tool.server == name);
        if !agent.view().is_ok_and(has_tools) {
            let text = format!("{name} has no tool that may be used now{}", self.why(&name));
            return Delegated { text, is_error: true, ..Delegated::default() };
        }
        let mut done = Delegated::default();
        let mut run = agent.send(query);
        while let Some(event) = run.next().await {
            match event {
                Ok(AgentEvent::Done(report)) => done.end(report, &self.model.at().to_string()),
                Ok(event) => {
                    done.note(&event);
                    let event = AgentEvent::Delegated { place, event: Box::new(event) };
                    let _ = events.send(event).await;
                }
                Err(error) => (done.text, done.is_error) = (error.to_string(), true),
            }
        }
        done
    }

    /// Why a server has nothing to work with, where that is known.
    fn why(&self, server: &ServerName) -> String {
        let status = self.kit.link(server).map(|link| link.status());
        let reason = status.as_ref().and_then(|status| status.reason());
        reason.map(|reason| format!(": {reason}")).unwrap_or_default()
    }
}

impl Delegated {
    /// Remembers a call, for whoever asked.
    fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Step { usage, .. } => {
                self.usage += *usage;
                self.of_reply = self.calls.len();
            }
            AgentEvent::Call { tool, arguments, .. } => {
                self.calls.push(MadeCall { arguments: short(arguments), ended: None });
                let (tool, took) = (tool.clone(), Duration::ZERO);
                self.executions.push(Execution { step: 0, tool, took, error: None });
            }
            AgentEvent::Result(outcome) => {
                let error = outcome.is_error.then(|| outcome.text.clone());
                let ended =
                    error.as_ref().map_or("done".to_owned(), |error| format!("failed: {}", short(error)));
                let at = self.of_reply + outcome.place;
                if let (Some(call), Some(execution)) = (self.calls.get_mut(at), self.executions.get_mut(at)) {
                    call.ended = Some(ended);
                    (execution.took, execution.error) = (outcome.took, error);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, report: Report, model: &str) {
        let why = match report.ended {
            Ended::Answered => None,
            Ended::StepLimit => Some(format!("{model} made {} replies for it and no answer", report.steps)),
            Ended::Repeated => Some(format!("{model} made the same call for it again and again")),
        };
        self.is_error = why.is_some();
        let parts: Vec<String> =
            why.into_iter().chain([report.text]).filter(|part| !part.is_empty()).collect();
        self.text = parts.join("\n");
    }

    /// What the model reads that called the tool: the answer, and what was done for it.
    pub(super) fn answer(&self, request: &ModelRequest) -> ToolAnswer {
        let line = |(at, (call, made)): (usize, (&MadeCall, &Execution))| {
            let ended = call.ended.as_deref().unwrap_or("was not finished");
            format!("{}. {} {}: {ended}", at + 1, made.tool, call.arguments)
        };
        let lines: Vec<String> = self.calls.iter().zip(&self.executions).enumerate().map(line).collect();
        let calls = match lines.as_slice() {
            [] => "Calls made: none".to_owned(),
            lines => format!("Calls made:\n{}", lines.join("\n")),
        };
        let blocks = [&self.text, &calls].map(|text| json!({"type": "text", "text": text})).to_vec();
        ToolAnswer { id: request.id.clone(), tool: request.tool.clone(), blocks, is_error: self.is_error }
    }
}

fn instruction(server: &ServerName) -> String {
    format!(
        "You do one task for another agent, with the tools of the MCP server {server}. Nobody answers questions meanwhile. \
         When the task is done, or cannot be done, say what came of it, with everything the other one must know, and make no \
         further call."
    )
}

/// One line, not too long.
fn short(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().nth(ARGUMENTS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
