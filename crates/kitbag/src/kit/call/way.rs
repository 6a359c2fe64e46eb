//! The way of one call: judged, checked, past the hooks and a person, to its server and back.

use std::borrow::Cow;
use std::sync::Arc;

use kitbag_core::model::{Activity, Seconds};
use kitbag_core::schema::ExactJson;
use kitbag_core::shape::View;
use kitbag_core::shape::policy::CallDecision;
use kitbag_core::{ErrorKind, ServerName, Transport};
use serde_json::Map;
use serde_json::value::{RawValue, to_raw_value};

use super::super::Inner;
use super::entry::{AuditNote, Entry};
use super::meaning::{Judged, not_found};
use crate::code::Trouble;
use crate::connect::{CallerInput, Link, NOT_WAITING, RawCall, RawReply, ReplyKind, Responder};
use crate::execute::{
    ANSWERER, CallError, CallInfo, CallParts, CallResult, Converted, HookAction, OutgoingCall, READ_RESULT,
    Ready, Remainder, ResultSize, Want, Watched, convert, prepare, short, troubled,
};
use crate::local::ToolContext;
use crate::roster::{Now, Phase};

/// One call, and what it is made with.
pub(in crate::kit) struct Way<'a> {
    pub(in crate::kit) kit: &'a Inner,
    pub(in crate::kit) view: &'a View,
    pub(in crate::kit) call: CallParts<'a>,
}

/// What came back from wherever the call went.
struct Answered {
    raw: Box<RawValue>,
    kind: ReplyKind,
    retries: u32,
    transport: Option<Transport>,
}

/// Why a call has no result, and whether another server may be given it.
pub(super) enum Missed {
    /// Its server is not available, and was certainly not given it.
    Undelivered(CallError),
    /// Anything else, also what may have been carried out.
    Failed(CallError),
}

impl From<CallError> for Missed {
    fn from(failure: CallError) -> Self {
        Self::Failed(failure)
    }
}

impl Missed {
    fn of(self, server: &ServerName, tool: &str) -> Self {
        match self {
            Self::Undelivered(failure) => Self::Undelivered(failure.of(server, tool)),
            Self::Failed(failure) => Self::Failed(failure.of(server, tool)),
        }
    }
}

