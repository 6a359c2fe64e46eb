//! The way of one call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use kitbag_core::model::Seconds;
use kitbag_core::present::gateway::Status;
use kitbag_core::shape::{Authorize, Decision, Shown, View};
use kitbag_core::text::Redactor;
use kitbag_core::{ErrorKind, ServerName, Transport};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::approve::{Approval, Approver};
use super::arguments::{Ready, prepare};
use super::convert::{Converted, convert, short};
use super::record::{Record, Records, Taken};
use super::{CallOptions, CallResult, Failure, Flow, Hook, Meta, Outgoing, Repair, Results, Size, ToolCall};
use crate::connect::{Call, Link, Reply, Responder};
use crate::local::{self, Caller, LocalTool};
use crate::roster::{Phase, Roster};
use crate::world::{Permits, Server, World};

/// The longest arguments that are kept with the record of a call.
const KEPT: usize = 16 << 10;

/// Everything a call needs.
pub(crate) struct Runner<'a> {
    pub(crate) roster: &'a Roster,
    pub(crate) locals: &'a BTreeMap<String, LocalTool>,
    pub(crate) world: &'a World,
    pub(crate) hooks: &'a [Arc<dyn Hook>],
    pub(crate) permit: &'a dyn Authorize,
    pub(crate) approver: Option<&'a dyn Approver>,
    pub(crate) responder: Option<&'a Arc<dyn Responder>>,
    pub(crate) results: &'a Results,
    pub(crate) records: &'a Records,
}

/// What came back from wherever the call went.
struct Answered {
    raw: Box<RawValue>,
    retries: u32,
    transport: Option<Transport>,
}

/// A call as far as it was understood.
struct Trip<'a> {
    shown: &'a Shown,
    outgoing: Outgoing,
    /// The arguments as they were given, where they may travel so.
    text: Option<&'a str>,
    options: &'a CallOptions<'a>,
    decision: Decision,
}

