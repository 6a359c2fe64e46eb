//! An agent in a program that has no async runtime.
//!
//! ```sh
//! OLLAMA_MODEL=qwen3 cargo run --example without_async "What time is it in Tokyo?"
//! ```
#![expect(clippy::disallowed_methods, reason = "a program reads its own environment")]

use kitbag::{DiscoverOptions, Env, OpenOptions, Setup};
use kitbag_agent::{Agent, BlockingAgent, ModelChoice, choose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
    let setup = Setup::discover(&DiscoverOptions { env: env.clone(), ..DiscoverOptions::default() })?;
    let model = choose(&ModelChoice::default(), &env, &setup.limits)?;
    let mut agent = BlockingAgent::start(setup, OpenOptions::default(), |kit| Agent::chat(model, kit))?;
    eprintln!("{}, servers {}", agent.state().as_str(), agent.connection().as_str());
    let report = agent.send(std::env::args().nth(1).unwrap_or("What time is it in Tokyo?".to_owned()))?;
    println!("{}", report.text);
    Ok(())
}