impl Way<'_> {
    /// What a server promised about its results and does not keep is said, not punished.
    fn check_output(&self, judged: &Judged, converted: &mut Converted) {
        let limits = &judged.now.world.limits;
        let Some(value) = &converted.structured else { return };
        let Some(schema) = judged.shown.output(limits) else { return };
        if let Some(problem) = schema.check(value).first() {
            self.kit.mismatches.note(&judged.shown.tool, problem, limits.tools);
            let note = format!("its structured content does not match its own schema: {problem}");
            converted.notes.push(short(&note));
        }
    }

    /// All of it, up to the hooks that hear how it ended.
    pub(super) async fn go(&self, entry: &mut Entry<'_>) -> Result<CallResult, CallError> {
        entry.audit.agent.clone_from(&self.view.agent().name);
        let judged = match self.kit.meant(self.view, self.call.tool).await {
            Ok(judged) => judged,
            Err(failure) => {
                // The operator may know what its caller must not.
                let hidden = self.view.hidden(self.call.tool).next();
                entry.audit.rule = hidden.and_then(|hidden| hidden.reason()).map(|(_, why)| why.to_owned());
                return Err(failure);
            }
        };
        let shown = judged.shown.clone();
        let mut done = match self.at(judged, entry).await {
            Ok(result) => Ok(result),
            Err(Missed::Failed(failure)) => Err(failure),
            // Rare, and as large as the way itself.
            Err(Missed::Undelivered(failure)) => Box::pin(self.instead(shown, failure, entry)).await,
        };
        if let Ok(result) = &mut done {
            result.info.took = entry.took();
        }
        done
    }

    /// To the server it was judged for.
    pub(super) async fn at(&self, judged: Judged, entry: &mut Entry<'_>) -> Result<CallResult, Missed> {
        let shown = judged.shown.clone();
        let (server, tool) = (&shown.tool.server, shown.tool.name.as_str());
        entry.outgoing.server = Some(server.clone());
        entry.outgoing.tool = tool.to_owned();
        let given = judged.now.world.servers.get(server);
        entry.redactor = given.map(|given| given.plan.redactor().clone()).unwrap_or_default();
        let done = self.pass(judged, &mut entry.outgoing, &mut entry.audit).await;
        done.map_err(|missed| missed.of(server, tool))
    }

    /// Checked, through the hooks to the server, and back into shape.
    async fn pass(
        &self,
        judged: Judged,
        outgoing: &mut OutgoingCall,
        audit: &mut AuditNote,
    ) -> Result<CallResult, Missed> {
        let hooks = &self.kit.options.hooks;
        let is_only_sent = hooks.is_empty() && judged.shown.access.is_free() && !judged.is_local();
        let want = if is_only_sent { Want::Text } else { Want::Values };
        let Ready { arguments, coerced, text } = self.prepare(&judged, want)?;
        outgoing.arguments = arguments;
        outgoing.meta = self.call.options.meta.clone();
        let before = (!hooks.is_empty()).then(|| outgoing.arguments.clone());
        for hook in hooks {
            let (hook, mut call) = (hook.clone(), outgoing.clone());
            let work = async move { (hook.before(&mut call).await, call) };
            let (flow, call) = self.run("a hook", &judged, work).await?;
            *outgoing = call;
            match flow {
                HookAction::Go => {}
                HookAction::Answer(mut result) => {
                    result.info.cache_hit = true;
                    return Ok(*result);
                }
                HookAction::Refuse(kind, why) => return Err(CallError::new(kind, why).into()),
            }
        }
        // The bytes as given travel on; what a hook changed is changed in them.
        let is_changed = before.is_some_and(|before| before != outgoing.arguments);
        let text = if is_changed { Cow::Owned(changed(&text, &outgoing.arguments)) } else { text };
        // Decided last: what is judged, and what a person approves, is what is sent.
        match judged.shown.access.decide(&outgoing.arguments) {
            CallDecision::Allow => {}
            CallDecision::Ask(why) => {
                audit.rule = Some(why.clone());
                self.approve(&judged, outgoing, &text, &why).await?;
                audit.is_approved = true;
            }
            CallDecision::Deny { told, rule } => {
                audit.rule = Some(rule);
                return Err(CallError::new(ErrorKind::Denied, told).into());
            }
        }
        let server = judged.now.world.servers.get(&judged.shown.tool.server);
        if let Some(server) = server.filter(|server| server.is_pinned()) {
            self.kit.pins.used(judged.now.world.pins, server.plan.owner.as_ref(), &judged.shown.tool);
        }
        let (answered, judged) = self.send(judged, outgoing, &text).await?;
        let received = answered.raw.get().len();
        audit.received = received;
        if !judged.is_local() {
            let (limits, server) = (&judged.now.world.limits, &judged.shown.tool.server);
            let links = &self.kit.offered.links;
            links.note(&outgoing.user, server, &answered.raw, limits.links, limits.uri);
        }
        let asks_back = answered.kind == ReplyKind::InputRequired;
        let raw = if asks_back { self.question(&judged, answered.raw)? } else { answered.raw };
        if asks_back || self.is_handed_on(&judged) {
            let info = CallInfo {
                transport: answered.transport,
                retries: answered.retries,
                coerced,
                ..CallInfo::new(judged.shown.tool.server.clone(), &outgoing.tool)
            };
            return Ok(as_received(raw, info)?);
        }
        let mut converted = convert(&raw, &judged.now.world.limits)?;
        // It may be large, and everything in it was taken over.
        drop(raw);
        self.check_output(&judged, &mut converted);
        let server = judged.now.world.servers.get(&judged.shown.tool.server);
        let redactor = || server.map(|server| server.plan.redactor().clone()).unwrap_or_default();
        // Results travel as received, unless the operator says otherwise.
        if server.is_some_and(|server| server.spec().mask_results) {
            converted.mask(&redactor());
        }
        if !converted.notes.is_empty() {
            let redactor = redactor();
            converted.notes.iter_mut().for_each(|note| *note = redactor.mask(note).into_owned());
        }
        // A page of a result is as large as may be already; bounded again it would never come to its end.
        let is_page = judged.is_local() && outgoing.tool == READ_RESULT;
        let (results, user) = (&self.kit.results, &outgoing.user);
        // A number may take a few times as much room as it was written with, and nothing else takes more.
        let is_small = received <= judged.now.world.limits.result / 8;
        let rest = match self.call.options.size {
            _ if is_page || is_small => Remainder::Nothing,
            ResultSize::Bounded => results.bound(user, &mut converted, redactor),
            ResultSize::Texts => results.bound_texts(user, &mut converted, redactor),
            ResultSize::Whole | ResultSize::AsReceived => Remainder::Nothing,
        };
        audit.is_cut = !matches!(rest, Remainder::Nothing);
        let Converted { content, structured, is_error, meta, notes } = converted;
        let info = CallInfo {
            server: judged.shown.tool.server.clone(),
            tool: outgoing.tool.clone(),
            transport: answered.transport,
            took: std::time::Duration::ZERO,
            retries: answered.retries,
            cache_hit: false,
            coerced,
            handle: rest.handle(),
            notes,
        };
        Ok(CallResult { content, structured, is_error, meta, raw: None, info })
    }

    /// Whether the caller wants the result as its server wrote it, and nobody between looks into it.
    fn is_handed_on(&self, judged: &Judged) -> bool {
        let server = judged.now.world.servers.get(&judged.shown.tool.server);
        self.call.options.size == ResultSize::AsReceived
            && self.kit.options.hooks.is_empty()
            && !server.is_some_and(|server| server.spec().mask_results)
    }

    /// A question of a server for the client that the caller speaks for. Its state is nobody else's to read or change.
    pub(in crate::kit) fn question(
        &self,
        judged: &Judged,
        question: Box<RawValue>,
    ) -> Result<Box<RawValue>, CallError> {
        let server = judged.now.world.servers.get(&judged.shown.tool.server);
        let Some(server) = server.filter(|server| server.spec().mask_results) else { return Ok(question) };
        let mut members: Map<String, serde_json::Value> =
            serde_json::from_str(question.get()).unwrap_or_default();
        if let Some(requests) = members.get_mut("inputRequests") {
            *requests = server.plan.redactor().mask_value(requests);
        }
        raw(&members)
    }

    pub(super) fn prepare(&self, judged: &Judged, want: Want) -> Result<Ready<'_>, CallError> {
        prepare(&judged.shown, self.call.arguments, &judged.now.world.limits, want)
    }

    /// Runs somebody's code, which may panic or never give way.
    pub(in crate::kit) async fn run<T: Send + 'static>(
        &self,
        whose: &str,
        judged: &Judged,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, CallError> {
        let done = self.kit.threads.run(&judged.now.world.limits, work).await;
        done.map_err(|trouble| troubled(whose, &trouble))
    }

    /// How long somebody else's work may take.
    pub(super) fn most(&self, judged: &Judged) -> std::time::Duration {
        let limit = judged.now.world.limits.wait_total;
        self.call.options.timeout.map_or(limit, |timeout| timeout.min(limit))
    }

    /// Sends it where it belongs now, and says by what rules it was judged at that moment.
    async fn send(
        &self,
        judged: Judged,
        outgoing: &OutgoingCall,
        given: &str,
    ) -> Result<(Answered, Judged), Missed> {
        let options = self.call.options;
        let mut judged = self.judged_now(judged, outgoing).await?;
        if judged.is_local() {
            return Ok((self.call_local(&judged, outgoing).await?, judged));
        }
        let made;
        let arguments = match serde_json::from_str::<&RawValue>(given) {
            Ok(arguments) => arguments,
            Err(_) => {
                made = raw(&outgoing.arguments)?;
                &*made
            }
        };
        let server = judged.shown.tool.server.clone();
        let mut link = link_in(&judged.now, &server).map_err(Missed::Undelivered)?;
        let mut meta = Cow::Borrowed(&outgoing.meta);
        options.log_level.iter().for_each(|level| link.log_at_least(*level, &mut meta));
        let meta = if meta.is_empty() { None } else { Some(raw(&*meta)?) };
        if options.on_activity.is_some() && !link.status().state.is_connected() {
            options.say(|| Activity::Connecting { server: server.to_string() });
        }
        options.say(|| Activity::Executing { server: server.to_string(), tool: outgoing.tool.clone() });
        let hurt = |trouble: Trouble| troubled(ANSWERER, &trouble);
        let responder = self.responder(&judged).await?;
        loop {
            let call = RawCall {
                meta: meta.as_deref(),
                headers: &options.headers,
                repeatable: judged.shown.tool.marks.repeatable,
                notifications: options.notifications.clone(),
                responder: responder.clone().map(|responder| responder as Arc<dyn Responder>),
                input: options.input.as_ref(),
                user: outgoing.user.clone(),
                timeout: options.timeout,
                ..RawCall::new(&outgoing.tool, arguments)
            };
            let answer = match &responder {
                Some(responder) => responder.unless_troubled(link.call(call)).await.map_err(hurt)?,
                None => link.call(call).await,
            };
            let error = match answer {
                Ok(RawReply { result, kind, retries, .. }) => {
                    let transport =
                        judged.now.world.servers.get(&server).map(|server| server.spec().transport());
                    return Ok((Answered { raw: result, kind, retries, transport }, judged));
                }
                Err(error) => error,
            };
            // A server that was replaced takes no more calls; this one was not delivered and goes to the new one, if
            // what is true by then lets it.
            if error.kind != ErrorKind::Unavailable {
                return Err(CallError::from(error).into());
            }
            let next = link_in(&self.kit.now(), &server).ok().filter(|next| !next.is(&link));
            if next.is_none() {
                return Err(Missed::Undelivered(error.into()));
            }
            judged = self.judged_now(judged, outgoing).await?;
            link = link_in(&judged.now, &server).map_err(Missed::Undelivered)?;
        }
    }

    /// Whoever answers questions of this call, watched.
    pub(in crate::kit) async fn responder(&self, judged: &Judged) -> Result<Option<Arc<Watched>>, CallError> {
        let responder = self.kit.responder(self.call.options.responder.clone());
        let Some(responder) = responder else { return Ok(None) };
        let watched = Watched::new(&responder, &self.kit.threads, &judged.now.world.limits).await;
        watched.map(Some).map_err(|trouble| troubled(ANSWERER, &trouble))
    }

    /// The same by what is true now: while a call waited for hooks, a person or its server, its user may have lost
    /// the tool, or the tool may have become another.
    async fn judged_now(&self, judged: Judged, outgoing: &OutgoingCall) -> Result<Judged, CallError> {
        let now = self.kit.now();
        self.check_definition(&judged, &now)?;
        if Arc::ptr_eq(&now.world, &judged.now.world) {
            return Ok(Judged { now, ..judged });
        }
        let server = &judged.shown.tool.server;
        if now.snapshot.part(server).is_none() {
            // Another server has its place and has not said yet what it has.
            self.kit.wait_for(std::slice::from_ref(server), now.world.limits.wait_agent).await;
        }
        let next = self.kit.judge(self.view, &judged.shown)?;
        // It may have been listed just now.
        self.check_definition(&judged, &next.now)?;
        if next.is_local() != judged.is_local() {
            return Err(not_found(self.view, self.call.tool, Vec::new()));
        }
        let arguments = |judged: &Judged| self.prepare(judged, Want::Values).map(|ready| ready.arguments);
        if let (Ok(old), Ok(new)) = (arguments(&judged), arguments(&next)) {
            // Arguments that only travel through were never read.
            let sent = if outgoing.arguments.is_empty() { &new } else { &outgoing.arguments };
            let decided = next.shown.access.decide(sent);
            // What was decided still holds, or nothing is against the call any more.
            let holds = decided == CallDecision::Allow || decided == judged.shown.access.decide(sent);
            if holds && !matches!(decided, CallDecision::Deny { .. }) && old == new {
                return Ok(next);
            }
        }
        let why = "its rules changed while the call waited; call it again";
        Err(CallError::new(ErrorKind::Unavailable, why))
    }

    /// What was approved or pinned is a definition: another one, listed while the call waited, is not.
    fn check_definition(&self, judged: &Judged, now: &Now) -> Result<(), CallError> {
        let shown = &judged.shown;
        let is_bound = !shown.access.is_free() || self.kit.options.store.is_some();
        if !is_bound || Arc::ptr_eq(&now.snapshot, &judged.now.snapshot) {
            return Ok(());
        }
        let listed = now.snapshot.tool(&shown.tool.server, shown.tool.name.as_str());
        if listed.is_none_or(|tool| tool.definition_hash() == shown.tool.definition_hash()) {
            return Ok(());
        }
        let why = "is held: its definition changed while the call waited; call it again";
        Err(CallError::new(ErrorKind::Held, why))
    }

    /// A tool of the program itself.
    async fn call_local(&self, judged: &Judged, outgoing: &OutgoingCall) -> Result<Answered, CallError> {
        let Some(tool) = self.kit.locals.get(&outgoing.tool).cloned() else {
            return Err(CallError::new(ErrorKind::NotFound, "there is no such local tool"));
        };
        if self.call.options.input.as_ref().is_some_and(CallerInput::is_further) {
            return Err(CallError::new(ErrorKind::InvalidArguments, NOT_WAITING));
        }
        let arguments = outgoing.arguments.clone();
        let context = ToolContext {
            user: outgoing.user.clone(),
            meta: outgoing.meta.clone(),
            server: judged.shown.tool.server.clone(),
            tool: outgoing.tool.clone(),
            notifications: self.call.options.notifications.clone(),
            responder: self.responder(judged).await?.map(|responder| responder as Arc<dyn Responder>),
        };
        let work = self.run("the tool", judged, async move { tool.call(arguments, context).await });
        let most = self.most(judged);
        let done = tokio::time::timeout(most, work).await.map_err(|_| {
            let message = format!("no answer within {}", Seconds(most));
            CallError::new(ErrorKind::OutcomeUnknown, message)
        })??;
        Ok(Answered { raw: raw(&done)?, kind: ReplyKind::Complete, retries: 0, transport: None })
    }
}

