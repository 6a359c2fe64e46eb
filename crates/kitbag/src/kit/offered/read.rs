//! Reading a resource and getting a prompt: judged, past the hooks and a person, to its server and back, with one record,
//! like a call of a tool.

use std::borrow::Cow;
use std::sync::Arc;

use kitbag_core::catalog::Tool;
use kitbag_core::shape::policy::CallDecision;
use kitbag_core::shape::{View, ViewTool};
use kitbag_core::{ErrorKind, ServerName};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tracing::Instrument as _;

use super::super::call::{Entry, Judged, Way, link_in, span};
use super::super::{Inner, Kitbag};
use super::ServerResult;
use super::resources::no_resource;
use super::resources::{MeantResource, Whose};
use crate::connect::{RawReply, RawRequest, ReplyKind, Responder};
use crate::execute::{
    ANSWERER, CallError, CallInfo, CallOptions, CallParts, CallResult, HookAction, Want, prepare, troubled,
};

/// The longest name of an approval: what waits for one is known by it.
const LONGEST_ASKED: usize = 128;

impl Kitbag {
    /// Reads a resource by its URI: one that is listed, one that a template leads to, or a link in a result. Rules, limits,
    /// timeouts, records and whoever answers questions are those of calls. A URI that nobody lists is asked for at the
    /// servers that may have it, one after another.
    pub async fn read_resource(
        &self,
        view: &View,
        uri: &str,
        options: CallOptions,
    ) -> Result<ServerResult, CallError> {
        let asked = format!("resource:{uri}");
        self.fetched(view, Errand::Read(uri), &asked, "", options).await
    }

    /// Gets a prompt by its name, with its arguments as the text of a JSON object of strings.
    pub async fn get_prompt(
        &self,
        view: &View,
        name: &str,
        arguments: &str,
        options: CallOptions,
    ) -> Result<ServerResult, CallError> {
        let asked = format!("prompt:{name}");
        self.fetched(view, Errand::Get(name), &asked, arguments, options).await
    }

    async fn fetched(
        &self,
        view: &View,
        errand: Errand<'_>,
        asked: &str,
        arguments: &str,
        options: CallOptions,
    ) -> Result<ServerResult, CallError> {
        let call = CallParts { tool: asked, arguments, options: &options };
        let mut entry = Entry::new(self, view.user(), call);
        let fetch = Fetch { way: Way { kit: &self.0, view, call } };
        let span = span::begin(entry.id, view.user());
        let work = fetch.go(errand, &mut entry).instrument(span.clone());
        let done = match &options.cancel {
            None => work.await,
            Some(cancel) => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(CallError::new(ErrorKind::Cancelled, "the caller cancelled it")),
                done = work => done,
            },
        };
        let done = entry.end(done).await;
        span::end(&span, &done);
        let CallResult { raw, info, .. } = done?;
        let why = "a hook answered with the result of a tool";
        let result = raw.ok_or_else(|| CallError::new(ErrorKind::Internal, why))?;
        Ok(ServerResult { result, info })
    }
}

/// What is wanted.
#[derive(Clone, Copy)]
enum Errand<'a> {
    Read(&'a str),
    Get(&'a str),
}

/// A request that is ready to be sent, if its user may send it.
struct Ready {
    judged: Judged,
    method: &'static str,
    /// What rules look at, and a person who is asked.
    arguments: Map<String, Value>,
    /// What is sent, without `_meta`.
    params: Map<String, Value>,
}

struct Fetch<'a> {
    way: Way<'a>,
}

