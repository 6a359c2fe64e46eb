//! How much memory a call holds at most, by the allocator's own count. A binary of its own: nobody else may allocate
//! meanwhile.
#![expect(clippy::unwrap_used, reason = "tests stop at the first surprise")]

use std::path::Path;
use std::time::Duration;

use kitbag::guard::Launcher;
use kitbag::{CallOptions, Env, Kitbag, OpenOptions, ResultSize, ServerName, ServerSpec, Setup, ToolCall};
use peak_alloc::PeakAlloc;
use testkit::House;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MB: usize = 1_000_000;
/// What comes of a server.
const RECEIVED: usize = 10 * MB;
/// What may be held meanwhile.
const MOST: usize = 4 * RECEIVED + 8 * MB;

/// A server that answers with as much as it is asked for, and whoever calls it.
struct Scene {
    kit: Kitbag,
    /// Keeps what is kept of results until the end.
    _house: House,
}

impl Scene {
    async fn open(spec: impl FnOnce(ServerName) -> ServerSpec) -> Self {
        let house = House::new();
        let vars = house.vars().into_iter().map(|(name, value)| (name.into(), value.into()));
        let env = Env::new(vars, house.path("project"));
        let spec = spec(ServerName::parse("x").unwrap());
        let launcher = Some(Launcher::Other(Path::new(env!("CARGO_BIN_EXE_kitbag-guard")).to_owned()));
        let options = OpenOptions { launcher, ..OpenOptions::default() };
        let kit = Kitbag::start(Setup::from_specs(env, vec![spec]), options);
        kit.wait(Duration::from_secs(60)).await;
        // Schemas are compiled once.
        call(&kit, "text", 1_000, ResultSize::Bounded).await;
        Self { kit, _house: house }
    }

    /// Everything a call may go through, measured.
    async fn measure(&self, kind: &str, size: ResultSize, through: &str) -> usize {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let result = call(&self.kit, kind, RECEIVED, size).await;
        let model = result.for_model();
        drop(result);
        drop(model);
        let most = MEMORY.peak_usage() - before;
        println!("{through} {kind} {size:?}: {:.1} MB", most as f64 / MB as f64);
        most
    }
}

async fn call(kit: &Kitbag, kind: &str, bytes: usize, size: ResultSize) -> kitbag::CallResult {
    let arguments = format!(r#"{{"kind":"{kind}","size":{bytes}}}"#);
    let options = CallOptions { size, ..CallOptions::default() };
    let call = ToolCall { options, ..ToolCall::new("mcp_x_bulk", arguments.as_str()) };
    kit.call_tool(&kit.own_view(), call).await.unwrap()
}

#[tokio::test]
async fn f77_a_call_holds_at_most_four_times_what_came() {
    let program = testkit::bin("fake-mcp");
    let pipes =
        Scene::open(|name| ServerSpec::program(name, program.to_str().unwrap(), ["--fault", "c16"])).await;
    let host = testkit::Http::start(&["--fault", "c16"]);
    let address = Scene::open(|name| ServerSpec::url(name, host.url())).await;
    let mut beyond = Vec::new();
    for (scene, through) in [(&pipes, "pipes"), (&address, "http")] {
        for kind in ["text", "image", "images", "empty", "deep", "structured", "rows"] {
            for size in [ResultSize::Bounded, ResultSize::Texts, ResultSize::Whole] {
                let most = scene.measure(kind, size, through).await;
                if MOST < most {
                    beyond.push(format!("{through} {kind} {size:?}: {} MB", most / MB));
                }
            }
        }
    }
    pipes.kit.close().await;
    address.kit.close().await;
    assert!(beyond.is_empty(), "more than {} MB: {beyond:#?}", MOST / MB);
}
