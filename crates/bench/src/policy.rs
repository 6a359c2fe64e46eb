//! A whole Kitbag with ten thousand tools of real servers, all pinned and approved, under a hundred rules of fifty groups.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use kitbag::store::{MemoryStore, Store};
use kitbag::{DiscoverOptions, Env, Kitbag, Limits, OpenOptions, Setup};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::shape::View;
use kitbag_core::shape::policy::CallDecision;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// Servers, and groups.
const SERVERS: usize = 50;
const TOOLS: usize = 200;
const GROUPS: usize = 50;
/// Tools that are called in turns, spread over all of them.
const CALLED: usize = 100;

/// What is measured.
pub struct Ruled {
    kit: Kitbag,
    _home: TempDir,
    view: Arc<View>,
    names: Vec<String>,
    arguments: Map<String, Value>,
}

impl Ruled {
    /// Starts the servers, approves every definition, and makes only what is approved callable.
    pub async fn start(server: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let entry = |n| format!(r#""s{n}": {{"command": {server:?}, "args": ["--tools", "{TOOLS}"]}}"#);
        let entries: Vec<String> = (0..SERVERS).map(entry).collect();
        let config = home.path().join("config");
        std::fs::create_dir(&config).unwrap();
        let file = config.join("mcp.json");
        std::fs::write(file, format!("{{\"mcpServers\": {{{}}}}}", entries.join(","))).unwrap();
        std::fs::write(config.join("kitbag.toml"), settings()).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let vars = [("KITBAG_HOME".into(), home.path().into()), ("PATH".into(), path)];
        let env = Env::new(vars, home.path());
        // The files of that folder: a file that is named would be read alone, without the rules.
        let request = DiscoverOptions { env, ..DiscoverOptions::default() };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(&Limits::default()));
        let options = OpenOptions { store: Some(store), ..OpenOptions::default() };
        let kit = Kitbag::start(Setup::discover(&request).unwrap(), options);
        kit.wait_for_all(Duration::from_secs(60)).await;
        let tools = kit.pinned_tools().await.unwrap();
        // A few at a time: each is looked for among those that are listed.
        let tools: Vec<_> = tools.into_iter().map(|pinned| (pinned.server, pinned.tool)).collect();
        for some in tools.chunks(tools.len() / 10 + 1) {
            kit.approve_definitions(some).await.unwrap();
        }
        let view = kit.own_view();
        let free: Vec<_> = view.tools().iter().filter(|shown| shown.access.is_free()).collect();
        // Each group keeps one tool away and asks for another.
        assert!(SERVERS * TOOLS - 2 * GROUPS <= free.len(), "{} of {}", free.len(), tools.len());
        let denied = view.tools().iter().filter(|shown| shown.tool.name.as_str() == "add").count();
        assert!(denied == 0 && free.len() < view.tools().len(), "{denied} denied are shown");
        let names = free.iter().step_by(free.len() / CALLED).map(|shown| shown.name.to_string()).collect();
        Self { kit, _home: home, view, names, arguments: Map::new() }
    }

    /// The names of tools that are called in turns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str).cycle()
    }

    /// Looks a name up in a view that is held.
    pub fn find(&self, name: &str) {
        let found = self.view.find(black_box(name));
        assert!(matches!(black_box(found), NameMatch::One(_)));
    }

    /// As a call does: what the user may see by the rules and pins of this moment, the tool in it, and what becomes of
    /// the arguments.
    pub fn authorize(&self, name: &str) {
        let view = self.kit.own_view();
        let NameMatch::One(index) = view.find(black_box(name)) else { panic!("not found: {name}") };
        let access = &view.at(index).unwrap().access;
        assert_eq!(black_box(access.decide(&self.arguments)), CallDecision::Allow);
    }

    /// Ends the servers.
    pub async fn close(self) {
        self.kit.close().await;
    }
}

/// Two rules in each group, all of them about the one user, and no tool without a person's approval.
fn settings() -> String {
    let mut text = "[pins]\nmode = 'strict'\n".to_owned();
    let names: Vec<String> = (0..GROUPS).map(|n| format!("'g{n}'")).collect();
    text += &format!("[users.local]\ngroups = [{}]\n", names.join(", "));
    for n in 0..GROUPS {
        text += &format!("[groups.g{n}]\ndeny = ['s{n}/add']\napprove = ['s{n}/sleep']\n");
    }
    text
}
