//! Resources, templates and prompts of real servers: listed, read, named, denied; of both eras, over pipes and HTTP.

use std::time::Duration;

use kitbag::{AgentRules, CallOptions, ErrorKind, Kitbag, View};
use kitbag_core::names::NameForm;
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, Hosted, calm, until};

mod hostile;
mod rules;
mod told;

const LONG: Duration = Duration::from_secs(30);

/// The URIs a view lists.
async fn uris(kit: &Kitbag, view: &View) -> Vec<String> {
    kit.resources(view).await.0.into_iter().map(|resource| resource.uri).collect()
}

/// The names of the prompts a view lists.
async fn prompts(kit: &Kitbag, view: &View) -> Vec<String> {
    kit.prompts(view).await.0.into_iter().map(|prompt| prompt.name.to_string()).collect()
}

/// The text of a resource, or which way reading it went wrong.
async fn read(kit: &Kitbag, view: &View, uri: &str) -> Result<String, ErrorKind> {
    let done = kit.read_resource(view, uri, CallOptions::default()).await.map_err(|error| error.kind)?;
    Ok(done.contents().first().and_then(|part| part.text.clone()).unwrap_or_default())
}

/// The first text of a prompt, or which way getting it went wrong.
async fn get(kit: &Kitbag, view: &View, name: &str, arguments: &str) -> Result<String, ErrorKind> {
    let done = kit.get_prompt(view, name, arguments, CallOptions::default()).await;
    let messages = done.map_err(|error| error.kind)?.messages();
    Ok(messages[0].content.as_text().unwrap_or_default().to_owned())
}

fn agent(servers: &[&str], names: NameForm) -> AgentRules {
    let servers = servers.iter().map(|server| (*server).to_owned()).collect();
    AgentRules { servers, names: Some(names), ..AgentRules::default() }
}

fn two() -> Farm {
    let farm = Farm::of("x", &["--offers", "good", "--name", "x", "--era", "legacy"]);
    farm.add("y", &["--offers", "good", "--name", "y", "--era", "modern"]);
    farm.add("tools_only", &[]);
    farm
}

