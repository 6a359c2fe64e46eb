//! Gives an agent a task, and prints the report of what it did: every call, how long it took, what failed, what it cost.
//!
//! ```sh
//! OPENAI_API_KEY=… cargo run --example autonomous_report "Find out how many hours Tokyo is ahead of Lisbon"
//! ```
#![expect(clippy::disallowed_methods, reason = "a program reads its own environment")]

use kitbag::{DiscoverOptions, Env, Kitbag, Setup};
use kitbag_agent::{Agent, Ended, ModelChoice, choose};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
    let setup = Setup::discover(&DiscoverOptions { env: env.clone(), ..DiscoverOptions::default() })?;
    let model = choose(&ModelChoice::default(), &env, &setup.limits)?;
    let (kit, _faults) = Kitbag::open(setup).await?;
    let task = std::env::args().nth(1);
    let task = task.unwrap_or("Find out how many hours Tokyo is ahead of Lisbon".to_owned());
    let mut agent = Agent::autonomous(model, kit.clone()).max_steps(20);
    let report = agent.send(task).finish().await?;
    for execution in &report.executions {
        let outcome = execution.error.as_deref().unwrap_or("done");
        println!("step {}: {} in {:?}: {outcome}", execution.step, execution.tool, execution.took);
    }
    println!(
        "{} steps, tools {:?}, {} tokens",
        report.steps,
        report.tools(),
        report.usage.input + report.usage.output
    );
    println!("{}", report.text);
    kit.close().await;
    if report.ended == Ended::Answered { Ok(()) } else { Err("the task was not finished".into()) }
}
