//! The way of one call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use kitbag_core::names::lookup::Found;
use kitbag_core::present::gateway::Status;
use kitbag_core::shape::{Authorize, Decision, Shown, View};
use kitbag_core::{ErrorKind, Limits, ServerName, Transport};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::arguments::{Ready, prepare};
use super::convert::{Converted, convert, short};
use super::record::{Record, Records, Taken};
use super::{CallResult, Failure, Flow, Hook, Manner, Meta, Outgoing, Repair, Results, Size, ToolCall};
use crate::connect::{Call, Link};
use crate::local::{self, Caller, LocalTool};

/// The longest arguments that are kept with the record of a call.
const KEPT: usize = 16 << 10;

/// Where servers are found.
pub(crate) trait Links: Sync {
    /// The link to a server, and how it is spoken to.
    fn link(&self, server: &ServerName) -> Option<(Link, Transport)>;

    /// Why there is none.
    fn why_none(&self, server: &ServerName) -> String;
}

/// Everything a call needs.
pub(crate) struct Runner<'a> {
    pub(crate) links: &'a dyn Links,
    pub(crate) locals: &'a BTreeMap<String, LocalTool>,
    pub(crate) local: &'a ServerName,
    pub(crate) limits: &'a Limits,
    pub(crate) hooks: &'a [Arc<dyn Hook>],
    pub(crate) permit: &'a dyn Authorize,
    pub(crate) results: &'a Results,
    pub(crate) records: &'a Records,
}

/// What came back from wherever the call went.
struct Answered {
    raw: Box<RawValue>,
    retries: u32,
    transport: Option<Transport>,
}

