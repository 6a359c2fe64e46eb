//! The calls of one reply: made side by side, each result written down as soon as it is there, all of them in the order of
//! the calls.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use kitbag::{CallOptions, Intent, IntentOutcome, ModelRequest};
use kitbag_core::present::native::ToolAnswer;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::delegate::{Delegated, Delegation};
use super::event::ToolOutcome;
use super::repeats::Repeats;
use super::report::{Execution, Report};
use super::run::{Events, Scene};
use super::{Agent, AgentError, AgentEvent};
use crate::conversation::words;

/// What a reply asks for, in the words of the view, with the places of the calls. Numbers in arguments keep their digits.
pub(super) fn of(raw: &RawValue, scene: &Scene) -> Vec<(usize, ModelRequest)> {
    let asked = scene.shown.decode_str(&scene.view, raw.get()).unwrap_or_default();
    asked.into_iter().filter(|request| !matches!(request.intent, Intent::Say(_))).enumerate().collect()
}

pub(super) async fn carry_out(
    agent: &mut Agent,
    requests: &[(usize, ModelRequest)],
    scene: &Scene,
    repeats: &mut Repeats,
    report: &mut Report,
    events: &Events,
) -> Result<(), AgentError> {
    let first = report.executions.len();
    for (place, request) in requests {
        let _ = events.send(begins(*place, request)).await;
        let tool = request.tool.clone();
        report.executions.push(Execution { step: report.steps, tool, took: Default::default(), error: None });
    }
    let (kit, options, delegation) = (agent.kit.clone(), CallOptions::default(), Delegation::of(agent));
    let run = async |(place, request): &(usize, ModelRequest)| {
        let began = Instant::now();
        let (answer, delegated) = match &request.intent {
            Intent::Delegate { server, query } => {
                let done = delegation.work(*place, server, query, events).await;
                (done.answer(request), done)
            }
            intent => {
                let outcome = kit.run(&scene.view, intent, &options).await;
                (answered(request, &outcome), Delegated::default())
            }
        };
        (*place, answer, delegated, began.elapsed())
    };
    let mut running: FuturesUnordered<_> = requests.iter().map(run).collect();
    while let Some((place, mut answer, delegated, took)) = running.next().await {
        report.usage += delegated.usage;
        let step = report.steps;
        report.delegated.extend(delegated.executions.into_iter().map(|one| Execution { step, ..one }));
        repeats.result(place, &mut answer);
        let text = scene.masks.text(words(&answer.blocks));
        if let Some(execution) = report.executions.get_mut(first + place) {
            execution.took = took;
            execution.error = answer.is_error.then(|| text.clone());
        }
        let (tool, is_error) = (answer.tool.clone(), answer.is_error);
        agent.conversation.answer(place, answer, &scene.masks)?;
        let _ = events.send(AgentEvent::Result(ToolOutcome { place, tool, text, is_error, took })).await;
    }
    Ok(())
}

fn begins(place: usize, request: &ModelRequest) -> AgentEvent {
    let arguments = match &request.intent {
        Intent::Call { arguments, .. } => arguments.clone(),
        Intent::ListTools { server, .. } => serde_json::json!({ "server": server }).to_string(),
        Intent::Delegate { query, .. } => serde_json::json!({ "query": query }).to_string(),
        Intent::Find { query } => serde_json::json!({ "query": query }).to_string(),
        _ => String::new(),
    };
    AgentEvent::Call { place, tool: request.tool.clone(), arguments }
}

fn answered(request: &ModelRequest, outcome: &IntentOutcome) -> ToolAnswer {
    outcome.answer(request).unwrap_or_else(|| ToolAnswer {
        id: request.id.clone(),
        tool: request.tool.clone(),
        blocks: Vec::new(),
        is_error: false,
    })
}
