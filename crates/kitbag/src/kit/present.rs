//! Showing a view to a model, and doing what the model then wants.

use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use kitbag_core::model::{Activity, AgentRules, Mode};
use kitbag_core::present::gateway;
use kitbag_core::present::native::Provider;
use kitbag_core::present::{AgentServers, Intent, ModelRequest, PresentOptions, Presentation, find};
use kitbag_core::shape::View;
use kitbag_core::text::Globs;
use kitbag_core::{Limits, ServerName, Transport};
use serde_json::Value;

use super::Kitbag;
use crate::connect::{Link, LinkState};
use crate::execute::{CallOptions, CallParts, IntentOutcome, READ_RESULT};
use crate::world::Server;

/// Presentations that are kept, as many as views: one for each agent and way it reads.
const KEPT: usize = 1_000;

/// A presentation, and what it was made from.
#[derive(Clone)]
struct Kept {
    view: Weak<View>,
    audience: PresentOptions,
    shown: Arc<Presentation>,
}

/// The presentations made so far. Whoever looks takes no lock.
#[derive(Default)]
pub(super) struct Presentations(ArcSwap<Vec<Kept>>);

impl Presentations {
    fn get(&self, view: &Arc<View>, audience: &PresentOptions) -> Option<Arc<Presentation>> {
        let kept = self.0.load();
        let is_same =
            |one: &&Kept| std::ptr::eq(one.view.as_ptr(), Arc::as_ptr(view)) && one.audience == *audience;
        kept.iter().find(is_same).map(|one| one.shown.clone())
    }

    fn keep(&self, new: &Kept) {
        self.0.rcu(|all| {
            let alive = all.iter().filter(|one| 0 < one.view.strong_count()).cloned();
            let mut all: Vec<Kept> = alive.collect();
            if KEPT <= all.len() {
                all.remove(0);
            }
            all.push(new.clone());
            all
        });
    }
}

impl Kitbag {
    /// Who reads what an agent sees, by what the files say: the agent's own way if it has one, else each
    /// server's, else the one for all.
    pub fn present_options(&self, agent: &AgentRules, provider: Provider) -> PresentOptions {
        let world = self.0.now().world.clone();
        let own = agent.mode.filter(|mode| *mode != Mode::Auto);
        let mut audience = PresentOptions::new(provider, own.unwrap_or(world.mode));
        if own.is_none() {
            let mode =
                |(name, server): (&ServerName, &Arc<Server>)| Some((name.clone(), server.spec().rules.mode?));
            audience.servers = world.servers.iter().filter_map(mode).collect();
        }
        audience.native.limits = Limits::clone(&world.limits);
        audience.markdown.local = Some(world.local.clone());
        audience
    }

    /// What a model reads of a view. The same view and options give the same presentation, made once, as long as no more
    /// than 1,000 others are in use at the same time.
    pub fn present(&self, view: &Arc<View>, audience: &PresentOptions) -> Arc<Presentation> {
        let kept = &self.0.presentations;
        if let Some(found) = kept.get(view, audience) {
            return found;
        }
        // Nobody waits meanwhile; of two that make the same at once, the first is kept.
        let shown = Arc::new(self.show(view, audience));
        if let Some(found) = kept.get(view, audience) {
            return found;
        }
        let new = Kept { view: Arc::downgrade(view), audience: audience.clone(), shown };
        kept.keep(&new);
        new.shown
    }

    fn show(&self, view: &View, audience: &PresentOptions) -> Presentation {
        let world = self.0.now().world.clone();
        let setup = &world.setup;
        let filed = setup.catalog.iter().map(|part| &part.server);
        let known: Vec<&ServerName> = setup.used().map(|spec| &spec.name).chain(filed).collect();
        let declared = Declared::new(&known, view.agent());
        let may_see = |name: &ServerName| world.policy.denies_server(view.user(), name).is_none();
        let mut servers: Vec<gateway::GatewayServer<'_>> = world
            .servers
            .values()
            .map(|server| server.spec())
            .filter(|spec| may_see(&spec.name) && spec.rules.closed.is_none())
            .map(|spec| gateway::GatewayServer {
                name: &spec.name,
                transport: spec.transport(),
                description: spec.description.as_deref(),
            })
            .collect();
        servers.extend(setup.catalog.iter().map(|part| gateway::GatewayServer {
            name: &part.server,
            transport: Transport::Stdio,
            description: None,
        }));
        servers.retain(|server| declared.has(server.name));
        servers.sort_by_key(|server| declared.place(server.name));
        let unknown = declared.unknown.iter().map(String::as_str).collect();
        let scene = AgentServers { servers, unknown, local: Some(&world.local), reader: Some(READ_RESULT) };
        // What reads on in results is of no use where there are none.
        let is_idle = view.tools().iter().all(|shown| shown.name.as_str() == READ_RESULT);
        if is_idle && scene.servers.is_empty() {
            return Presentation::new(&View::empty(view.user()), audience, &scene);
        }
        Presentation::new(view, audience, &scene)
    }

