//! What a handle really runs and shows, held against the model and against a fresh start.

use std::collections::{BTreeMap, BTreeSet};

use kitbag::{AgentRules, ErrorKind, Kitbag, ServerName, View};
use serde_json::{Value, json};

use super::super::farm::{Opens as _, Use as _, said};
use super::LONG;
use super::files::VALUES;
use super::model::{AGENTS, Process, Seen, TOOLS};
use super::scene::{SERVERS, Scene, State, elsewhere};

/// What can be seen of a handle from outside.
#[derive(Debug, PartialEq)]
struct Portrait {
    /// The values that the process of each server has; none for one that cannot run.
    servers: BTreeMap<String, Option<BTreeMap<String, String>>>,
    /// The names each known agent sees of servers that run, and those seen without one.
    views: BTreeMap<Option<&'static str>, BTreeSet<String>>,
}

impl Portrait {
    fn expected(seen: &Seen) -> Self {
        let owned = |process: Process| {
            process.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let running = seen.running().into_iter();
        Self {
            servers: running.map(|(server, running)| (server, running.process.map(owned))).collect(),
            views: seen.agents().into_iter().map(|agent| (agent, seen.names(agent))).collect(),
        }
    }

    async fn of(kit: &Kitbag) -> Self {
        let mut servers = BTreeMap::new();
        for server in SERVERS {
            let Some(link) = kit.link(&ServerName::parse(server).unwrap()) else { continue };
            let values = match link.status().state.is_connected() {
                true => Some(values(&ask(kit, server, "env", &json!({"names": VALUES})).await)),
                false => None,
            };
            servers.insert(server.to_owned(), values);
        }
        let agents = AGENTS.into_iter().filter_map(|name| Some((Some(name), kit.agent(name).ok()?)));
        let views = [(None, AgentRules::default())].into_iter().chain(agents).map(|(name, rules)| {
            let view = kit.view(kit.user(), &rules).unwrap();
            (name, shown(&view, |server| servers.get(server).is_some_and(Option::is_some)))
        });
        let views = views.collect();
        Self { servers, views }
    }
}

fn is_looked_at(tool: &str) -> bool {
    TOOLS.contains(&tool) || tool.starts_with("extra_")
}

/// The names of the tools that are looked at, of these servers.
fn shown(view: &View, of: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let tools = view.tools().iter();
    let tools =
        tools.filter(|shown| of(shown.tool.server.as_str()) && is_looked_at(shown.tool.name.as_str()));
    tools.map(|shown| shown.name.to_string()).collect()
}

/// The values in what the tool `env` says.
pub(super) fn values(text: &str) -> BTreeMap<String, String> {
    let values: BTreeMap<String, Value> = serde_json::from_str(text).unwrap();
    values.into_iter().map(|(name, value)| (name, value.as_str().unwrap().to_owned())).collect()
}

/// Asks past every rule. A server that was killed may not be missed before the first call.
async fn ask(kit: &Kitbag, server: &str, tool: &str, arguments: &Value) -> String {
    let answered = async {
        loop {
            match kit.ask(server, tool, arguments.clone()).await {
                Ok(reply) => return said(&reply),
                Err(error) => {
                    let is_lost = matches!(error.kind, ErrorKind::OutcomeUnknown | ErrorKind::Unavailable);
                    assert!(is_lost, "{server}: {error:?}");
                }
            }
            tokio::task::yield_now().await;
        }
    };
    testkit::in_time(answered).await
}

impl Scene {
    /// What runs for a handle that has just read the files is what they say.
    pub(super) async fn judge(&mut self, who: usize) {
        let handle = &self.handles[who];
        let (kit, seen) = (&handle.kit, &handle.state.seen);
        kit.wait(LONG).await;
        let used: Vec<&str> = SERVERS
            .into_iter()
            .filter(|server| kit.link(&ServerName::parse(server).unwrap()).is_some())
            .collect();
        assert_eq!(used, seen.running().keys().collect::<Vec<_>>(), "{}'s servers", seen.user);
        // Whoever was killed is back when it has told its number.
        self.judge_processes(who).await;
        let State { seen, .. } = &self.handles[who].state;
        let found = Portrait::of(&self.handles[who].kit).await;
        assert_eq!(found, Portrait::expected(seen), "{}'s handle (left) and the files (right)", seen.user);
        self.judge_refusals(who).await;
    }

    /// What is shown before any new server has listed: under the rules of now, what the same servers listed
    /// earlier, or the ones in whose place they are.
    pub(super) fn judge_at_once(
        &self,
        kit: &Kitbag,
        before: &BTreeMap<String, BTreeSet<String>>,
        seen: &Seen,
    ) {
        for shown in kit.own_view().tools() {
            let (server, tool) = (shown.tool.server.as_str(), shown.tool.name.as_str());
            if SERVERS.contains(&server) && is_looked_at(tool) {
                let is_right = !seen.hides(None, server, tool)
                    && (seen.has(server, tool)
                        || before.get(server).is_some_and(|tools| tools.contains(tool)));
                assert!(is_right, "{} sees {server}/{tool}", seen.user);
            }
        }
    }

    /// Who shares a process, and that nothing was started again without need.
    async fn judge_processes(&mut self, who: usize) {
        let kit = self.handles[who].kit.clone();
        for process in self.handles[who].state.held().collect::<Vec<_>>() {
            let pid: u32 = ask(&kit, &process.server, "pid", &json!({})).await.parse().unwrap();
            let mut others = self.processes.iter().filter(|(other, _)| **other != process);
            let other = others.find(|(_, known)| **known == pid);
            assert!(other.is_none(), "one process serves {process:?} and {other:?}");
            let known = *self.processes.entry(process.clone()).or_insert(pid);
            assert_eq!(known, pid, "{process:?} was started again though nothing asked for it");
            self.killed.remove(&process);
        }
    }

    /// What no handle holds any more has ended.
    pub(super) fn judge_ended(&mut self) {
        let held: BTreeSet<Process> = self.handles.iter().flat_map(|handle| handle.state.held()).collect();
        self.killed.retain(|process| held.contains(process));
        self.processes.retain(|process, pid| {
            let is_held = held.contains(process);
            assert!(is_held || !testkit::proc::alive(*pid), "nobody uses {process:?}, and it lives");
            is_held
        });
    }

    /// What runs is what a fresh start from the same texts runs.
    pub(super) async fn judge_by_fresh_start(&self, who: usize) {
        let handle = &self.handles[who];
        let (farm, fresh) = elsewhere(&handle.state.seen).await;
        let (found, expected) = (Portrait::of(&handle.kit).await, Portrait::of(&fresh).await);
        assert_eq!(found, expected, "{}'s handle (left) and a fresh one (right)", handle.state.seen.user);
        farm.close(fresh).await;
    }
}
