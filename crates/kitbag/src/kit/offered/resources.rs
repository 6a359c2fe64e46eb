//! Resources and templates: what a view lists, and which server a URI belongs to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kitbag_core::names::NameForm;
use kitbag_core::shape::{View, ViewTool};
use kitbag_core::{ErrorKind, Fault, ServerName, ToolName};
use serde_json::Value;

use super::super::views::WHOSE;
use super::super::{Inner, Kitbag};
use super::rows::{Resource, ResourceTemplate, definition};
use super::{Gathered, Offered, uri};
use crate::connect::{ListKind, bad_uri};
use crate::execute::{CallError, Repair, troubled};
use crate::roster::Now;

/// The most servers an ambiguous URI is said to be of.
const MOST_NAMED: usize = 10;

impl Kitbag {
    /// The resources that whoever has this view may read, of all servers, and what is wrong with some of them. A server that
    /// is slow is waited for like an agent waits; it is in a later list.
    ///
    /// A URI is unique over servers: `kitbag+<server>:` stands before the one that the server wrote. A view of one server
    /// has the server's own URIs, and so has one whose tools have bare names, where no two servers list the same. Both kinds
    /// can be read in every view.
    pub async fn resources(&self, view: &View) -> (Vec<Resource>, Vec<Fault>) {
        let (rows, faults) = self.0.rows(view, ListKind::Resources, "uri").await;
        let resource = |Row { server, own, shown, definition }| Resource {
            uri: shown,
            server,
            own_uri: own,
            definition,
        };
        (rows.into_iter().map(resource).collect(), faults)
    }

    /// The templates of resources, like [`Self::resources`].
    pub async fn templates(&self, view: &View) -> (Vec<ResourceTemplate>, Vec<Fault>) {
        let (rows, faults) = self.0.rows(view, ListKind::Templates, "uriTemplate").await;
        let template = |Row { server, own, shown, definition }| ResourceTemplate {
            uri_template: shown,
            server,
            own_uri_template: own,
            definition,
        };
        (rows.into_iter().map(template).collect(), faults)
    }
}

/// A resource or template on its way into a list.
struct Row {
    server: ServerName,
    own: String,
    shown: String,
    definition: Value,
}

/// Whose resource a URI is.
pub(super) enum Whose {
    /// This server's, which calls it so.
    One(ServerName, String),
    /// Nobody lists it: one of these may have it, the likeliest first.
    MayBe(Vec<ServerName>),
}

impl Whose {
    /// The servers in the order they are asked, and the URI as they call it.
    pub(super) fn in_order(self, asked: &str) -> (Vec<ServerName>, String) {
        match self {
            Self::One(server, own) => (vec![server], own),
            Self::MayBe(servers) => (servers, asked.to_owned()),
        }
    }
}

/// What reading a URI needs to know.
pub(super) struct MeantResource {
    pub(super) now: Arc<Now>,
    /// As its server calls it.
    pub(super) uri: String,
    pub(super) shown: Arc<ViewTool>,
}

impl Inner {
    async fn rows(&self, view: &View, kind: ListKind, key: &str) -> (Vec<Row>, Vec<Fault>) {
        let Gathered { now, lists, mut faults } = self.gather(view, kind).await;
        let offers: Vec<Offered> =
            lists.iter().flat_map(|(server, list)| self.offered(&now, server, list)).collect();
        let judged = match self.judge_offers(view, &now, kind, &offers) {
            Ok(judged) => judged,
            Err(trouble) => {
                let fault = Fault::error(kitbag_core::FaultKind::RuleFailed, format!("{WHOSE} {trouble}"));
                faults.push(Fault { stage: kitbag_core::Stage::Shape, ..fault });
                return (Vec::new(), faults);
            }
        };
        faults.extend(judged.faults.iter().cloned());
        let visible: Vec<(&Offered, &Arc<ViewTool>)> = offers
            .iter()
            .filter_map(|offered| {
                let name = ToolName::of_resource(&offered.key);
                Some((offered, judged.get(&offered.server, &name)?))
            })
            .collect();
        let mut servers_of: HashMap<&str, HashSet<&ServerName>> = HashMap::new();
        for (offered, _) in &visible {
            servers_of.entry(&offered.key).or_default().insert(&offered.server);
        }
        let is_own = |own: &str| match own_uris(view, now.world.form) {
            OwnUris::Always => true,
            OwnUris::WhereOnlyOneHasIt => servers_of.get(own).is_some_and(|servers| servers.len() == 1),
            OwnUris::Never => false,
        };
        let row = |(offered, tool): &(&Offered, &Arc<ViewTool>)| {
            let own = offered.key.clone();
            let shown = if is_own(&own) { own.clone() } else { uri::unique(&offered.server, &own) };
            let definition = definition(offered, tool, key, &shown);
            Row { server: offered.server.clone(), own, shown, definition }
        };
        (visible.iter().map(row).collect(), faults)
    }

