//! What `kitbag.toml` says is what happens: the keys whose effect no other test shows.

use std::net::TcpListener;
use std::time::Duration;

use kitbag::{DiscoverOptions, Kitbag, LinkState, OpenOptions, Setup};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Farm, names, until};
use testkit::in_time;

const LONG: Duration = Duration::from_secs(30);

/// Opened by the limits of the files alone.
async fn open(farm: &Farm) -> Kitbag {
    let options = OpenOptions { limits: None, ..farm.options(kitbag::Limits::default()) };
    Kitbag::start(farm.setup(), options)
}

/// The reason a server is not there, once it is known.
async fn reason(kit: &Kitbag, server: &str) -> String {
    let link = kit.on(server);
    until(LONG, || link.status().error.is_some()).await;
    link.status().error.map(|reason| reason.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn f1_the_clocks_of_the_settings_bind() {
    let farm = Farm::of("mute", &["--fault", "s05"]);
    farm.add("endless", &["--fault", "s20"]);
    farm.add("good", &[]);
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", deaf.local_addr().unwrap());
    farm.enter("deaf", json!({"type": "http", "url": url}));
    farm.settings(
        "[wait]\nagent = '100ms'\nstdio = '400ms'\nhttp = '300ms'\nlist = '200ms'\nidle = '250ms'\ntotal = '350ms'\n\
         [limits]\npages = 1000000000\ntools = 1000000000",
    );
    let options = || OpenOptions { limits: None, ..farm.options(kitbag::Limits::default()) };
    let (kit, _) = Kitbag::open_with(farm.setup(), options()).await.unwrap();
    let mute = reason(&kit, "mute").await;
    assert!(mute.contains("not connected within 400ms (wait_stdio)"), "{mute}");
    let deaf = reason(&kit, "deaf").await;
    assert!(deaf.contains("within 300ms (wait_http)"), "{deaf}");
    let endless = reason(&kit, "endless").await;
    assert!(endless.contains("no answer within 200ms"), "{endless}");
    kit.reaches("good", LinkState::Ready).await;
    // Opening ends by `agent`, long before the server is given up.
    let silent = Farm::of("mute", &["--fault", "s05"]);
    silent.settings("[wait]\nagent = '100ms'\nstdio = '1h'\n");
    let (opened, _) = in_time(Kitbag::open_with(silent.setup(), options())).await.unwrap();
    assert_eq!(opened.on("mute").status().state, LinkState::Starting);
    silent.close(opened).await;
    let error = kit.ask("good", "sleep", json!({"ms": 60_000})).await.unwrap_err();
    assert_eq!(error.message, "no answer within 250ms (wait_idle)");
    farm.settings("[wait]\nidle = '250s'\ntotal = '350ms'");
    kit.reload().await.unwrap();
    kit.reaches("good", LinkState::Ready).await;
    // Opening ends by `agent`, long before the server is given up.
    let silent = Farm::of("mute", &["--fault", "s05"]);
    silent.settings("[wait]\nagent = '100ms'\nstdio = '1h'\n");
    let (opened, _) = in_time(Kitbag::open_with(silent.setup(), options())).await.unwrap();
    assert_eq!(opened.on("mute").status().state, LinkState::Starting);
    silent.close(opened).await;
    let error = kit.ask("good", "sleep", json!({"ms": 60_000})).await.unwrap_err();
    assert_eq!(error.message, "no answer within 350ms (wait_total)");
    farm.close(kit).await;
}

#[tokio::test]
async fn f2_required_lazy_and_enabled_of_the_settings_bind() {
    let farm = Farm::of("x", &[]);
    farm.add_with("gone", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.settings("[servers.gone]\nrequired = true");
    let error = Kitbag::open_with(farm.setup(), farm.options(super::calm())).await.err().unwrap();
    assert_eq!(error.server.as_str(), "gone");
    farm.settings("[servers.gone]\nenabled = false\n[servers.x]\nlazy = true");
    let before = farm.count("x", "start");
    let kit = open(&farm).await;
    kit.wait(LONG).await;
    assert_eq!((kit.on("x").status().state, farm.count("x", "start")), (LinkState::Idle, before));
    assert_eq!(kit.links().len(), 1, "what is switched off is not used");
    farm.close(kit).await;
}

#[tokio::test]
async fn f2_where_files_come_from_is_obeyed() {
    let farm = Farm::new();
    let entry = |name: &str| json!({"mcpServers": {name: {"command": testkit::bin("fake-mcp")}}}).to_string();
    farm.house.put("more/file.json", entry("from_file"));
    farm.house.put("folder/from_folder.json", entry("from_folder"));
    let path = |name: &str| farm.house.path(name).display().to_string();
    farm.settings(&format!(
        "[sources]\nfiles = [{:?}]\nservers_dir = {:?}",
        path("more/file.json"),
        path("folder")
    ));
    let kit = farm.open(super::calm()).await;
    let listed = names(&kit.own_view());
    assert!(listed.contains(&"mcp_from_file_add".to_owned()), "{listed:?}");
    assert!(listed.contains(&"mcp_from_folder_add".to_owned()), "{listed:?}");
    // The same files, asked for by nobody.
    farm.settings("");
    let setup = Setup::discover(&DiscoverOptions { env: farm.env(), ..DiscoverOptions::default() }).unwrap();
    assert_eq!(setup.used().count(), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn f2_the_clash_policy_of_the_settings_binds() {
    let farm = Farm::of("x", &[]);
    let check = async |policy: &str, wanted: &[&str]| {
        farm.settings(&format!("[agents.a]\nnames = 'bare'\nclash = '{policy}'"));
        let schema = json!({"type": "object"});
        let work = |_, _| async { Ok(json!("ours")) };
        let own = kitbag::LocalTool::with_schema("add", "Ours", schema, work);
        let kit = farm.open_with(OpenOptions { local: vec![own], ..farm.options(super::calm()) }).await;
        let view = kit.view(kit.user(), &kit.agent("a").unwrap());
        let adds: Vec<String> = match &view {
            Ok(view) => names(view).into_iter().filter(|name| name.ends_with("add")).collect(),
            Err(clash) => vec![clash.to_string()],
        };
        assert_eq!(adds, wanted, "{policy}");
        farm.close(kit).await;
    };
    check("prefix", &["add", "mcp_x_add"]).await;
    check("mcp", &["add"]).await;
    check("local", &["add"]).await;
    check("error", &["the name add is wanted by a local tool and by x/add"]).await;
}
