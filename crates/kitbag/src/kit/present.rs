//! Showing a view to a model, and doing what the model then wants.

use std::sync::{Arc, PoisonError, Weak};

use kitbag_core::config::settings::Settings;
use kitbag_core::model::{AgentRules, Mode};
use kitbag_core::present::gateway::{self, Status};
use kitbag_core::present::native::Provider;
use kitbag_core::present::{Audience, Intent, Presentation, Scene, find};
use kitbag_core::shape::View;
use kitbag_core::text::Globs;
use kitbag_core::{ServerName, Transport};

use super::{Kitbag, State};
use crate::connect::{Link, LinkState};
use crate::execute::{Manner, Outcome, READ_RESULT, ToolCall};

/// Presentations that are kept: one for each agent and way it reads.
const KEPT: usize = 64;

/// A presentation, and what it was made from.
pub(super) struct Kept {
    view: Weak<View>,
    audience: Audience,
    shown: Arc<Presentation>,
}

impl Kitbag {
    /// Who reads what an agent sees, by what the files say: the agent's own way if it has one, else each
    /// server's, else the one for all.
    pub fn audience(&self, agent: &AgentRules, provider: Provider) -> Audience {
        let state = self.state();
        let settings = |of: fn(&Settings) -> Option<Mode>| {
            state.setup.settings.iter().rev().find_map(|(_, settings)| of(settings))
        };
        let own = agent.mode.filter(|mode| *mode != Mode::Auto);
        let general = settings(|settings| settings.mode).unwrap_or_default();
        let mut audience = Audience::new(provider, own.unwrap_or(general));
        if own.is_none() {
            let modes = state.setup.used().filter_map(|spec| Some((spec.name.clone(), spec.rules.mode?)));
            audience.servers = modes.collect();
        }
        audience.native.limits = self.around.limits.clone();
        audience.markdown.local = Some(self.local.clone());
        audience
    }

    /// What a model reads of a view. Nothing is made twice: the same view and audience give the same one.
    pub fn present(&self, view: &Arc<View>, audience: &Audience) -> Arc<Presentation> {
        let kept = || self.presentations.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same =
            |one: &&Kept| std::ptr::eq(one.view.as_ptr(), Arc::as_ptr(view)) && one.audience == *audience;
        if let Some(found) = kept().iter().find(is_same) {
            return found.shown.clone();
        }
        // Nobody waits meanwhile; of two that make the same at once, the first is kept.
        let shown = Arc::new(self.show(view, audience));
        let mut kept = kept();
        if let Some(found) = kept.iter().find(is_same) {
            return found.shown.clone();
        }
        kept.retain(|one| 0 < one.view.strong_count());
        if KEPT <= kept.len() {
            kept.remove(0);
        }
        kept.push(Kept { view: Arc::downgrade(view), audience: audience.clone(), shown: shown.clone() });
        shown
    }

    fn show(&self, view: &View, audience: &Audience) -> Presentation {
        let setup = self.setup();
        let filed = setup.catalog.iter().map(|part| &part.server);
        let known: Vec<&ServerName> = setup.used().map(|spec| &spec.name).chain(filed).collect();
        let declared = Declared::new(&known, view.agent());
        let servers = setup.used().filter(|spec| self.state().open.contains_key(&spec.name));
        let mut servers: Vec<gateway::Server<'_>> = servers
            .map(|spec| gateway::Server {
                name: &spec.name,
                transport: spec.transport(),
                description: spec.description.as_deref(),
            })
            .collect();
        servers.extend(setup.catalog.iter().map(|part| gateway::Server {
            name: &part.server,
            transport: Transport::Stdio,
            description: None,
        }));
        servers.retain(|server| declared.has(server.name));
        servers.sort_by_key(|server| declared.place(server.name));
        let unknown = declared.unknown.iter().map(String::as_str).collect();
        let scene = Scene { servers, unknown, local: Some(&self.local), reader: Some(READ_RESULT) };
        // What reads on in results is of no use where there are none.
        let is_idle = view.tools().iter().all(|shown| shown.name.as_str() == READ_RESULT);
        if is_idle && scene.servers.is_empty() {
            return Presentation::new(&View::empty(view.user()), audience, &scene);
        }
        Presentation::new(view, audience, &scene)
    }

    /// Does what a model wants. Every presentation ends here, and only here is anything done.
    pub async fn run(&self, view: &View, intent: &Intent, manner: Manner<'_>) -> Outcome {
        match intent {
            Intent::Say(text) => Outcome::Said(text.clone()),
            Intent::Malformed { repair } => Outcome::Malformed(repair.clone()),
            Intent::Find { query } => Outcome::Found(find(view, query)),
            Intent::ListTools { server, query, page } => {
                let link = self.links().into_iter().find(|link| link.name().as_str() == server);
                let fresh = self.warm(view, link.as_ref(), &manner).await;
                manner.say(|| Status::Listing { server: server.clone() });
                Outcome::Listed(gateway::list(&fresh, server, query.as_deref(), *page))
            }
            Intent::Call { tool, arguments, .. } => {
                let Some(link) = self.unlisted(view, tool) else {
                    return Outcome::Called(self.call_tool(view, ToolCall { tool, arguments, manner }).await);
                };
                let fresh = self.warm(view, Some(&link), &manner).await;
                self.call_learnt(&fresh, &link, tool, arguments, manner).await
            }
        }
    }

    /// Calls a tool by the name of its server and its own, now that the server's tools are known.
    async fn call_learnt(
        &self,
        view: &View,
        link: &Link,
        name: &str,
        arguments: &str,
        manner: Manner<'_>,
    ) -> Outcome {
        let server = link.name().as_str();
        let own = name.strip_prefix(server).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
        let is_known = view.snapshot().part(link.name()).is_some();
        let tool = match gateway::find(view, server, own) {
            Ok(shown) => shown.name.to_string(),
            Err(repair) if is_known => return Outcome::Malformed(repair),
            // Why it could not be learnt is told by whoever calls.
            Err(_) => name.to_owned(),
        };
        Outcome::Called(self.call_tool(view, ToolCall { tool: &tool, arguments, manner }).await)
    }

    /// The link to the server a name speaks of, if nobody knows its tools yet.
    fn unlisted(&self, view: &View, name: &str) -> Option<Link> {
        let is_unlisted = |server: &ServerName| view.snapshot().part(server).is_none();
        let speaks = |link: &Link| super::find::is_named(link.name(), name) && is_unlisted(link.name());
        self.links().into_iter().find(speaks)
    }

    /// What the same agent sees now, once the tools of this server are known or cannot be.
    async fn warm(&self, view: &View, link: Option<&Link>, manner: &Manner<'_>) -> Arc<View> {
        if let Some(link) = link.filter(|link| view.snapshot().part(link.name()).is_none()) {
            manner.say(|| Status::Connecting { server: link.name().to_string() });
            let clock = self.around.limits.wait_stdio.max(self.around.limits.wait_http);
            let known = async {
                link.settled().await;
                let mut tools = link.watch_tools();
                let _ = tools.wait_for(Option::is_some).await;
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
        self.view(view.user(), view.agent()).unwrap_or_else(|_| Arc::new(View::empty(view.user())))
    }
}

impl State {
    /// Why a server that is listed has no link.
    pub(super) fn why_none(&self, server: &ServerName) -> &'static str {
        let is_filed = self.setup.catalog.iter().any(|part| part.server == *server);
        if is_filed {
            "it comes from a file; no server runs behind it"
        } else {
            "its server is no longer in use"
        }
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
