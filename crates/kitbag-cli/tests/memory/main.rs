//! How much memory a call holds at most, by the allocator's own count. A binary of its own: nobody else may allocate
//! meanwhile.
#![expect(clippy::unwrap_used, reason = "tests stop at the first surprise")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use kitbag::guard::Launcher;
use kitbag::{CallOptions, Env, Kitbag, Options, ServerName, ServerSpec, Setup, Size, ToolCall};
use peak_alloc::PeakAlloc;

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
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn open(spec: impl FnOnce(ServerName) -> ServerSpec) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home: PathBuf = folder.path().join("kit");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let vars = [("KITBAG_HOME".into(), home.into_os_string()), ("PATH".into(), path)];
        let env = Env::new(vars, folder.path().to_owned());
        let spec = spec(ServerName::parse("x").unwrap());
        let launcher = Some(Launcher::Other(Path::new(env!("CARGO_BIN_EXE_kitbag")).to_owned()));
        let options = Options { launcher, ..Options::default() };
        let kit = Kitbag::start(Setup::from_specs(env, vec![spec]), options);
        kit.wait(Duration::from_secs(60)).await;
        // Schemas are compiled once.
        call(&kit, "text", 1_000, Size::Bounded).await;
        Self { kit, _folder: folder }
    }

    /// Everything a call may go through, measured.
    async fn measure(&self, kind: &str, size: Size, through: &str) -> usize {
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

async fn call(kit: &Kitbag, kind: &str, bytes: usize, size: Size) -> kitbag::CallResult {
    let arguments = format!(r#"{{"kind":"{kind}","size":{bytes}}}"#);
    let options = CallOptions { size, ..CallOptions::default() };
    let call = ToolCall { options, ..ToolCall::new("mcp_x_bulk", &arguments) };
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
            for size in [Size::Bounded, Size::Texts, Size::Whole] {
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
