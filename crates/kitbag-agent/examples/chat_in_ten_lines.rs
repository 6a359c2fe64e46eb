//! Talks with a model that has every tool of every server you have configured.
//!
//! ```sh
//! kitbag servers add time -- uvx mcp-server-time
//! OLLAMA_MODEL=qwen3 cargo run --example chat_in_ten_lines "What time is it in Tokyo?"
//! ```
#![expect(clippy::disallowed_methods, reason = "a program reads its own environment")]

use kitbag::{DiscoverOptions, Env, Kitbag, Setup};
use kitbag_agent::{Agent, AgentEvent, ModelChoice, choose};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
    let setup = Setup::discover(&DiscoverOptions { env: env.clone(), ..DiscoverOptions::default() })?;
    let model = choose(&ModelChoice::default(), &env, &setup.limits)?;
    let (kit, _faults) = Kitbag::open(setup).await?;
    let mut agent = Agent::chat(model, kit.clone());
    let mut run = agent.send(std::env::args().nth(1).unwrap_or("What time is it in Tokyo?".to_owned()));
    while let Some(event) = run.next().await {
        match event? {
            AgentEvent::Text(text) => print!("{text}"),
            AgentEvent::Call { tool, .. } => eprintln!("[calls {tool}]"),
            AgentEvent::Done(_) => println!(),
            _ => {}
        }
    }
    drop(run);
    kit.close().await;
    Ok(())
}
