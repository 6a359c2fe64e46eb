//! A service of many users: which servers they share, what each of them may call, changes while it runs, and the end.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use kitbag::{
    AgentRules, Authorize, CallOptions, Decision, Env, ErrorKind, Kitbag, OpenOptions, ServerName,
    ServerSpec, Setup, Tool, ToolCall, UserId,
};

/// Guests must not end servers.
struct Roles;

impl Authorize for Roles {
    fn authorize(&self, user: &UserId, tool: &Tool) -> Decision {
        match (user.as_str(), tool.name.as_str()) {
            ("guest", "die") => Decision::Deny("guests must not end servers".to_owned()),
            _ => Decision::Allow,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    kitbag::guard::init();
    // One process for everybody, and one that each user has alone.
    let common = Arc::new(server("common")?);
    let own = Arc::new(ServerSpec { per_user: true, ..server("own")? });
    let options = OpenOptions { permit: Some(Arc::new(Roles)), ..OpenOptions::default() };
    let (ada, _) = Kitbag::open_with(setup("ada", &[&common, &own])?, options.clone()).await?;
    let (bob, _) = Kitbag::open_with(setup("bob", &[&common, &own])?, options).await?;
    assert_eq!(pid(&ada, "common").await?, pid(&bob, "common").await?);
    assert_ne!(pid(&ada, "own").await?, pid(&bob, "own").await?);

    // A view is what one user's agent sees and may call: for a guest there is no `die`. Records are kept by user.
    let guest = UserId::parse("guest")?;
    let view = ada.view(&guest, &AgentRules::default())?;
    let refused = ada.call_tool(&view, ToolCall::new("common/die", "{}")).await;
    assert_eq!(refused.err().map(|error| error.kind), Some(ErrorKind::NotFound));
    assert_eq!((ada.recent_calls().len(), ada.recent_calls_of(&guest).len()), (2, 1));

    // A new configuration: what did not change keeps its process.
    let before = pid(&ada, "common").await?;
    ada.apply(setup("ada", &[&common, &own, &Arc::new(server("more")?)])?).await?;
    ada.wait_for_all(Duration::from_secs(30)).await;
    assert_eq!(pid(&ada, "common").await?, before);
    assert!(pid(&ada, "more").await.is_ok() && pid(&bob, "more").await.is_err());

    // The end: a call in flight finishes, a new one is refused, and bob keeps the process that both used.
    let (sender, mut progress) = tokio::sync::mpsc::channel(8);
    let options = CallOptions { notifications: Some(sender), ..CallOptions::default() };
    let (view, call) = (ada.own_view(), ToolCall::new("own/progress", r#"{"n": 3, "ms": 50}"#).with(options));
    let (finished, ()) = tokio::join!(ada.call_tool(&view, call), async {
        progress.recv().await;
        ada.close().await;
    });
    assert!(!finished?.is_error);
    assert!(pid(&ada, "own").await.is_err() && pid(&bob, "common").await? == before);
    bob.close().await;
    Ok(())
}

fn server(name: &str) -> Result<ServerSpec, Box<dyn Error>> {
    let program = testkit::bin("fake-mcp").display().to_string();
    Ok(ServerSpec::program(ServerName::parse(name)?, &program, []))
}

fn setup(user: &str, servers: &[&Arc<ServerSpec>]) -> Result<Setup, Box<dyn Error>> {
    let env = Env::new([], std::env::current_dir()?);
    let servers = servers.iter().copied().cloned().collect();
    Ok(Setup::from_specs(env, servers).for_user(UserId::parse(user)?))
}

/// The process id of a server, asked through its tool `pid`.
async fn pid(kit: &Kitbag, server: &str) -> Result<String, Box<dyn Error>> {
    let result = kit.call(&format!("{server}/pid"), "{}").await?;
    Ok(result.content[0].as_text().unwrap_or_default().to_owned())
}
