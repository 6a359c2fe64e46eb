//! What servers offer beside tools: resources, templates of resources, prompts. Rules, permits and pins look at each as at
//! a tool called `resource:<uri>` or `prompt:<name>`, so what is denied is not listed, not read and not spoken of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kitbag_core::catalog::{Rejected, ServerTools, Snapshot, Tool};
use kitbag_core::model::{Effect, Risk, TrifectaPolicy};
use kitbag_core::shape::policy::{RuleSet, ToolAccess};
use kitbag_core::shape::{Permissions, ToolRefusal, View, ViewRequest, ViewTool};
use kitbag_core::text::Globs;
use kitbag_core::{ErrorKind, Fault, FaultKind, ServerName, Stage, ToolName};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{Inner, Kitbag};
use crate::code::Trouble;
use crate::connect::{ItemList, Items, ListKind};
use crate::pins::PinVerdict;
use crate::roster::Now;
use crate::world::{Permits, Within};

mod complete;
mod links;
mod prompts;
mod read;
mod resources;
mod result;
mod rows;
mod subscribe;
mod uri;

pub use complete::CompletionReference;
pub(in crate::kit) use links::Links;
pub(in crate::kit) use prompts::PromptNames;
pub use result::{PromptMessage, ResourceContents, ServerResult};
pub use rows::{Prompt, PromptArgument, Resource, ResourceTemplate};
pub use subscribe::ResourceUpdates;
pub use uri::unique as unique_uri;

/// What a handle remembers of prompts and resources.
#[derive(Default)]
pub(super) struct OfferedState {
    pub(super) prompt_names: Mutex<PromptNames>,
    pub(super) links: Links,
}

/// The lists of one kind, of every server a view may know of.
pub(super) struct Gathered {
    pub(super) now: Arc<Now>,
    pub(super) lists: Vec<(ServerName, Arc<ItemList>)>,
    pub(super) faults: Vec<Fault>,
}

/// One thing that is offered, as a server lists it.
#[derive(Clone)]
pub(super) struct Offered {
    pub(super) server: ServerName,
    /// Its URI, template or name.
    pub(super) key: String,
    /// Its definition, without the secrets of its server.
    pub(super) raw: Value,
}

/// What a view may have of some things that are offered.
pub(super) struct JudgedOffers {
    shown: HashMap<(ServerName, ToolName), Arc<ViewTool>>,
    /// Those that wait for a person's approval, and why.
    pub(super) held: Vec<(ServerName, String, String)>,
    pub(super) faults: Vec<Fault>,
}

impl JudgedOffers {
    pub(super) fn get(&self, server: &ServerName, name: &ToolName) -> Option<&Arc<ViewTool>> {
        self.shown.get(&(server.clone(), name.clone()))
    }
}

impl Kitbag {
    /// Tells when what servers offer beside tools may be another.
    pub fn watch_offered(&self) -> tokio::sync::watch::Receiver<u64> {
        self.0.roster.watch_offered()
    }
}

impl Inner {
    /// Asks every server that a view may know of for a list, all at once, and waits no longer than an agent does.
    pub(super) async fn gather(&self, view: &View, kind: ListKind) -> Gathered {
        self.pins.is_read().await;
        let now = self.now();
        let servers = self.servers_of(view, &now);
        let until = Instant::now() + now.world.limits.wait_agent;
        let links = servers.iter().filter_map(|server| {
            let opened = now.links.get(server)?;
            // One that starts on first need is not needed for this.
            (opened.state() != crate::connect::LinkState::Idle).then(|| opened.link().clone())
        });
        let asked = links.map(|link| async move { (link.name().clone(), link.items(kind, until).await) });
        let answers: Vec<(ServerName, Items)> = futures_util::future::join_all(asked).await;
        let (mut lists, mut faults) = (Vec::new(), Vec::new());
        for (server, Items { list, problem }) in answers {
            if let Some(problem) = problem {
                let is_away = matches!(
                    problem.kind,
                    ErrorKind::Unavailable | ErrorKind::AuthRequired | ErrorKind::RateLimited
                );
                let kind = if is_away { FaultKind::Unavailable } else { FaultKind::ListFailed };
                let fault = Fault::error(kind, problem.message).of(&server);
                faults.push(Fault { stage: Stage::Catalog, ..fault });
            }
            let Some(list) = list else { continue };
            faults.extend(about(&server, &list, kind));
            lists.push((server, list));
        }
        Gathered { now, lists, faults }
    }

