//! A house with fake servers in it: written into its registry, opened, watched through their diaries, and
//! found gone at the end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use kitbag::connect::{Call, CallError, Link, LinkState, Note, Reply};
use kitbag::execute::{Block, CallResult};
use kitbag::guard::Launcher;
use kitbag::shape::View;
use kitbag::{Env, Kitbag, Limits, Options, Request, ServerName, Setup};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::house::{BINARY, House};

/// Marks every process of one farm, guards too.
pub(super) const MARK: &str = "LIVE_FARM";

pub(crate) struct Farm {
    pub(crate) house: House,
    servers: RefCell<Map<String, Value>>,
}

/// Clocks that leave a busy machine time, and restarts and refreshes fifty times as fast.
pub(crate) fn calm() -> Limits {
    let fast = Limits::default().faster(50);
    let mut limits = Limits::default();
    limits.wait_agent = Duration::from_secs(30);
    limits.restart_first = fast.restart_first;
    limits.restart_most = fast.restart_most;
    limits.steady = fast.steady;
    limits.refresh = fast.refresh;
    limits
}

impl Farm {
    pub(crate) fn new() -> Self {
        Self { house: House::new(), servers: RefCell::default() }
    }

    /// A farm with one server.
    pub(crate) fn of(name: &str, args: &[&str]) -> Self {
        let farm = Self::new();
        farm.add(name, args);
        farm
    }

    /// Adds a fake server that keeps a diary.
    pub(crate) fn add(&self, name: &str, args: &[&str]) {
        self.add_with(name, args, &json!({}));
    }

    /// The same, with further keys in its entry.
    pub(crate) fn add_with(&self, name: &str, args: &[&str], keys: &Value) {
        self.enter(name, self.entry(name, args, keys));
    }

    /// The entry of a fake server that keeps this diary, for whichever file.
    pub(crate) fn entry(&self, name: &str, args: &[&str], keys: &Value) -> Value {
        let events = self.diary(name);
        let mut all = vec!["--events", events.to_str().unwrap()];
        all.extend(args);
        let mut entry = json!({"command": testkit::bin("fake-mcp"), "args": all, "env": {}});
        for (key, value) in keys.as_object().unwrap() {
            entry[key] = value.clone();
        }
        entry["env"][MARK] = self.house.at("").into();
        entry
    }

    /// Adds an entry as it is.
    pub(crate) fn enter(&self, name: &str, entry: Value) {
        self.servers.borrow_mut().insert(name.to_owned(), entry);
        self.write();
    }

    /// Takes a server out of the registry; its diary stays.
    pub(crate) fn remove(&self, name: &str) {
        self.servers.borrow_mut().shift_remove(name);
        self.write();
    }

    /// Adds a server with these definitions, which gives back and notes the params of every call.
    pub(crate) fn add_echo(&self, name: &str, definitions: &Value) {
        let file = self.house.put(&format!("{name}.tools.json"), definitions.to_string());
        self.add(name, &["--tools", file.to_str().unwrap()]);
    }

    /// Writes `kitbag.toml`.
    pub(crate) fn settings(&self, toml: &str) {
        self.house.put("kit/config/kitbag.toml", toml);
    }

    fn write(&self) {
        let text = json!({"mcpServers": &*self.servers.borrow()}).to_string();
        self.house.put("kit/config/mcp.json", text);
    }

    pub(crate) fn diary(&self, name: &str) -> PathBuf {
        self.house.path(&format!("{name}.events"))
    }

    /// The lines of a server's diary that begin with these words.
    pub(crate) fn events(&self, name: &str, words: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.diary(name)).unwrap_or_default();
        let fits = |line: &&str| {
            line.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        text.lines().filter(fits).map(str::to_owned).collect()
    }

    pub(crate) fn count(&self, name: &str, words: &str) -> usize {
        self.events(name, words).len()
    }

    /// The arguments of every call that a server noted, byte by byte.
    pub(crate) fn arrived(&self, name: &str) -> Vec<String> {
        let lines = self.events(name, "params");
        lines.iter().map(|line| member(line.strip_prefix("params ").unwrap(), "arguments")).collect()
    }

    pub(crate) fn setup(&self) -> Setup {
        Setup::discover(&Request { env: self.env(), ..Request::default() }).unwrap()
    }

    pub(crate) fn env(&self) -> Env {
        let vars = self.house.vars().into_iter().map(|(name, value)| (name.into(), value.into()));
        Env::new(vars, self.house.path("project"))
    }

    pub(crate) fn options(&self, limits: Limits) -> Options {
        Options { launcher: Some(Launcher::Other(BINARY.into())), limits: Some(limits), ..Options::default() }
    }

    /// Starts all servers and waits for none.
    pub(crate) fn start(&self, limits: Limits) -> Kitbag {
        Kitbag::start(self.setup(), self.options(limits))
    }

    /// Starts all servers and waits until each is connected or hopeless.
    pub(crate) async fn open(&self, limits: Limits) -> Kitbag {
        let kit = self.start(limits);
        kit.wait(Duration::from_secs(60)).await;
        kit
    }

    /// The same in a particular way.
    pub(crate) async fn open_with(&self, options: Options) -> Kitbag {
        let kit = Kitbag::start(self.setup(), options);
        kit.wait(Duration::from_secs(60)).await;
        kit
    }