/// A result as its server wrote it; only whether it is one, and whether it says it failed, is looked at.
fn as_received(raw: Box<RawValue>, info: CallInfo) -> Result<CallResult, CallError> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head {
        #[serde(default)]
        is_error: Option<bool>,
    }
    let head: Head = serde_json::from_str(raw.get()).map_err(|_| {
        CallError::new(ErrorKind::BadAnswer, "answered with something that is not the result of a tool")
    })?;
    let is_error = head.is_error.unwrap_or_default();
    Ok(CallResult { content: Vec::new(), structured: None, is_error, meta: None, raw: Some(raw), info })
}

/// The link to a server.
pub(in crate::kit) fn link_in(now: &Now, server: &ServerName) -> Result<Link, CallError> {
    if let Some(opened) = now.links.get(server) {
        let is_stopped = || CallError::new(ErrorKind::Unavailable, "is stopped");
        return if opened.lease.is_released() { Err(is_stopped()) } else { Ok(opened.link().clone()) };
    }
    let is_filed = now.world.setup.catalog.iter().any(|part| part.server == *server);
    let why = match now.phase {
        Phase::Closed => "this Kitbag is closed",
        Phase::Open if is_filed => "it comes from a file; no server runs behind it",
        Phase::Open => "its server is no longer in use",
    };
    Err(CallError::new(ErrorKind::Unavailable, why))
}

/// The text with these arguments; numbers that are still the same keep their digits.
fn changed(text: &str, arguments: &Map<String, serde_json::Value>) -> String {
    let mut exact = ExactJson::parse(text).unwrap_or(ExactJson::Null);
    exact.set(&serde_json::Value::Object(arguments.clone()));
    exact.to_string()
}

fn raw(value: &impl serde::Serialize) -> Result<Box<RawValue>, CallError> {
    to_raw_value(value).map_err(|error| CallError::new(ErrorKind::Internal, error.to_string()))
}