impl Runner<'_> {
    /// Calls a tool of a view.
    pub(crate) async fn run(&self, view: &View, call: ToolCall<'_>) -> Result<CallResult, Failure> {
        let began = Instant::now();
        let shown = self.resolve(view, call.tool)?;
        let (server, tool) = (&shown.tool.server, shown.tool.name.as_str());
        let named = |failure: Failure| failure.of(server, tool);
        match self.permit.authorize(view.user(), &shown.tool) {
            Decision::Allow | Decision::Ask => {}
            // As if it were not there.
            Decision::Deny(_) => return Err(not_found(view, call.tool, Vec::new())),
        }
        let Ready { arguments, coerced, text } =
            prepare(shown, call.arguments, self.limits).map_err(named)?;
        let mut outgoing = Outgoing {
            user: view.user().clone(),
            server: server.clone(),
            tool: tool.to_owned(),
            arguments,
            meta: call.manner.meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default(),
        };
        let mut done = self.pass(shown, &mut outgoing, text.as_deref(), &call.manner).await.map_err(named);
        if let Ok(result) = &mut done {
            result.meta.coerced = coerced;
            result.meta.took = began.elapsed();
        }
        for hook in self.hooks.iter().rev() {
            hook.after(&outgoing, &mut done).await;
        }
        self.record(outgoing, &done, began);
        done
    }

    /// The tool a name means in this view.
    fn resolve<'v>(&self, view: &'v View, name: &str) -> Result<&'v Arc<Shown>, Failure> {
        match view.find(name) {
            Found::One(index) => view.at(index).ok_or_else(|| not_found(view, name, Vec::new())),
            Found::Ambiguous(indexes) => {
                let names = names_of(view, &indexes);
                let message = format!("{name:?} may mean any of {}", names.join(", "));
                Err(Failure::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names)))
            }
            Found::None { near } => Err(not_found(view, name, names_of(view, &near))),
        }
    }

    /// Through the hooks to the server, and back into shape.
    async fn pass(
        &self,
        shown: &Shown,
        outgoing: &mut Outgoing,
        given: Option<&str>,
        manner: &Manner<'_>,
    ) -> Result<CallResult, Failure> {
        let before = (!self.hooks.is_empty()).then(|| outgoing.arguments.clone());
        for hook in self.hooks {
            match hook.before(outgoing).await {
                Flow::Go => {}
                Flow::Answer(mut result) => {
                    result.meta.cache_hit = true;
                    return Ok(*result);
                }
                Flow::Refuse(kind, why) => return Err(Failure::new(kind, why)),
            }
        }
        // The bytes as given travel on unless somebody changed something.
        let given = given.filter(|_| before.is_none_or(|before| before == outgoing.arguments));
        let answered = self.send(shown, outgoing, given, manner).await?;
        let mut converted = convert(&answered.raw)?;
        self.check_output(shown, &mut converted);
        // A page of a result is as large as may be already; bounded again it would never come to its end.
        let is_page = outgoing.server == *self.local && outgoing.tool == super::READ_RESULT;
        let handle = match manner.size {
            _ if is_page => None,
            Size::Bounded => self.results.bound(&outgoing.user, &mut converted),
            Size::Texts => self.results.bound_texts(&outgoing.user, &mut converted),
            Size::Whole => None,
        };
        let Converted { content, structured, is_error, notes } = converted;
        let meta = Meta {
            server: outgoing.server.clone(),
            tool: outgoing.tool.clone(),
            transport: answered.transport,
            took: std::time::Duration::ZERO,
            retries: answered.retries,
            cache_hit: false,
            coerced: Vec::new(),
            handle,
            notes,
        };
        Ok(CallResult { content, structured, is_error, meta })
    }

    async fn send(
        &self,
        shown: &Shown,
        outgoing: &Outgoing,
        given: Option<&str>,
        manner: &Manner<'_>,
    ) -> Result<Answered, Failure> {
        if outgoing.server == *self.local {
            return self.call_local(outgoing).await;
        }
        let Some((link, transport)) = self.links.link(&outgoing.server) else {
            return Err(Failure::new(ErrorKind::Unavailable, self.links.why_none(&outgoing.server)));
        };
        let arguments = given.and_then(|given| RawValue::from_string(given.to_owned()).ok());
        let arguments = match arguments {
            Some(arguments) => arguments,
            None => raw(&outgoing.arguments)?,
        };
        let meta = if outgoing.meta.is_empty() { None } else { Some(raw(&outgoing.meta)?) };
        let call = Call {
            meta: meta.as_deref(),
            repeatable: shown.tool.marks.repeatable,
            notes: manner.notes.clone(),
            responder: manner.responder.clone(),
            ..Call::new(&outgoing.tool, &arguments)
        };
        let (server, tool) = (|| outgoing.server.to_string(), || outgoing.tool.clone());
        if manner.status.is_some() && !link.status().state.is_connected() {
            manner.say(|| Status::Connecting { server: server() });
        }
        manner.say(|| Status::Executing { server: server(), tool: tool() });
        let reply = link.call(call).await?;
        Ok(Answered { raw: reply.result, retries: reply.retries, transport: Some(transport) })
    }

    async fn call_local(&self, outgoing: &Outgoing) -> Result<Answered, Failure> {
        let Some(tool) = self.locals.get(&outgoing.tool) else {
            return Err(Failure::new(ErrorKind::NotFound, "there is no such local tool"));
        };
        let caller = Caller { user: outgoing.user.clone() };
        let work = tool.call(outgoing.arguments.clone(), caller);
        let done = tokio::time::timeout(self.limits.wait_total, work).await.map_err(|_| {
            let message = format!("no answer within {:?}", self.limits.wait_total);
            Failure::new(ErrorKind::OutcomeUnknown, message)
        })?;
        Ok(Answered { raw: raw(&local::as_result(done))?, retries: 0, transport: None })
    }

    /// What a server promised about its results and does not keep is said, not punished.
    fn check_output(&self, shown: &Shown, converted: &mut Converted) {
        let Some(value) = &converted.structured else { return };
        let Some(schema) = shown.output(self.limits) else { return };
        if let Some(problem) = schema.check(value).first() {
            let note = format!("its structured content does not match its own schema: {problem}");
            converted.notes.push(short(&note));
        }
    }

    fn record(&self, outgoing: Outgoing, done: &Result<CallResult, Failure>, began: Instant) {
        let kind = match done {
            Ok(result) => result.kind(),
            Err(failure) => Some(failure.kind),
        };
        let Outgoing { user, server, tool, arguments, .. } = outgoing;
        let (at, took, words) = (SystemTime::now(), began.elapsed(), String::new());
        let record = Record { at, user, server, tool, arguments: words, kind, took };
        let short = arguments.values().map(weight).sum::<usize>() <= KEPT;
        self.records.push(Taken { record, arguments: short.then_some(arguments) });
    }
}

/// About how much a value holds, without writing it out.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        _ => 8,
    }
}

fn raw(value: &impl serde::Serialize) -> Result<Box<RawValue>, Failure> {
    to_raw_value(value).map_err(|error| Failure::new(ErrorKind::Internal, error.to_string()))
}

fn names_of(view: &View, indexes: &[usize]) -> Vec<String> {
    indexes.iter().filter_map(|index| Some(view.at(*index)?.name.to_string())).collect()
}

fn not_found(view: &View, name: &str, near: Vec<String>) -> Failure {
    // Servers that are away may have it; a model should know that the list is not complete.
    let away: Vec<String> =
        view.snapshot().all_away().map(|(server, away)| format!("{server} is {}", away.why)).collect();
    let away = if away.is_empty() { String::new() } else { format!("; not connected: {}", away.join("; ")) };
    let shown: String = kitbag_core::text::visible(name).chars().take(120).collect();
    let failure = Failure::new(ErrorKind::NotFound, format!("no tool is called {shown:?}{away}"));
    failure.repair(Repair::Names(near))
}