    /// Does what a model wants. Every presentation ends here, and only here is anything done.
    pub async fn run(&self, view: &View, intent: &Intent, options: &CallOptions) -> IntentOutcome {
        match intent {
            Intent::Say(text) => IntentOutcome::Said(text.clone()),
            Intent::Malformed { repair } => IntentOutcome::Malformed(repair.clone()),
            Intent::Delegate { server, .. } => IntentOutcome::Malformed(format!(
                "no model is at hand here that could work with the tools of {server}: agents have one"
            )),
            Intent::Find { query } => IntentOutcome::Found(find(view, query)),
            Intent::ListTools { server, query, page } => {
                let unlisted = view.unlisted().find(|name| name.as_str() == server);
                let link = unlisted.and_then(|name| self.link(name));
                let fresh = self.warm(view, link.as_ref(), options).await;
                options.say(|| Activity::Listing { server: server.clone() });
                IntentOutcome::Listed(gateway::list(&fresh, server, query.as_deref(), *page))
            }
            Intent::Call { tool, arguments, .. } => {
                let Some(link) = self.unlisted(view, tool) else {
                    return IntentOutcome::Called(
                        self.call_parts(view, CallParts { tool, arguments, options }).await,
                    );
                };
                let fresh = self.warm(view, Some(&link), options).await;
                self.call_learnt(&fresh, &link, tool, arguments, options).await
            }
        }
    }

    /// Does all that a model's reply asks for, side by side, and gives the messages that answer it, in the order of
    /// the reply and in the form of its provider: to be appended to the conversation after the reply. None when the
    /// model asked for nothing, so an agent's loop ends there.
    ///
    /// ```no_run
    /// use kitbag::{CallOptions, Kitbag, PresentOptions, Provider};
    /// use serde_json::{Value, json};
    ///
    /// # async fn ask_model(_: &Value, _: &[Value]) -> Value { Value::Null }
    /// # async fn example(kit: Kitbag) {
    /// let view = kit.own_view();
    /// let shown = kit.present(&view, &PresentOptions::native(Provider::OpenAiChat));
    /// let mut messages = vec![json!({"role": "user", "content": "What time is it?"})];
    /// loop {
    ///     let reply = ask_model(&shown.tools, &messages).await;
    ///     let answers = kit.run_all(&view, &shown, &reply, &CallOptions::default()).await;
    ///     messages.push(reply);
    ///     if answers.is_empty() {
    ///         break;
    ///     }
    ///     messages.extend(answers);
    /// }
    /// # }
    /// ```
    pub async fn run_all(
        &self,
        view: &View,
        shown: &Presentation,
        reply: &Value,
        options: &CallOptions,
    ) -> Vec<Value> {
        let requests = shown.decode(view, reply);
        let run =
            async |request: &ModelRequest| self.run(view, &request.intent, options).await.answer(request);
        let answers = futures_util::future::join_all(requests.iter().map(run)).await;
        shown.encode(&answers.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Calls a tool by the name of its server and its own, now that the server's tools are known.
    async fn call_learnt(
        &self,
        view: &View,
        link: &Link,
        name: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> IntentOutcome {
        let server = link.name().as_str();
        let own = name.strip_prefix(server).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
        let is_known = view.snapshot().part(link.name()).is_some();
        let tool = match gateway::find(view, server, own) {
            Ok(shown) => shown.name.to_string(),
            Err(repair) if is_known => return IntentOutcome::Malformed(repair),
            // Why it could not be learnt is told by whoever calls.
            Err(_) => name.to_owned(),
        };
        IntentOutcome::Called(self.call_parts(view, CallParts { tool: &tool, arguments, options }).await)
    }

    /// The link to the server a name speaks of, if nobody knows its tools yet.
    fn unlisted(&self, view: &View, name: &str) -> Option<Link> {
        let meant = view.unlisted().find(|server| super::find::is_named(server, name))?;
        self.link(meant)
    }

    /// What the same agent sees now, narrowed as before, once the tools of this server are known or cannot be.
    async fn warm(&self, view: &View, link: Option<&Link>, options: &CallOptions) -> Arc<View> {
        if let Some(link) = link.filter(|link| view.snapshot().part(link.name()).is_none()) {
            options.say(|| Activity::Connecting { server: link.name().to_string() });
            let limits = self.limits();
            let clock = limits.wait_stdio.max(limits.wait_http);
            let known = async {
                self.0.wait_for(&[link.name().clone()], clock).await;
                let mut tools = link.watch_tools();
                let _ = tools.wait_for(Option::is_some).await;
                self.0.wait_for(&[link.name().clone()], clock).await;
            };
            let hopeless = async {
                let mut status = link.watch_status();
                let _ = status
                    .wait_for(|status| matches!(status.state, LinkState::Failed | LinkState::Stopped))
                    .await;
            };
            tokio::select! {
                () = known => {}
                () = hopeless => {}
                () = tokio::time::sleep(clock) => {}
            }
        }
        self.0.fresh(view)
    }
}

/// The servers an agent names, in its order.
struct Declared {
    patterns: Vec<Globs>,
    /// Names that are no pattern and no server.
    unknown: Vec<String>,
}

impl Declared {
    fn new(known: &[&ServerName], agent: &AgentRules) -> Self {
        let is_name =
            |text: &&String| ServerName::parse(text).is_ok() && !text.contains(['*', '?', '[', '{']);
        let is_unknown = |text: &&String| known.iter().all(|name| name.as_str() != text.as_str());
        Self {
            patterns: agent
                .servers
                .iter()
                .filter_map(|text| Globs::new(std::slice::from_ref(text)).ok())
                .collect(),
            unknown: agent.servers.iter().filter(is_name).filter(is_unknown).cloned().collect(),
        }
    }

    fn has(&self, server: &ServerName) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.fit(server.as_str()))
    }

    fn place(&self, server: &ServerName) -> usize {
        self.patterns.iter().position(|pattern| pattern.fit(server.as_str())).unwrap_or(0)
    }
}