    /// The servers whose prompts and resources a view may know of.
    pub(super) fn servers_of(&self, view: &View, now: &Now) -> Vec<ServerName> {
        let (world, agent, user) = (&now.world, view.agent(), view.user());
        if agent.closed.is_some() {
            return Vec::new();
        }
        let Ok(globs) = Globs::new(&agent.servers) else { return Vec::new() };
        // What cannot be read among the rules restricts already.
        let (rules, _) = RuleSet::of_agent(agent);
        let within = Within::of(world, agent);
        let is_visible = |server: &&ServerName| {
            (globs.is_empty() || globs.fit(server.as_str()))
                && rules.may_show(server)
                && world.policy.denies_server(user, server).is_none()
                && within.as_ref().is_none_or(|within| within.denies_server(server).is_none())
        };
        now.links.keys().filter(is_visible).cloned().collect()
    }

    /// What a server offers, read within the limits and without its secrets.
    pub(super) fn offered(&self, now: &Now, server: &ServerName, list: &ItemList) -> Vec<Offered> {
        let redactor = now.world.servers.get(server).map(|server| server.plan.redactor().clone());
        let redactor = redactor.unwrap_or_default();
        let read = |raw: &RawValue| {
            let text = crate::roster::without_secrets(raw.get(), &redactor);
            serde_json::from_str::<Value>(&text).ok().filter(Value::is_object)
        };
        let offered = list.items.iter().filter_map(|item| {
            Some(Offered { server: server.clone(), key: item.key.clone(), raw: read(&item.raw)? })
        });
        offered.collect()
    }

    /// What the user and agent of a view may have of these, by what is true now.
    pub(super) fn judge_offers(
        &self,
        view: &View,
        now: &Arc<Now>,
        kind: ListKind,
        offers: &[Offered],
    ) -> Result<JudgedOffers, Trouble> {
        let limits = &now.world.limits;
        let mut parts: HashMap<&ServerName, ServerTools> = HashMap::new();
        for Offered { server, key, raw } in offers {
            let part = parts.entry(server).or_insert_with(|| ServerTools::parse(server, [], limits));
            let tool = match kind {
                ListKind::Prompts => Tool::of_prompt(server, raw, limits),
                ListKind::Resources | ListKind::Templates => Tool::of_resource(server, key, raw, limits),
            };
            match tool {
                Ok(tool) => part.tools.push(Arc::new(tool)),
                Err(rejected) => part.rejected.push(rejected),
            }
        }
        let rejected = parts
            .values()
            .flat_map(|part| part.rejected.iter().map(|rejected| left_out(&part.server, rejected)));
        let faults: Vec<Fault> = rejected.collect();
        for part in parts.values_mut() {
            part.tools.sort_by(|a, b| a.name.cmp(&b.name));
            part.tools.dedup_by(|a, b| a.name == b.name);
            part.rejected.clear();
        }
        let snapshot = Arc::new(Snapshot::default().with_all(parts.into_values()));
        let made = self.view_of_offers(view, now, &snapshot)?;
        let held = made.left_out().iter().filter_map(|hidden| {
            Some((hidden.server.clone(), hidden.tool.clone(), hidden.held_because()?.to_owned()))
        });
        let held = held.collect();
        let all = made.tools().iter().chain(made.shadowed()).filter(|shown| view.keeps(shown));
        let key = |shown: &Arc<ViewTool>| (shown.tool.server.clone(), shown.tool.name.clone());
        let shown = all.map(|shown| (key(shown), shown.clone())).collect();
        Ok(JudgedOffers { shown, held, faults })
    }

