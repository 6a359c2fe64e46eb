//! A house with fake servers in it: written into its registry, watched through their diaries, and found gone at the
//! end.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::{House, bin, proc, wait_until};

/// A house and the servers in its registry.
#[derive(Debug)]
pub struct Farm {
    /// Where it stands.
    pub house: House,
    servers: RefCell<Map<String, Value>>,
}

impl Farm {
    /// The variable that marks every process of one farm, guards too.
    pub const MARK: &str = "LIVE_FARM";

    /// Without servers.
    #[expect(clippy::new_without_default, reason = "it makes folders")]
    pub fn new() -> Self {
        Self { house: House::new(), servers: RefCell::default() }
    }

    /// A farm with one server.
    pub fn of(name: &str, args: &[&str]) -> Self {
        let farm = Self::new();
        farm.add(name, args);
        farm
    }

    /// Adds a fake server that keeps a diary.
    pub fn add(&self, name: &str, args: &[&str]) {
        self.add_with(name, args, &json!({}));
    }

    /// The same, with further keys in its entry.
    pub fn add_with(&self, name: &str, args: &[&str], keys: &Value) {
        self.enter(name, self.entry(name, args, keys));
    }

    /// The entry of a fake server that keeps this diary, for whichever file.
    pub fn entry(&self, name: &str, args: &[&str], keys: &Value) -> Value {
        let events = self.diary(name);
        let mut all = vec!["--events", events.to_str().unwrap()];
        all.extend(args);
        let mut entry = json!({"command": bin("fake-mcp"), "args": all, "env": {}});
        for (key, value) in keys.as_object().unwrap() {
            entry[key] = value.clone();
        }
        entry["env"][Self::MARK] = self.house.at("").into();
        entry
    }

    /// Adds a fake server that starts only while a file is there.
    pub fn add_while(&self, name: &str, file: &std::path::Path) {
        let entry = self.entry(name, &[], &json!({}));
        let words =
            [entry["command"].clone()].into_iter().chain(entry["args"].as_array().unwrap().iter().cloned());
        let script = "test -e \"$0\" && exec \"$@\"".into();
        let args: Vec<Value> =
            ["-c".into(), script, file.to_str().unwrap().into()].into_iter().chain(words).collect();
        self.enter(name, json!({"command": "sh", "args": args, "env": entry["env"]}));
    }

    /// Adds an entry as it is.
    pub fn enter(&self, name: &str, entry: Value) {
        self.servers.borrow_mut().insert(name.to_owned(), entry);
        self.write();
    }

    /// Takes a server out of the registry; its diary stays.
    pub fn remove(&self, name: &str) {
        self.servers.borrow_mut().shift_remove(name);
        self.write();
    }

    /// Adds a server with these definitions, which gives back and notes the params of every call.
    pub fn add_echo(&self, name: &str, definitions: &Value) {
        let file = self.house.put(&format!("{name}.tools.json"), definitions.to_string());
        self.add(name, &["--tools", file.to_str().unwrap()]);
    }

    /// Writes `kitbag.toml`.
    pub fn settings(&self, toml: &str) {
        self.house.put("kit/config/kitbag.toml", toml);
    }

    fn write(&self) {
        let text = json!({"mcpServers": &*self.servers.borrow()}).to_string();
        self.house.put("kit/config/mcp.json", text);
    }

    /// The file a server writes down what happens to it.
    pub fn diary(&self, name: &str) -> PathBuf {
        self.house.path(&format!("{name}.events"))
    }

    /// The lines of a server's diary that begin with these words.
    pub fn events(&self, name: &str, words: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.diary(name)).unwrap_or_default();
        let fits = |line: &&str| {
            line.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        text.lines().filter(fits).map(str::to_owned).collect()
    }

    /// How many of them there are.
    pub fn count(&self, name: &str, words: &str) -> usize {
        self.events(name, words).len()
    }

    /// The arguments of every call that a server noted, byte by byte.
    pub fn arrived(&self, name: &str) -> Vec<String> {
        let lines = self.events(name, "params");
        lines.iter().map(|line| member(line.strip_prefix("params ").unwrap(), "arguments")).collect()
    }

    /// The log file of a server, without the times its lines begin with.
    pub fn log(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.house.path(&format!("kit/state/logs/{name}.log")));
        let text = text.unwrap_or_default();
        text.split_inclusive('\n').map(|line| line.split_once(' ').map_or(line, |(_, rest)| rest)).collect()
    }

    /// Every living process of this farm: by mark, and by diary for those that have no environment.
    pub fn alive(&self) -> Vec<u32> {
        let mut pids = proc::with_env_marker(Self::MARK, &self.house.at(""));
        for name in self.servers.borrow().keys() {
            let noted = self.events(name, "start").into_iter().chain(self.events(name, "child"));
            let noted = noted.filter_map(|line| line.split(' ').nth(1)?.parse().ok());
            pids.extend(noted.filter(|pid| proc::alive(*pid) && is_fake(*pid)));
        }
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// Nothing of its servers is left.
    ///
    /// # Panics
    /// If a process lives on.
    #[track_caller]
    pub fn is_empty(&self) {
        let gone = wait_until(Duration::from_secs(5), || self.alive().is_empty());
        assert!(gone, "left behind: {:?}", self.alive().iter().map(|pid| words_of(*pid)).collect::<Vec<_>>());
    }
}

/// A number may belong to somebody else by now.
fn is_fake(pid: u32) -> bool {
    words_of(pid).contains("fake-mcp")
}

fn words_of(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    format!("{pid}: {}", String::from_utf8_lossy(&line).replace('\0', " "))
}

/// One member of a JSON object as it is written there.
///
/// # Panics
/// If there is none.
#[track_caller]
pub fn member(object: &str, key: &str) -> String {
    let members: HashMap<String, Box<RawValue>> = serde_json::from_str(object).unwrap();
    members.get(key).map(|raw| raw.get().to_owned()).unwrap_or_else(|| panic!("no {key} in {object}"))
}
