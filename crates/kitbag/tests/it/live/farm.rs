//! Farms of fake servers as the library opens them, and what tests do with their links.

use std::time::Duration;

use kitbag::connect::{Link, RawCall, RawCallError, RawReply};
use kitbag::guard::Launcher;
use kitbag::{
    CallResult, ContentBlock, DiscoverOptions, Env, Kitbag, Limits, LinkState, Notification, OpenOptions,
    ServerName, Setup, View,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use testkit::{Farm, Hosted, in_time, until};
use tokio::sync::mpsc;

/// Clocks that leave a busy machine time, and restarts and refreshes fifty times as fast.
pub(crate) fn calm() -> Limits {
    let fast = Limits::default().faster(50);
    let mut limits = Limits::default();
    limits.wait_agent = Duration::from_secs(30);
    limits.restart_first = fast.restart_first;
    limits.restart_most = fast.restart_most;
    limits.steady = fast.steady;
    limits.refresh = fast.refresh;
    // Tests that cut every call want to see each of them cut.
    limits.breaker_failures = usize::MAX;
    limits
}

/// A farm opened in this process.
pub(crate) trait Opens {
    fn farm(&self) -> &Farm;

    /// Ends all links; of servers that are processes of ours nothing is left.
    async fn close(&self, kit: Kitbag);

    fn env(&self) -> Env {
        let house = &self.farm().house;
        let vars = house.vars().into_iter().map(|(name, value)| (name.into(), value.into()));
        Env::new(vars, house.path("project"))
    }

    fn setup(&self) -> Setup {
        Setup::discover(&DiscoverOptions { env: self.env(), ..DiscoverOptions::default() }).unwrap()
    }

    fn options(&self, limits: Limits) -> OpenOptions {
        let guard = Launcher::Other(env!("CARGO_BIN_EXE_kitbag-guard").into());
        OpenOptions { launcher: Some(guard), limits: Some(limits), ..OpenOptions::default() }
    }

    /// Starts all servers and waits for none.
    fn start(&self, limits: Limits) -> Kitbag {
        Kitbag::start(self.setup(), self.options(limits))
    }

    /// Starts all servers and waits until each is connected or hopeless.
    async fn open(&self, limits: Limits) -> Kitbag {
        self.open_with(self.options(limits)).await
    }

    /// The same in a particular way.
    async fn open_with(&self, options: OpenOptions) -> Kitbag {
        let kit = Kitbag::start(self.setup(), options);
        kit.wait(Duration::from_secs(60)).await;
        kit
    }
}

impl Opens for Farm {
    fn farm(&self) -> &Farm {
        self
    }

    async fn close(&self, kit: Kitbag) {
        in_time(kit.close()).await;
        self.is_empty();
    }
}

impl Opens for Hosted {
    fn farm(&self) -> &Farm {
        &self.farm
    }

    /// The servers live on.
    async fn close(&self, kit: Kitbag) {
        in_time(kit.close()).await;
    }
}

/// What tests do with links.
pub(crate) trait Use {
    fn on(&self, name: &str) -> Link;
    async fn ask(&self, server: &str, tool: &str, arguments: Value) -> Result<RawReply, RawCallError>;
    /// The same with arguments as text, which arrive as they are written.
    async fn ask_raw(&self, server: &str, tool: &str, arguments: &str) -> Result<RawReply, RawCallError>;
    async fn noted(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        notes: mpsc::Sender<Notification>,
    ) -> Result<RawReply, RawCallError>;
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

    async fn ask(&self, server: &str, tool: &str, arguments: Value) -> Result<RawReply, RawCallError> {
        let arguments = raw(&arguments);
        let call = RawCall::new(tool, &arguments);
        self.call_raw(&ServerName::parse(server).unwrap(), call).await
    }

    async fn ask_raw(&self, server: &str, tool: &str, arguments: &str) -> Result<RawReply, RawCallError> {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        self.call_raw(&ServerName::parse(server).unwrap(), RawCall::new(tool, &arguments)).await
    }

    async fn noted(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        notes: mpsc::Sender<Notification>,
    ) -> Result<RawReply, RawCallError> {
        let arguments = raw(&arguments);
        let call = RawCall { notifications: Some(notes), ..RawCall::new(tool, &arguments) };
        self.call_raw(&ServerName::parse(server).unwrap(), call).await
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
pub(crate) fn said(reply: &RawReply) -> String {
    let result: Value = serde_json::from_str(reply.result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// The text of a result's first block.
#[track_caller]
pub(crate) fn first(result: &CallResult) -> &str {
    let text = result.content.first().and_then(ContentBlock::as_text);
    text.unwrap_or_else(|| panic!("no text in {:?}", result.content))
}

/// The names a view lists.
pub(crate) fn names(view: &View) -> Vec<String> {
    view.tools().iter().map(|shown| shown.name.to_string()).collect()
}

/// The most memory this process ever held, in MiB.
pub(crate) fn peak_mib() -> u64 {
    testkit::proc::vm_hwm_kb(std::process::id()).unwrap() >> 10
}
