//! Lists every tool of every server you have configured, and calls one.
//!
//! `cargo run --example ten_lines -- mcp_time_get_current_time '{"timezone": "UTC"}'`
#![expect(clippy::disallowed_methods, reason = "a program reads its own environment")]

use kitbag::{Env, Kitbag, Request, Setup};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
    let (kit, faults) = Kitbag::open(Setup::discover(&Request { env, ..Request::default() })?).await?;
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    kit.own_view().tools().iter().for_each(|tool| println!("{}", tool.name));
    if let Some(name) = std::env::args().nth(1) {
        let result = kit.call(&name, &std::env::args().nth(2).unwrap_or_default()).await;
        println!("{:?}", result.map(|result| result.for_model()));
    }
    kit.close().await;
    Ok(())
}