    /// Makes a view: where rules or permits of the program take part, on a thread that may hang.
    fn view_of_offers(&self, view: &View, now: &Arc<Now>, snapshot: &Arc<Snapshot>) -> Result<View, Trouble> {
        let is_ours = self.options.permit.is_none() && self.options.rules.is_empty();
        let Some(kit) = self.me.upgrade().filter(|_| !is_ours) else {
            return Ok(self.make_view_of_offers(view.user(), view.agent(), now, snapshot));
        };
        let limits = now.world.limits.clone();
        let (user, agent, now, snapshot) =
            (view.user().clone(), view.agent().clone(), now.clone(), snapshot.clone());
        self.threads.run_now(&limits, move || kit.make_view_of_offers(&user, &agent, &now, &snapshot))
    }

    fn make_view_of_offers(
        &self,
        user: &kitbag_core::UserId,
        agent: &kitbag_core::model::AgentRules,
        now: &Now,
        snapshot: &Arc<Snapshot>,
    ) -> View {
        let world = &now.world;
        let within = Within::of(world, agent);
        let permits =
            Permits { world, user, within: within.as_ref(), pins: &self.pins, permit: &*self.permit };
        let made = View::new(&ViewRequest {
            snapshot,
            shapers: &**world,
            rules: &self.options.rules,
            agent,
            form: kitbag_core::names::NameForm::Full,
            user,
            permissions: &OfferPermits(permits),
            local: None,
            denied: None,
            visible: &|_| true,
            servers: &[],
            before: None,
            same_rules: &|_| false,
        });
        // Only names of local tools can clash, and there are none.
        made.unwrap_or_else(|_| View::empty(user))
    }
}

/// The permissions of tools, for what is no tool: a text of a prompt is pinned, and a resource changes as it likes. What
/// tools could do together is judged where they are.
struct OfferPermits<'a>(Permits<'a>);

impl Permissions for OfferPermits<'_> {
    fn access(&self, tool: &Tool) -> Result<ToolAccess, ToolRefusal> {
        let mut judged = tool.clone();
        judged.marks.risk = self.risk(tool);
        let access = self.0.permitted(&judged).map_err(ToolRefusal::Denied)?;
        if !tool.name.as_str().starts_with("prompt:") {
            return Ok(access);
        }
        match self.0.pinned(tool) {
            PinVerdict::Held(why) => Err(ToolRefusal::Held(why)),
            PinVerdict::Free | PinVerdict::Approved => Ok(access),
        }
    }

    /// The operator's word, else what the protocol calls it.
    fn risk(&self, tool: &Tool) -> Risk {
        tool.marks.risk.or(Risk { effect: Some(Effect::Read), open: None })
    }

    fn trifecta(&self) -> TrifectaPolicy {
        TrifectaPolicy::default()
    }
}

/// What is wrong with a list.
fn about(server: &ServerName, list: &ItemList, kind: ListKind) -> Vec<Fault> {
    let cut = list.truncated.as_ref().map(|cut| {
        let message = format!("{} was not read to its end: {}", kind.method(), cut.why);
        let fault = Fault::warning(FaultKind::ListCut, message).of(server);
        let row = cut.limit.map(|limit| format!("[limits] {limit} in kitbag.toml"));
        Fault { stage: Stage::Catalog, hint: row, ..fault }
    });
    let rejected = list.rejected.iter().map(|rejected| left_out(server, rejected));
    let more = (0 < list.rejected_more).then(|| {
        let message = format!("{} more entries of {} were left out", list.rejected_more, kind.method());
        Fault { stage: Stage::Catalog, ..Fault::warning(FaultKind::OddDefinition, message).of(server) }
    });
    cut.into_iter().chain(rejected).chain(more).collect()
}

fn left_out(server: &ServerName, rejected: &Rejected) -> Fault {
    let what = rejected.tool.as_deref().unwrap_or("an entry without a name");
    let message = format!("{what} is left out: {}", rejected.why);
    Fault { stage: Stage::Catalog, ..Fault::warning(FaultKind::OddDefinition, message).of(server) }
}
