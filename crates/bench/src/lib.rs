//! The clients that are measured side by side: each makes the same call of the same tool of the same kind of server,
//! started under the same guard.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::process::Stdio;
use std::time::Duration;

use kitbag::Kitbag;
use kitbag::connect::{Link, RawCall};
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use serde_json::value::RawValue;

pub mod policy;
pub mod serve;

#[path = "../../kitbag/examples/open/kit.rs"]
mod open;
#[path = "../../kitbag/examples/open/raw.rs"]
mod raw;

use raw::{ARGUMENTS, Raw, guarded};

/// Calls of one measurement.
pub const CALLS: usize = raw::CALLS;
/// Calls in flight at once where the rate is measured.
pub const IN_FLIGHT: usize = raw::IN_FLIGHT;

/// How long calls of the bare blocking client take, one after the other.
pub fn bare_latencies(server: &str) -> Vec<Duration> {
    raw::latencies(&mut Raw::start(guarded(server)))
}

/// How many calls a second the bare client makes.
pub fn bare_rate(server: &str) -> f64 {
    Raw::start(guarded(server)).pipelined()
}

/// Makes one call and waits for its result.
pub trait Client: Send + Sync + 'static {
    /// The call.
    fn call(&self) -> impl Future<Output = ()> + Send;
}

/// A link, below everything else.
pub struct OnLink(Link, Box<RawValue>);

impl Client for OnLink {
    async fn call(&self) {
        let reply = self.0.call(RawCall::new("echo", &self.1)).await.unwrap();
        assert!(!reply.result.get().is_empty());
    }
}

/// `Kitbag::call`: resolved, authorized, validated, sent, converted, recorded.
pub struct Whole(Kitbag);

impl Client for Whole {
    async fn call(&self) {
        let result = self.0.call("mcp_fake_echo", ARGUMENTS).await.unwrap();
        assert_eq!(result.content.len(), 1);
    }
}

/// The client of the official SDK.
pub struct Official(RunningService<RoleClient, ()>, JsonObject);

impl Client for Official {
    async fn call(&self) {
        let call = CallToolRequestParams::new("echo").with_arguments(self.1.clone());
        let result = self.0.call_tool(call).await.unwrap();
        assert_eq!(result.content.len(), 1);
    }
}

/// Something measured on a link.
pub async fn on_link<T>(server: &str, work: impl AsyncFnOnce(OnLink) -> T) -> T {
    with_kit(server, async |kit| {
        let link = kit.links().into_iter().next().unwrap();
        work(OnLink(link, RawValue::from_string(ARGUMENTS.to_owned()).unwrap())).await
    })
    .await
}

/// Something measured on a whole Kitbag.
pub async fn on_whole<T>(server: &str, work: impl AsyncFnOnce(Whole) -> T) -> T {
    with_kit(server, async |kit| work(Whole(kit)).await).await
}

async fn with_kit<T>(server: &str, work: impl AsyncFnOnce(Kitbag) -> T) -> T {
    let (kit, _home) = open::start(&format!(r#""fake": {{"command": {server:?}, "concurrency": 64}}"#));
    kit.wait_for_all(Duration::from_secs(60)).await;
    let done = work(kit.clone()).await;
    kit.close().await;
    done
}

/// Something measured on the official client, over pipes to a server under the same guard.
pub async fn on_official<T>(server: &str, work: impl AsyncFnOnce(Official) -> T) -> T {
    let mut command = tokio::process::Command::from(guarded(server));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(pipes).await.unwrap();
    work(Official(client, serde_json::from_str(ARGUMENTS).unwrap())).await
}