impl Fetch<'_> {
    fn kit(&self) -> &Inner {
        self.way.kit
    }

    async fn go(&self, errand: Errand<'_>, entry: &mut Entry<'_>) -> Result<CallResult, CallError> {
        entry.audit.agent.clone_from(&self.way.view.agent().name);
        self.kit().pins.is_read().await;
        match errand {
            Errand::Get(name) => {
                let ready = self.prompt(name).await?;
                self.made(ready, entry).await
            }
            Errand::Read(uri) => {
                let whose = self.kit().whose(self.way.view, uri).await?;
                let is_sure = matches!(whose, Whose::One(..));
                let (servers, own) = whose.in_order(uri);
                let mut first = None;
                for server in servers {
                    let done = match self.resource(&server, &own) {
                        Ok(ready) => self.made(ready, entry).await,
                        Err(error) => Err(error),
                    };
                    match done {
                        // Another one may have it: this one does not, or cannot say.
                        Err(error) if !is_sure && is_about_server(error.kind) => {
                            first.get_or_insert(error);
                        }
                        done => return done,
                    }
                }
                let missing = || no_resource(uri);
                Err(first.filter(|error| error.kind != ErrorKind::ServerError).unwrap_or_else(missing))
            }
        }
    }

    async fn prompt(&self, name: &str) -> Result<Ready, CallError> {
        let meant = self.kit().prompt_meant(self.way.view, name).await?;
        let (server, tool) = (meant.prompt.server.clone(), meant.shown.tool.name.to_string());
        let limits = &meant.now.world.limits;
        let ready = prepare(&meant.shown, self.way.call.arguments, limits, Want::Values);
        let arguments = ready.map_err(|error| error.of(&server, &tool))?.arguments;
        let mut params = Map::from_iter([("name".to_owned(), meant.prompt.own_name.as_str().into())]);
        if !arguments.is_empty() {
            params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
        }
        let judged = Judged { now: meant.now, shown: meant.shown };
        Ok(Ready { judged, method: "prompts/get", arguments, params })
    }

    fn resource(&self, server: &ServerName, uri: &str) -> Result<Ready, CallError> {
        let MeantResource { now, uri, shown } = self.kit().resource_now(self.way.view, server, uri)?;
        let params = Map::from_iter([("uri".to_owned(), Value::from(uri))]);
        Ok(Ready {
            judged: Judged { now, shown },
            method: "resources/read",
            arguments: params.clone(),
            params,
        })
    }

    /// Past the hooks, a person and the server.
    async fn made(&self, ready: Ready, entry: &mut Entry<'_>) -> Result<CallResult, CallError> {
        let shown = ready.judged.shown.clone();
        let (server, name) = (&shown.tool.server, shown.tool.name.as_str());
        entry.outgoing.server = Some(server.clone());
        entry.outgoing.tool = name.to_owned();
        entry.outgoing.arguments.clone_from(&ready.arguments);
        entry.outgoing.meta.clone_from(&self.way.call.options.meta);
        let given = ready.judged.now.world.servers.get(server);
        entry.redactor = given.map(|given| given.plan.redactor().clone()).unwrap_or_default();
        let done = self.pass(ready, entry).await;
        let mut done = done.map_err(|failure| failure.of(server, name));
        if let Ok(result) = &mut done {
            result.info.took = entry.took();
        }
        done
    }

    async fn pass(&self, mut ready: Ready, entry: &mut Entry<'_>) -> Result<CallResult, CallError> {
        for hook in &self.kit().options.hooks {
            let (hook, mut call) = (hook.clone(), entry.outgoing.clone());
            let work = async move { (hook.before(&mut call).await, call) };
            let (flow, call) = self.way.run("a hook", &ready.judged, work).await?;
            entry.outgoing.meta = call.meta;
            match flow {
                HookAction::Go if call.arguments == entry.outgoing.arguments => {}
                HookAction::Go if ready.method == "prompts/get" => {
                    ready.params.insert("arguments".to_owned(), Value::Object(call.arguments.clone()));
                    ready.arguments.clone_from(&call.arguments);
                    entry.outgoing.arguments = call.arguments;
                }
                HookAction::Go => {
                    let why = "a hook changed the URI of a resource, which would be another resource";
                    return Err(CallError::new(ErrorKind::Denied, why));
                }
                HookAction::Answer(mut result) => {
                    result.info.cache_hit = true;
                    return Ok(*result);
                }
                HookAction::Refuse(kind, why) => return Err(CallError::new(kind, why)),
            }
        }
        self.decide(&ready, entry).await?;
        let ready = self.ready_now(ready)?;
        let (now, tool) = (&ready.judged.now, &ready.judged.shown.tool);
        if let Some(server) = now.world.servers.get(&tool.server)
            && server.is_pinned()
            && ready.method == "prompts/get"
        {
            self.kit().pins.used(now.world.pins, server.plan.owner.as_ref(), tool);
        }
        self.send(&ready, entry).await
    }

    /// What is judged, and what a person approves, is what is sent.
    async fn decide(&self, ready: &Ready, entry: &mut Entry<'_>) -> Result<(), CallError> {
        match ready.judged.shown.access.decide(&ready.arguments) {
            CallDecision::Allow => Ok(()),
            CallDecision::Ask(why) => {
                entry.audit.rule = Some(why.clone());
                if LONGEST_ASKED < ready.judged.shown.tool.name.as_str().chars().count() {
                    let why = "needs a person's approval, and its URI is too long to be asked about";
                    return Err(CallError::new(ErrorKind::ApprovalDenied, why));
                }
                let sent = Value::Object(ready.arguments.clone()).to_string();
                self.way.approve(&ready.judged, &entry.outgoing, &sent, &why).await?;
                entry.audit.is_approved = true;
                Ok(())
            }
            CallDecision::Deny { told, rule } => {
                entry.audit.rule = Some(rule);
                Err(CallError::new(ErrorKind::Denied, told))
            }
        }
    }

    /// The same by what is true now: hooks and a person take their time.
    fn ready_now(&self, ready: Ready) -> Result<Ready, CallError> {
        let now = self.kit().now();
        if Arc::ptr_eq(&now.world, &ready.judged.now.world) {
            return Ok(Ready { judged: Judged { now, ..ready.judged }, ..ready });
        }
        let shown = &ready.judged.shown;
        let fresh = self.kit().judged_again(self.way.view, &now, &shown.tool)?;
        let decided = fresh.access.decide(&ready.arguments);
        let holds = decided == CallDecision::Allow || decided == shown.access.decide(&ready.arguments);
        if holds && !matches!(decided, CallDecision::Deny { .. }) {
            return Ok(Ready { judged: Judged { now, shown: fresh }, ..ready });
        }
        let why = "its rules changed while the request waited; make it again";
        Err(CallError::new(ErrorKind::Unavailable, why))
    }

    async fn send(&self, ready: &Ready, entry: &mut Entry<'_>) -> Result<CallResult, CallError> {
        let options = self.way.call.options;
        let Ready { judged, method, params, .. } = ready;
        let tool: &Tool = &judged.shown.tool;
        let link = link_in(&judged.now, &tool.server)?;
        let mut meta = Cow::Borrowed(&entry.outgoing.meta);
        options.log_level.iter().for_each(|level| link.log_at_least(*level, &mut meta));
        let mut params = Cow::Borrowed(params);
        if !meta.is_empty() {
            params.to_mut().insert("_meta".to_owned(), Value::Object(meta.into_owned()));
        }
        let params = to_raw_value(&*params);
        let params = params.map_err(|error| CallError::new(ErrorKind::Internal, error.to_string()))?;
        let responder = self.way.responder(judged).await?;
        let request = RawRequest {
            headers: &options.headers,
            input: options.input.as_ref(),
            // Neither changes anything, as the protocol has it.
            repeatable: true,
            notifications: options.notifications.clone(),
            responder: responder.clone().map(|responder| responder as Arc<dyn Responder>),
            user: entry.outgoing.user.clone(),
            timeout: options.timeout,
            ..RawRequest::new(method, &params)
        };
        let hurt = |trouble| troubled(ANSWERER, &trouble);
        let answer = match &responder {
            Some(responder) => responder.unless_troubled(link.request(request)).await.map_err(hurt)?,
            None => link.request(request).await,
        };
        let RawReply { result, kind, retries, .. } = answer?;
        entry.audit.received = result.get().len();
        self.taken_over(judged, (result, kind), retries, entry)
    }

    fn taken_over(
        &self,
        judged: &Judged,
        (result, kind): (Box<RawValue>, ReplyKind),
        retries: u32,
        entry: &Entry<'_>,
    ) -> Result<CallResult, CallError> {
        let (tool, limits) = (&judged.shown.tool, &judged.now.world.limits);
        self.kit().offered.links.note(&entry.outgoing.user, &tool.server, &result, limits.links, limits.uri);
        let server = judged.now.world.servers.get(&tool.server);
        let result = match server.filter(|server| server.spec().mask_results) {
            None => result,
            Some(_) if kind == ReplyKind::InputRequired => self.way.question(judged, result)?,
            Some(server) => {
                let broken = |_| CallError::new(ErrorKind::BadAnswer, "answered with something unreadable");
                let value: Value = serde_json::from_str(result.get()).map_err(broken)?;
                to_raw_value(&server.plan.redactor().mask_value(&value)).map_err(broken)?
            }
        };
        if !result.get().trim_start().starts_with('{') {
            let why = "answered with something that is not an object";
            return Err(CallError::new(ErrorKind::BadAnswer, why));
        }
        let transport = server.map(|server| server.spec().transport());
        let info = CallInfo { transport, retries, ..CallInfo::new(tool.server.clone(), tool.name.as_str()) };
        let (content, structured, meta) = (Vec::new(), None, None);
        Ok(CallResult { content, structured, is_error: false, meta, raw: Some(result), info })
    }
}

