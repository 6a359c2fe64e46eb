//! What definitions tools are held to, for whoever decides about them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use kitbag_core::catalog::{Tool, all_findings};
use kitbag_core::{Fault, Limits, ServerName, ToolName, UserId};

use super::Kitbag;
use crate::pins::{PinStatus, PinnedTool, key};
use crate::roster::Now;
use crate::store::{Hash256, Pin, PinState, RowOwner, Store, StoreError};

impl Kitbag {
    /// Every tool that is listed or pinned, in order of server and name, with what its pin says. Without a store nothing is
    /// pinned.
    pub async fn pinned_tools(&self) -> Result<Vec<PinnedTool>, StoreError> {
        let now = self.0.now();
        let mut pins: BTreeMap<(ServerName, ToolName), Pin> = BTreeMap::new();
        if let Some(store) = &self.0.options.store {
            let own = store.pins(&RowOwner::User(self.user().clone())).await?;
            for pin in store.pins(&RowOwner::Shared).await?.into_iter().chain(own) {
                // Of a server that is not used now its last pin is shown, whosever it was.
                let is_meant = now
                    .world
                    .servers
                    .get(&pin.key.server)
                    .is_none_or(|server| RowOwner::from(server.plan.owner.clone()) == pin.key.owner);
                if is_meant {
                    pins.insert((pin.key.server.clone(), pin.key.tool.clone()), pin);
                }
            }
        }
        let mut all: Vec<PinnedTool> = listed(&now)
            .map(|tool| {
                let pin = pins.remove(&(tool.server.clone(), tool.name.clone()));
                PinnedTool::new(tool.server.clone(), tool.name.clone(), pin, Some(tool.clone()))
            })
            .collect();
        // What is left is not listed now.
        all.extend(
            pins.into_iter().map(|((server, tool), pin)| PinnedTool::new(server, tool, Some(pin), None)),
        );
        all.sort_by(|a, b| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)));
        find(&mut all, &now.world.limits);
        Ok(all)
    }

    /// Approves tools as they are listed now, for whom this was opened; how many.
    pub async fn approve_definitions(&self, tools: &[(ServerName, ToolName)]) -> Result<usize, StoreError> {
        let Some(store) = &self.0.options.store else { return Ok(0) };
        let now = self.0.now();
        let pins: Vec<Pin> = listed(&now)
            .filter(|tool| tools.iter().any(|(server, name)| (server, name) == (&tool.server, &tool.name)))
            .map(|tool| approved(&now, tool, self.user()))
            .collect();
        store.put_pins(&pins).await?;
        self.reread_pins(&**store).await;
        Ok(pins.len())
    }

    /// Forgets what tools are held to; how many were.
    pub async fn forget_definitions(&self, tools: &[PinnedTool]) -> Result<usize, StoreError> {
        let Some(store) = &self.0.options.store else { return Ok(0) };
        let keys: Vec<_> = tools.iter().filter_map(|tool| Some(tool.pin.as_ref()?.key.clone())).collect();
        let count = store.remove_pins(&keys).await?;
        self.reread_pins(&**store).await;
        Ok(count)
    }

    async fn reread_pins(&self, store: &dyn Store) {
        self.0.pins.read_from(store, self.user()).await;
    }
}

/// The tools of servers; those of the program itself are never pinned.
fn listed(now: &Now) -> impl Iterator<Item = &Arc<Tool>> {
    now.snapshot.tools().filter(|tool| now.world.servers.contains_key(&tool.server))
}

fn approved(now: &Now, tool: &Tool, by: &UserId) -> Pin {
    let owner = now.world.servers.get(&tool.server).and_then(|server| server.plan.owner.as_ref());
    let at = SystemTime::now();
    Pin {
        key: key(owner, &tool.server, &tool.name),
        hash: Hash256::from_bytes(tool.definition_hash()),
        definition: tool.canonical_definition(),
        state: PinState::Approved { by: by.clone(), at },
        first_seen: at,
        last_seen: at,
    }
}

impl PinnedTool {
    fn new(server: ServerName, tool: ToolName, pin: Option<Pin>, now: Option<Arc<Tool>>) -> Self {
        let status = match (&pin, &now) {
            (None, _) => PinStatus::New,
            (Some(_), None) => PinStatus::Gone,
            (Some(pin), Some(now)) if pin.hash.as_bytes() != &now.definition_hash() => PinStatus::Changed,
            (Some(Pin { state: PinState::Seen, .. }), _) => PinStatus::Seen,
            (Some(_), _) => PinStatus::Approved,
        };
        Self { server, tool, status, pin, now, pinned_findings: Vec::new(), findings: Vec::new() }
    }

    /// The tool as its pin has it; nothing where that cannot be read.
    fn pinned(&self, limits: &Limits) -> Option<Arc<Tool>> {
        if matches!(self.status, PinStatus::Seen | PinStatus::Approved) {
            return self.now.clone();
        }
        let definition = serde_json::from_str(&self.pin.as_ref()?.definition).ok()?;
        Tool::parse(&self.server, definition, limits).ok().map(Arc::new)
    }
}

/// Looks at what the definitions say to a model, as they are pinned and as they are now.
fn find(all: &mut [PinnedTool], limits: &Limits) {
    let of = |tools: &[Option<Arc<Tool>>]| -> Vec<Vec<Fault>> {
        let known: Vec<&Tool> = tools.iter().flatten().map(|tool| &**tool).collect();
        let mut found = all_findings(&known).into_iter();
        tools.iter().map(|tool| tool.as_ref().and_then(|_| found.next()).unwrap_or_default()).collect()
    };
    let now: Vec<Option<Arc<Tool>>> = all.iter().map(|tool| tool.now.clone()).collect();
    let pinned: Vec<Option<Arc<Tool>>> = all.iter().map(|tool| tool.pinned(limits)).collect();
    for (tool, (pinned, now)) in all.iter_mut().zip(of(&pinned).into_iter().zip(of(&now))) {
        (tool.pinned_findings, tool.findings) = (pinned, now);
    }
}