    /// Ends all servers; nothing of them is left.
    pub(crate) async fn close(&self, kit: Kitbag) {
        let began = Instant::now();
        kit.close().await;
        assert!(began.elapsed() < Duration::from_secs(10), "closing took {:?}", began.elapsed());
        self.is_empty();
    }

    /// Every living process of this farm: by mark, and by diary for those that have no environment.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let mut pids = testkit::proc::with_env_marker(MARK, &self.house.at(""));
        for name in self.servers.borrow().keys() {
            let noted = self.events(name, "start").into_iter().chain(self.events(name, "child"));
            let noted = noted.filter_map(|line| line.split(' ').nth(1)?.parse().ok());
            pids.extend(noted.filter(|pid| testkit::proc::alive(*pid) && is_fake(*pid)));
        }
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    #[track_caller]
    pub(crate) fn is_empty(&self) {
        let gone = testkit::proc::wait_until(Duration::from_secs(5), || self.alive().is_empty());
        assert!(gone, "left behind: {:?}", self.alive().iter().map(|pid| words_of(*pid)).collect::<Vec<_>>());
    }

    /// The log file of a server.
    pub(crate) fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.house.path(&format!("kit/state/logs/{name}.log"))).unwrap_or_default()
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

/// What tests do with links.
pub(crate) trait Use {
    fn on(&self, name: &str) -> Link;
    async fn ask(&self, server: &str, tool: &str, arguments: Value) -> Result<Reply, CallError>;
    /// The same with arguments as text, which arrive as they are written.
    async fn ask_raw(&self, server: &str, tool: &str, arguments: &str) -> Result<Reply, CallError>;
    async fn noted(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        notes: mpsc::Sender<Note>,
    ) -> Result<Reply, CallError>;
    /// Waits until a link is in a state.
    async fn reaches(&self, server: &str, state: LinkState);
    /// The server still gives right answers, and is the one that was started first.
    async fn lives(&self, server: &str);
}

impl Use for Kitbag {
    #[track_caller]
    fn on(&self, name: &str) -> Link {
        let found = self.link(&ServerName::parse(name).unwrap());
        found.unwrap_or_else(|| panic!("no link {name}"))
    }

    async fn ask(&self, server: &str, tool: &str, arguments: Value) -> Result<Reply, CallError> {
        let arguments = raw(&arguments);
        let call = Call::new(tool, &arguments);
        self.send(&ServerName::parse(server).unwrap(), call).await
    }

    async fn ask_raw(&self, server: &str, tool: &str, arguments: &str) -> Result<Reply, CallError> {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        self.send(&ServerName::parse(server).unwrap(), Call::new(tool, &arguments)).await
    }

    async fn noted(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        notes: mpsc::Sender<Note>,
    ) -> Result<Reply, CallError> {
        let arguments = raw(&arguments);
        let call = Call { notes: Some(notes), ..Call::new(tool, &arguments) };
        self.send(&ServerName::parse(server).unwrap(), call).await
    }

    async fn reaches(&self, server: &str, state: LinkState) {
        let link = self.on(server);
        let reached = until(Duration::from_secs(30), || link.status().state == state).await;
        assert!(reached, "{server} is {:?}, not {state:?}", link.status());
    }

    async fn lives(&self, server: &str) {
        let reply = self.ask(server, "add", json!({"a": 2, "b": 3})).await;
        assert_eq!(said(&reply.unwrap()), "5", "{server}");
        assert_eq!(self.on(server).status().restarts, 0, "{server}");
    }
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

/// The text of a result.
pub(crate) fn said(reply: &Reply) -> String {
    let result: Value = serde_json::from_str(reply.result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// One member of a JSON object as it is written there.
#[track_caller]
pub(crate) fn member(object: &str, key: &str) -> String {
    let members: HashMap<String, Box<RawValue>> = serde_json::from_str(object).unwrap();
    members.get(key).map(|raw| raw.get().to_owned()).unwrap_or_else(|| panic!("no {key} in {object}"))
}

/// The text of a result's first block.
#[track_caller]
pub(crate) fn first(result: &CallResult) -> &str {
    let text = result.content.first().and_then(Block::as_text);
    text.unwrap_or_else(|| panic!("no text in {:?}", result.content))
}

/// The names a view lists.
pub(crate) fn names(view: &View) -> Vec<String> {
    view.tools().iter().map(|shown| shown.name.to_string()).collect()
}

/// Asks every few milliseconds until `done` says yes or the time is over; whether it said yes.
pub(crate) async fn until(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + within;
    loop {
        if done() {
            return true;
        }
        if end <= Instant::now() {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

/// Runs one test in a process of its own, where its memory and descriptors are nobody else's. Inside that
/// process it returns true, and the test goes on.
pub(crate) fn alone(test: &str) -> bool {
    const INSIDE: &str = "LIVE_ALONE";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    println!("{text}");
    false
}

/// The most memory this process ever held, in MiB.
pub(crate) fn peak_mib() -> u64 {
    testkit::proc::vm_hwm_kb(std::process::id()).unwrap() >> 10
}

/// The file with the recorded definitions of a real server.
pub(crate) fn corpus(server: &str) -> String {
    format!("{}/../../testdata/tools/{server}.json", env!("CARGO_MANIFEST_DIR"))
}