impl Inner {
    /// Something that was judged before, as the rules of this moment have it.
    fn judged_again(
        &self,
        view: &View,
        now: &Arc<crate::roster::Now>,
        tool: &Tool,
    ) -> Result<Arc<ViewTool>, CallError> {
        use super::super::views::WHOSE;
        use super::{ListKind, Offered};
        let name = tool.name.as_str();
        let (kind, key) = match name.strip_prefix("prompt:") {
            Some(prompt) => (ListKind::Prompts, prompt),
            None => (ListKind::Resources, name.strip_prefix("resource:").unwrap_or(name)),
        };
        let gone = || CallError::new(ErrorKind::NotFound, "is no longer there");
        if !self.servers_of(view, now).contains(&tool.server) {
            return Err(gone());
        }
        // A pin is about the definition, so it is the same one that is judged.
        let mut raw = (*tool.raw).clone();
        raw["name"] = json!(key);
        let offer = Offered { server: tool.server.clone(), key: key.to_owned(), raw };
        let judged = self.judge_offers(view, now, kind, &[offer]);
        let judged = judged.map_err(|trouble| troubled(WHOSE, &trouble))?;
        judged.get(&tool.server, &tool.name).cloned().ok_or_else(gone)
    }
}

/// Whether a failure says that another server may be asked.
fn is_about_server(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::Cancelled | ErrorKind::Denied | ErrorKind::ApprovalDenied)
}