impl Runner<'_> {
    /// Calls a tool of a view.
    pub(crate) async fn run(
        &self,
        view: &View,
        shown: &Shown,
        call: ToolCall<'_>,
    ) -> Result<CallResult, Failure> {
        let began = Instant::now();
        let (server, tool) = (&shown.tool.server, shown.tool.name.as_str());
        let named = |failure: Failure| failure.of(server, tool);
        let permits = Permits { policy: &self.world.policy, permit: self.permit };
        let decision = match permits.authorize(view.user(), &shown.tool) {
            // As if it were not there.
            Decision::Deny(_) => return Err(not_found(view, call.tool, Vec::new())),
            Decision::Allow if shown.tool.marks.approve => Decision::Ask,
            decision => decision,
        };
        let Ready { arguments, coerced, text } =
            prepare(shown, call.arguments, &self.world.limits).map_err(named)?;
        let meta = call.options.meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
        let outgoing = Outgoing {
            user: view.user().clone(),
            server: server.clone(),
            tool: tool.to_owned(),
            arguments,
            meta: meta.unwrap_or_default(),
        };
        let mut trip = Trip { shown, outgoing, text: text.as_deref(), options: &call.options, decision };
        let mut done = self.pass(&mut trip).await.map_err(named);
        if let Ok(result) = &mut done {
            result.meta.coerced = coerced;
            result.meta.took = began.elapsed();
        }
        let Trip { outgoing, .. } = trip;
        for hook in self.hooks.iter().rev() {
            hook.after(&outgoing, &mut done).await;
        }
        self.record(outgoing, &done, began);
        done
    }

    /// Asks a person, where that is needed.
    async fn approve(&self, trip: &Trip<'_>) -> Result<(), Failure> {
        if trip.decision != Decision::Ask {
            return Ok(());
        }
        let denied = |why: &str| Err(Failure::new(ErrorKind::ApprovalDenied, why));
        let Some(approver) = self.approver else {
            return denied("needs a person's approval, and nobody can be asked here");
        };
        let Outgoing { user, server, tool, arguments, .. } = trip.outgoing.clone();
        let answer = approver.approve(Approval { user, server, tool, arguments });
        match tokio::time::timeout(self.world.limits.wait_total, answer).await {
            Ok(true) => Ok(()),
            Ok(false) => denied("a person was asked, and said no"),
            Err(_) => denied("a person was asked, and did not answer in time"),
        }
    }

    /// Through the hooks to the server, and back into shape.
    async fn pass(&self, trip: &mut Trip<'_>) -> Result<CallResult, Failure> {
        let before = (!self.hooks.is_empty()).then(|| trip.outgoing.arguments.clone());
        for hook in self.hooks {
            match hook.before(&mut trip.outgoing).await {
                Flow::Go => {}
                Flow::Answer(mut result) => {
                    result.meta.cache_hit = true;
                    return Ok(*result);
                }
                Flow::Refuse(kind, why) => return Err(Failure::new(kind, why)),
            }
        }
        // Asked last: what a person approves is what is sent.
        self.approve(trip).await?;
        // The bytes as given travel on unless somebody changed something.
        let outgoing = &trip.outgoing;
        let given = trip.text.filter(|_| before.is_none_or(|before| before == outgoing.arguments));
        let answered = self.send(trip, given).await?;
        let mut converted = convert(&answered.raw)?;
        self.check_output(trip.shown, &mut converted);
        let server = self.world.servers.get(&outgoing.server);
        let redactor = || server.map(|server| self.redactor(server).clone()).unwrap_or_default();
        // Results travel as received, unless the operator says otherwise.
        if server.is_some_and(|server| server.spec().mask_results) {
            converted.mask(&redactor());
        }
        if !converted.notes.is_empty() {
            let redactor = redactor();
            converted.notes.iter_mut().for_each(|note| *note = redactor.mask(note).into_owned());
        }
        // A page of a result is as large as may be already; bounded again it would never come to its end.
        let is_page = outgoing.server == self.world.local && outgoing.tool == super::READ_RESULT;
        let handle = match trip.options.size {
            _ if is_page => None,
            Size::Bounded => self.results.bound(&outgoing.user, &mut converted, redactor),
            Size::Texts => self.results.bound_texts(&outgoing.user, &mut converted, redactor),
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

    async fn send(&self, trip: &Trip<'_>, given: Option<&str>) -> Result<Answered, Failure> {
        let (outgoing, options) = (&trip.outgoing, trip.options);
        if outgoing.server == self.world.local {
            return self.call_local(outgoing, options).await;
        }
        let arguments = given.and_then(|given| RawValue::from_string(given.to_owned()).ok());
        let arguments = match arguments {
            Some(arguments) => arguments,
            None => raw(&outgoing.arguments)?,
        };
        let meta = if outgoing.meta.is_empty() { None } else { Some(raw(&outgoing.meta)?) };
        let (server, tool) = (|| outgoing.server.to_string(), || outgoing.tool.clone());
        let mut link = self.link(&outgoing.server)?;
        if options.status.is_some() && !link.status().state.is_connected() {
            options.say(|| Status::Connecting { server: server() });
        }
        options.say(|| Status::Executing { server: server(), tool: tool() });
        loop {
            let call = Call {
                meta: meta.as_deref(),
                repeatable: trip.shown.tool.marks.repeatable,
                notes: options.notes.clone(),
                responder: options.responder.as_ref().or(self.responder).cloned(),
                user: outgoing.user.clone(),
                timeout: options.timeout,
                ..Call::new(&outgoing.tool, &arguments)
            };
            let error = match link.call(call).await {
                Ok(Reply { result, retries, .. }) => {
                    let transport =
                        self.world.servers.get(&outgoing.server).map(|server| server.spec().transport());
                    return Ok(Answered { raw: result, retries, transport });
                }
                Err(error) => error,
            };
            // A server that was replaced takes no more calls; this one was not delivered and goes to the new one.
            let next = self.link(&outgoing.server).ok().filter(|next| !next.is(&link));
            match next.filter(|_| error.kind == ErrorKind::Unavailable) {
                Some(next) => link = next,
                None => return Err(error.into()),
            }
        }
    }

    /// Hides the secrets of a server.
    fn redactor<'s>(&self, server: &'s Server) -> &'s Redactor {
        server.plan.redactor(self.world.setup.env())
    }

    /// The link to a server as it is now.
    fn link(&self, server: &ServerName) -> Result<Link, Failure> {
        let now = self.roster.glance();
        if let Some(opened) = now.links.get(server) {
            let is_stopped = || Failure::new(ErrorKind::Unavailable, "is stopped");
            return if opened.lease.is_released() { Err(is_stopped()) } else { Ok(opened.link().clone()) };
        }
        let is_filed = now.world.setup.catalog.iter().any(|part| part.server == *server);
        let why = match now.phase {
            Phase::Closed => "this Kitbag is closed",
            Phase::Open if is_filed => "it comes from a file; no server runs behind it",
            Phase::Open => "its server is no longer in use",
        };
        Err(Failure::new(ErrorKind::Unavailable, why))
    }

    async fn call_local(&self, outgoing: &Outgoing, options: &CallOptions<'_>) -> Result<Answered, Failure> {
        let Some(tool) = self.locals.get(&outgoing.tool) else {
            return Err(Failure::new(ErrorKind::NotFound, "there is no such local tool"));
        };
        let caller = Caller { user: outgoing.user.clone() };
        let work = tool.call(outgoing.arguments.clone(), caller);
        let limit = self.world.limits.wait_total;
        let most = options.timeout.map_or(limit, |timeout| timeout.min(limit));
        let done = tokio::time::timeout(most, work).await.map_err(|_| {
            let message = format!("no answer within {}", Seconds(most));
            Failure::new(ErrorKind::OutcomeUnknown, message)
        })?;
        Ok(Answered { raw: raw(&local::as_result(done))?, retries: 0, transport: None })
    }

    /// What a server promised about its results and does not keep is said, not punished.
    fn check_output(&self, shown: &Shown, converted: &mut Converted) {
        let Some(value) = &converted.structured else { return };
        let Some(schema) = shown.output(&self.world.limits) else { return };
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

/// That a view has no tool of this name. Servers that are away may have it, and a model should know that the list is
/// not complete: by their state alone, and only those it may know of.
pub(crate) fn not_found(view: &View, name: &str, near: Vec<String>) -> Failure {
    let away: Vec<String> = view.away().map(|(server, away)| format!("{server} is {}", away.state)).collect();
    let away = if away.is_empty() { String::new() } else { format!("; not connected: {}", away.join("; ")) };
    let shown: String = kitbag_core::text::visible(name).chars().take(120).collect();
    let failure = Failure::new(ErrorKind::NotFound, format!("no tool is called {shown:?}{away}"));
    failure.repair(Repair::Names(near))
}
