//! What definitions tools are held to, for whoever decides about them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use kitbag_core::catalog::{Tool, all_findings};
use kitbag_core::{Fault, Limits, ServerName, ToolName, UserId};

use super::Kitbag;
use super::offered::{Gathered, Offered};
use crate::connect::ListKind;
use crate::pins::{PinStatus, PinnedTool, key};
use crate::roster::Now;
use crate::store::{Hash256, Pin, PinState, RowOwner, Store, StoreError};

impl Kitbag {
    /// Every tool that is listed or pinned, in order of server and name, with what its pin says. Prompts are among them,
    /// called `prompt:<name>`, of servers that run or whose prompts are pinned. Without a store nothing is pinned.
    pub async fn pinned_tools(&self) -> Result<Vec<PinnedTool>, StoreError> {
        let Definitions { now, tools, told_prompts } = self.definitions().await;
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
        let mut all: Vec<PinnedTool> = tools
            .into_iter()
            .map(|tool| {
                let pin = pins.remove(&(tool.server.clone(), tool.name.clone()));
                PinnedTool::new(status(pin.as_ref(), &tool), &tool.server, &tool.name, pin, Some(&tool))
            })
            .collect();
        // What is left is not listed now; lists of prompts are not remembered.
        all.extend(pins.into_iter().map(|((server, tool), pin)| {
            let is_gone = !tool.as_str().starts_with(PROMPT) || told_prompts.contains(&server);
            let status = if is_gone { PinStatus::Gone } else { unchanged(&pin) };
            PinnedTool::new(status, &server, &tool, Some(pin), None)
        }));
        all.sort_by(|a, b| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)));
        find(&mut all, &now.world.limits);
        Ok(all)
    }

    /// Approves tools and prompts as they are listed now, for whom this was opened; how many.
    pub async fn approve_definitions(&self, tools: &[(ServerName, ToolName)]) -> Result<usize, StoreError> {
        let Some(store) = &self.0.options.store else { return Ok(0) };
        let Definitions { now, tools: listed, .. } = self.definitions().await;
        let pins: Vec<Pin> = listed
            .iter()
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

    /// What servers list now, tools in order first.
    async fn definitions(&self) -> Definitions {
        let Gathered { now, lists, .. } = self.0.gather(&self.own_view(), ListKind::Prompts).await;
        // Those of the program itself are never pinned.
        let of_servers = now.snapshot.tools().filter(|tool| now.world.servers.contains_key(&tool.server));
        let mut tools: Vec<Arc<Tool>> = of_servers.cloned().collect();
        for (server, list) in &lists {
            let prompts = self.0.offered(&now, server, list).into_iter();
            let read = |prompt: Offered| Tool::of_prompt(server, &prompt.raw, &now.world.limits).ok();
            tools.extend(prompts.filter_map(read).map(Arc::new));
        }
        Definitions { tools, told_prompts: lists.into_iter().map(|(server, _)| server).collect(), now }
    }

    async fn reread_pins(&self, store: &dyn Store) {
        self.0.pins.read_from(store, self.user()).await;
        self.0.roster.tell_again();
    }
}

/// How the name of a prompt begins where it stands among those of tools.
const PROMPT: &str = "prompt:";

/// Everything that may be pinned.
struct Definitions {
    now: Arc<Now>,
    tools: Vec<Arc<Tool>>,
    /// The servers that told which prompts they have.
    told_prompts: Vec<ServerName>,
}

fn status(pin: Option<&Pin>, now: &Tool) -> PinStatus {
    match pin {
        None => PinStatus::New,
        Some(pin) if pin.hash.as_bytes() != &now.definition_hash() => PinStatus::Changed,
        Some(pin) => unchanged(pin),
    }
}

fn unchanged(pin: &Pin) -> PinStatus {
    if pin.state == PinState::Seen { PinStatus::Seen } else { PinStatus::Approved }
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
    fn new(
        status: PinStatus,
        server: &ServerName,
        tool: &ToolName,
        pin: Option<Pin>,
        now: Option<&Arc<Tool>>,
    ) -> Self {
        let (server, tool, now) = (server.clone(), tool.clone(), now.cloned());
        Self { server, tool, status, pin, now, pinned_findings: Vec::new(), findings: Vec::new() }
    }

    /// The tool as its pin has it; nothing where that cannot be read.
    fn pinned(&self, limits: &Limits) -> Option<Arc<Tool>> {
        if let (PinStatus::Seen | PinStatus::Approved, Some(now)) = (self.status, &self.now) {
            return Some(now.clone());
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