#[tokio::test]
async fn all_of_several_servers_is_listed_and_read() {
    let farm = two();
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let (resources, faults) = kit.resources(&view).await;
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(resources.len(), 10);
    for resource in &resources {
        let (server, own) = (resource.server.as_str(), resource.own_uri.as_str());
        assert_eq!(resource.uri, format!("kitbag+{server}:{own}"));
        assert_eq!(resource.definition["uri"], resource.uri);
        if own == "fake://hang" {
            continue;
        }
        let text = read(&kit, &view, &resource.uri).await.unwrap();
        assert!(own == "fake://picture" || text.ends_with(&format!("of {server}")), "{own}: {text}");
    }
    let shared = resources.iter().find(|resource| resource.own_uri == "fake://shared").unwrap();
    assert_eq!(shared.description(), Some("One that every server has"));
    assert_eq!(shared.definition["odd"], json!({"kept": 1.50}));
    let (templates, _) = kit.templates(&view).await;
    assert!(templates.iter().any(|one| one.uri_template == "kitbag+y:fake://echo/{text}"), "{templates:?}");
    for server in ["x", "y"] {
        assert_eq!(read(&kit, &view, &format!("kitbag+{server}:fake://echo/hi")).await.unwrap(), "hi");
        let greet = format!("mcp_{server}_greet");
        assert!(prompts(&kit, &view).await.contains(&greet));
        for name in [greet, format!("{server}/greet")] {
            assert_eq!(get(&kit, &view, &name, r#"{"name":"Ada"}"#).await.unwrap(), "Hello Ada", "{name}");
        }
    }
    assert_eq!(get(&kit, &view, "mcp_x_greet", "{}").await.unwrap_err(), ErrorKind::InvalidArguments);
    assert_eq!(farm.count("x", "prompt greet"), 2, "what does not fit is not sent");
    assert_eq!(get(&kit, &view, "greet", r#"{"name":"Ada"}"#).await.unwrap_err(), ErrorKind::Ambiguous);
    assert_eq!(get(&kit, &view, "mcp_x_gret", "{}").await.unwrap_err(), ErrorKind::NotFound);
    farm.close(kit).await;
}

#[tokio::test]
async fn names_and_uris_have_the_form_of_the_view() {
    let farm = two();
    let kit = farm.open(calm()).await;
    let one = kit.view(kit.user(), &agent(&["x"], NameForm::Short)).unwrap();
    assert!(uris(&kit, &one).await.contains(&"fake://shared".to_owned()), "there is no other server");
    assert_eq!(prompts(&kit, &one).await, ["x_greet", "x_plain", "x_of_x"]);
    assert_eq!(read(&kit, &one, "fake://shared").await.unwrap(), "shared of x");
    assert_eq!(read(&kit, &one, "kitbag+x:fake://shared").await.unwrap(), "shared of x");
    assert_eq!(read(&kit, &one, "kitbag+y:fake://shared").await.unwrap_err(), ErrorKind::NotFound);
    let bare = kit.view(kit.user(), &agent(&[], NameForm::Bare)).unwrap();
    let listed = uris(&kit, &bare).await;
    assert!(listed.contains(&"fake://x/own".to_owned()), "only one has it: {listed:?}");
    assert!(listed.contains(&"kitbag+y:fake://shared".to_owned()), "two have it: {listed:?}");
    assert_eq!(read(&kit, &bare, "fake://y/own").await.unwrap(), "own of y");
    assert_eq!(read(&kit, &bare, "fake://shared").await.unwrap_err(), ErrorKind::Ambiguous);
    assert!(prompts(&kit, &bare).await.contains(&"of_y".to_owned()));
    farm.close(kit).await;
}

#[tokio::test]
async fn a_uri_that_nobody_lists_finds_its_server() {
    let farm = two();
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    // No template fits: the servers are asked in turn.
    assert_eq!(read(&kit, &view, "fake://only/y").await.unwrap(), "only of y");
    assert_eq!(read(&kit, &view, "fake://only/nobody").await.unwrap_err(), ErrorKind::NotFound);
    assert_eq!(farm.count("tools_only", "read"), 0);
    // A template fits, and the first server that has it answers.
    assert_eq!(read(&kit, &view, "fake://echo/hello").await.unwrap(), "hello");
    // A link in a result leads to the server that gave it.
    let link = "fake://linked";
    kit.call("mcp_y_resource_link", "{}").await.unwrap();
    let _ = read(&kit, &view, link).await;
    assert!(farm.count("y", &format!("read {link}")) == 1, "{:?}", farm.events("y", "read"));
    farm.close(kit).await;
}

#[tokio::test]
async fn results_are_as_their_server_wrote_them() {
    let farm = two();
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let done = kit.read_resource(&view, "kitbag+x:fake://picture", CallOptions::default()).await.unwrap();
    let result: Value = serde_json::from_str(done.result.get()).unwrap();
    assert_eq!(result["odd"], json!({"kept": true}));
    assert_eq!(result["contents"][0]["uri"], "fake://picture");
    assert_eq!((done.info.server.as_str(), done.info.tool.as_str()), ("x", "resource:fake://picture"));
    let records = kit.recent_calls();
    assert_eq!(records.last().unwrap().tool, "resource:fake://picture");
    farm.close(kit).await;
}

#[tokio::test]
async fn lists_are_kept_until_their_server_tells_of_changes() {
    for (transport, args) in [("stdio", [].as_slice()), ("http", &["--http", "0"])] {
        for era in ["legacy", "modern"] {
            let all = [&["--offers", "good", "--era", era, "--ttl", "none"], args].concat();
            let hosted;
            let own;
            let (farm, kit) = if transport == "http" {
                hosted = Hosted::of("x", &all[..all.len() - 2]);
                (&hosted.farm, hosted.open(calm()).await)
            } else {
                own = Farm::of("x", &all);
                (&own, own.open(calm()).await)
            };
            let view = kit.own_view();
            for _ in 0..3 {
                assert_eq!(uris(&kit, &view).await.len(), 5, "{transport} {era}");
            }
            assert_eq!(farm.count("x", "offered resources/list"), 1, "{transport} {era}");
            let mut changed = kit.watch_offered();
            changed.mark_unchanged();
            kit.ask("x", "grow", json!({})).await.unwrap();
            testkit::in_time(changed.changed()).await.unwrap();
            let mut listed = Vec::new();
            for _ in 0..1_000 {
                listed = uris(&kit, &view).await;
                if listed.len() == 6 {
                    break;
                }
            }
            assert!(listed.contains(&"kitbag+x:fake://grown/1".to_owned()), "{transport} {era}: {listed:?}");
            kit.close().await;
        }
    }
}

#[tokio::test]
async fn nothing_is_asked_of_a_server_that_offers_nothing() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    assert!(uris(&kit, &view).await.is_empty() && prompts(&kit, &view).await.is_empty());
    assert_eq!(read(&kit, &view, "fake://shared").await.unwrap_err(), ErrorKind::NotFound);
    assert_eq!(farm.count("x", "offered"), 0);
    assert!(until(LONG, || kit.on("x").in_flight() == 0).await);
    farm.close(kit).await;
}

#[tokio::test]
async fn a_read_is_cancelled_and_timed_like_a_call() {
    let farm = Farm::of("x", &["--offers", "good"]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let options = CallOptions { timeout: Some(Duration::from_millis(200)), ..CallOptions::default() };
    let error = kit.read_resource(&view, "kitbag+x:fake://hang", options).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    let cancel = kitbag::CancellationToken::new();
    let options = CallOptions { cancel: Some(cancel.clone()), ..CallOptions::default() };
    let stop = async {
        assert!(until(LONG, || farm.count("x", "read fake://hang") == 2).await);
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(kit.read_resource(&view, "kitbag+x:fake://hang", options), stop);
    assert_eq!(done.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(until(LONG, || farm.count("x", "cancelled") == 2).await);
    kit.lives("x").await;
    farm.close(kit).await;
}
