//! The official SDK for Rust as a client of Kitbag: what every client in `testdata/clients` is made to do, told in the same
//! form. `rmcp-client older|newer http URL`, or `… stdio COMMAND ARG…`.

use std::future::Future;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientConfig, GetPromptRequestParams, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Map, Value, json};
use tokio::process::Command;

const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at what cannot be awaited.
const LOOK: Duration = Duration::from_millis(20);

/// A client that takes down what progress it hears.
#[derive(Clone, Default)]
struct Listener {
    heard: Arc<Mutex<Vec<Step>>>,
}

/// How much is done, and of how much.
type Step = (f64, Option<f64>);

impl Listener {
    /// What was heard, in the order of the work: the SDK hands each notification to a task of its own.
    fn heard(&self) -> Vec<Step> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        heard.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        heard
    }
}

impl ClientHandler for Listener {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let one = (progress.progress, progress.total);
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }
}

type Client = RunningService<RoleClient, Listener>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [era, kind, first, rest @ ..] = words.as_slice() else {
        bail!("rmcp-client older|newer http URL, or stdio COMMAND ARG…");
    };
    let mode = match era.as_str() {
        "older" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    };
    // No address here is behind TLS, but a client that could do TLS is not made without it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = Listener::default();
    let client = match kind.as_str() {
        "http" => {
            let transport = StreamableHttpClientTransport::from_uri(first.as_str());
            listener.serve_with_lifecycle(transport, mode).await?
        }
        _ => {
            let mut command = Command::new(first);
            let command = command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().with_context(|| format!("cannot start {first}"))?;
            let (input, output) =
                (child.stdin.take().context("no input")?, child.stdout.take().context("no output")?);
            listener.serve_with_lifecycle((output, input), mode).await?
        }
    };
    println!("{}", report(&format!("rmcp 3.8.0, {era} era"), &client).await);
    client.cancel().await?;
    Ok(())
}

async fn report(name: &str, client: &Client) -> Value {
    let mut outcome = Map::from_iter([("client".to_owned(), json!(name))]);
    tell(&mut outcome, "list", list(client)).await;
    tell(&mut outcome, "call", call(client)).await;
    tell(&mut outcome, "error", error(client)).await;
    tell(&mut outcome, "progress", progress(client)).await;
    tell(&mut outcome, "cancel", cancel(client)).await;
    tell(&mut outcome, "resource", resource(client)).await;
    tell(&mut outcome, "prompt", prompt(client)).await;
    Value::Object(outcome)
}

async fn tell(outcome: &mut Map<String, Value>, name: &str, work: impl Future<Output = anyhow::Result<()>>) {
    let told = match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(())) => "passed".to_owned(),
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => "too late".to_owned(),
    };
    outcome.insert(name.to_owned(), told.into());
}

async fn list(client: &Client) -> anyhow::Result<()> {
    let count = client.list_all_tools().await?.len();
    ensure!(20 < count, "{count} tools");
    Ok(())
}

async fn call(client: &Client) -> anyhow::Result<()> {
    let text = called(client, "echo", json!({"message": "grüße"})).await?;
    ensure!(text == ("grüße".to_owned(), false), "{text:?}");
    Ok(())
}

async fn error(client: &Client) -> anyhow::Result<()> {
    let (text, failed) = called(client, "test_error_handling", json!({})).await?;
    ensure!(failed && text.contains("intentionally"), "{text}");
    Ok(())
}

async fn progress(client: &Client) -> anyhow::Result<()> {
    called(client, "test_tool_with_progress", json!({})).await?;
    let expected = [0.0, 50.0, 100.0].map(|done| (done, Some(100.0)));
    while client.service().heard().len() < expected.len() {
        tokio::time::sleep(LOOK).await;
    }
    let heard = client.service().heard();
    ensure!(heard == expected, "{heard:?}");
    Ok(())
}

async fn cancel(client: &Client) -> anyhow::Result<()> {
    let params = params(client, "wait", json!({"ms": 600_000})).await?;
    let request = CallToolRequest::new(params);
    let handle = client.send_request_with_option(request.into(), PeerRequestOptions::no_options()).await?;
    until(client, "waiting 1 cancelled 0").await?;
    handle.cancel(Some("no longer needed".to_owned())).await?;
    until(client, "waiting 0 cancelled 1").await
}

async fn until(client: &Client, state: &str) -> anyhow::Result<()> {
    while called(client, "waits", json!({})).await?.0 != state {
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

async fn resource(client: &Client) -> anyhow::Result<()> {
    let listed = client.list_all_resources().await?;
    let found = listed.into_iter().find(|resource| resource.uri.ends_with("test://static-text"));
    let uri = found.context("it is not listed")?.uri.clone();
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await?;
    let read = serde_json::to_value(read.contents)?;
    ensure!(read[0]["text"] == "This is the content of the static text resource.", "{read}");
    Ok(())
}

async fn prompt(client: &Client) -> anyhow::Result<()> {
    let names = client.list_all_prompts().await?.into_iter().map(|prompt| prompt.name).collect();
    let arguments = Map::from_iter([("arg1".to_owned(), json!("a")), ("arg2".to_owned(), json!("b"))]);
    let params = GetPromptRequestParams::new(named(names, "test_prompt_with_arguments")?);
    let prompt = client.get_prompt(params.with_arguments(arguments)).await?;
    let messages = serde_json::to_value(prompt.messages)?;
    ensure!(messages[0]["content"]["text"] == "Prompt with arguments: arg1='a', arg2='b'", "{messages}");
    Ok(())
}

/// The text of a tool's result, and whether it says that it failed.
async fn called(client: &Client, own: &str, arguments: Value) -> anyhow::Result<(String, bool)> {
    let result = client.call_tool(params(client, own, arguments).await?).await?;
    let text = result.content.first().and_then(|block| block.as_text()).context("no text")?;
    Ok((text.text.clone(), result.is_error == Some(true)))
}

async fn params(client: &Client, own: &str, arguments: Value) -> anyhow::Result<CallToolRequestParams> {
    let tools = client.list_all_tools().await?;
    let name = named(tools.into_iter().map(|tool| tool.name.into_owned()).collect(), own)?;
    Ok(CallToolRequestParams::new(name).with_arguments(rmcp::model::object(arguments)))
}

/// The name under which what a server calls so is shown.
fn named(names: Vec<String>, own: &str) -> anyhow::Result<String> {
    let end = format!("_{own}");
    let mut found = names.iter().filter(|name| *name == own || name.ends_with(&end));
    match (found.next(), found.next()) {
        (Some(name), None) => Ok(name.clone()),
        _ => bail!("{own} is not one of {names:?}"),
    }
}