    /// The servers a URI may be of, and the URI as they call it.
    pub(super) async fn whose(&self, view: &View, asked: &str) -> Result<Whose, CallError> {
        let now = self.now();
        if let Some(why) = bad_uri(asked, now.world.limits.uri) {
            return Err(CallError::new(ErrorKind::InvalidArguments, format!("the URI {why}")));
        }
        let servers = self.servers_of(view, &now);
        if let Some((server, own)) = uri::read(asked, &servers) {
            return Ok(Whose::One(server.clone(), own.to_owned()));
        }
        let (resources, templates) =
            tokio::join!(self.gather(view, ListKind::Resources), self.gather(view, ListKind::Templates));
        let lists_it = |(_, list): &&(ServerName, Arc<crate::connect::ItemList>)| {
            list.items.iter().any(|item| item.key == asked)
        };
        let listed: Vec<ServerName> =
            resources.lists.iter().filter(lists_it).map(|(server, _)| server.clone()).collect();
        // A server whose resource is denied does not make that of another doubtful.
        let listed = self.those_that_may(view, &now, asked, listed)?;
        let linked = self.offered.links.servers(view.user(), asked);
        match listed.as_slice() {
            [] => {}
            [one] => return Ok(Whose::One(one.clone(), asked.to_owned())),
            several => match several.iter().find(|server| linked.as_slice() == [(*server).clone()]) {
                Some(one) => return Ok(Whose::One(one.clone(), asked.to_owned())),
                None => return Err(ambiguous(asked, several)),
            },
        }
        // It speaks of a server that is not there, or is not to be spoken of.
        if uri::is_unique(asked) {
            return Err(no_resource(asked));
        }
        let expands = |(_, list): &&(ServerName, Arc<crate::connect::ItemList>)| {
            list.items.iter().any(|item| uri::may_expand(&item.key, asked))
        };
        let expanding = templates.lists.iter().filter(expands).map(|(server, _)| server.clone());
        let others = servers.iter().filter(|server| {
            let opened = now.links.get(*server);
            opened.and_then(|opened| opened.link().features()).is_some_and(|features| features.resources)
        });
        let linked = linked.into_iter().filter(|server| servers.contains(server));
        let mut all: Vec<ServerName> = Vec::new();
        for server in linked.chain(expanding).chain(others.cloned()) {
            if !all.contains(&server) {
                all.push(server);
            }
        }
        let all = self.those_that_may(view, &now, asked, all)?;
        if all.is_empty() { Err(no_resource(asked)) } else { Ok(Whose::MayBe(all)) }
    }

    /// Those of some servers whose resource of this URI a view may have.
    fn those_that_may(
        &self,
        view: &View,
        now: &Arc<Now>,
        uri: &str,
        servers: Vec<ServerName>,
    ) -> Result<Vec<ServerName>, CallError> {
        if servers.is_empty() {
            return Ok(servers);
        }
        let bare = |server: &ServerName| Offered {
            server: server.clone(),
            key: uri.to_owned(),
            raw: Value::Object(serde_json::Map::new()),
        };
        let offers: Vec<Offered> = servers.iter().map(bare).collect();
        let judged = self.judge_offers(view, now, ListKind::Resources, &offers);
        let judged = judged.map_err(|trouble| troubled(WHOSE, &trouble))?;
        let name = ToolName::of_resource(uri);
        Ok(servers.into_iter().filter(|server| judged.get(server, &name).is_some()).collect())
    }

    /// A resource of a server as the rules of this moment have it, if the view may have it.
    pub(super) fn resource_now(
        &self,
        view: &View,
        server: &ServerName,
        own: &str,
    ) -> Result<MeantResource, CallError> {
        let now = self.now();
        if !self.servers_of(view, &now).contains(server) {
            return Err(no_resource(own));
        }
        let raw = Value::Object(serde_json::Map::new());
        let offer = Offered { server: server.clone(), key: own.to_owned(), raw };
        let judged = self.judge_offers(view, &now, ListKind::Resources, &[offer]);
        let judged = judged.map_err(|trouble| troubled(WHOSE, &trouble))?;
        let shown =
            judged.get(server, &ToolName::of_resource(own)).cloned().ok_or_else(|| no_resource(own))?;
        Ok(MeantResource { now, uri: own.to_owned(), shown })
    }
}

/// Whether a view has the URIs that servers wrote.
enum OwnUris {
    Always,
    WhereOnlyOneHasIt,
    Never,
}

fn own_uris(view: &View, form: NameForm) -> OwnUris {
    let is_literal = |pattern: &String| {
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                '*' | '?' | '[' | ']' | '{' | '}' | '!' => return false,
                _ => {}
            }
        }
        true
    };
    match view.agent().servers.as_slice() {
        [one] if is_literal(one) => OwnUris::Always,
        _ if view.agent().names.unwrap_or(form) == NameForm::Bare => OwnUris::WhereOnlyOneHasIt,
        _ => OwnUris::Never,
    }
}

pub(super) fn no_resource(uri: &str) -> CallError {
    let shown: String = kitbag_core::text::visible(uri).chars().take(300).collect();
    CallError::new(ErrorKind::NotFound, format!("no resource has the URI {shown:?}"))
}

fn ambiguous(asked: &str, servers: &[ServerName]) -> CallError {
    let names: Vec<String> =
        servers.iter().take(MOST_NAMED).map(|server| uri::unique(server, asked)).collect();
    let more = match servers.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("{asked:?} may mean any of {}{more}", names.join(", "));
    CallError::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names))
}
