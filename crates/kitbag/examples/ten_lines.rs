//! Lists every tool of every server you have configured, and calls one.
//!
//! ```sh
//! kitbag servers add time -- uvx mcp-server-time
//! cargo run --example ten_lines
//! ```
#![expect(clippy::disallowed_methods, reason = "a program reads its own environment")]

use kitbag::{DiscoverOptions, Env, Kitbag, Setup};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let env = Env::new(std::env::vars_os(), std::env::current_dir()?);
    let setup = Setup::discover(&DiscoverOptions { env, ..DiscoverOptions::default() })?;
    let (kit, faults) = Kitbag::open(setup).await?;
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    kit.own_view().tools().iter().for_each(|tool| println!("{}", tool.name));
    let result = kit.call("mcp_time_get_current_time", r#"{"timezone": "UTC"}"#).await?;
    println!("{:?}", result.for_model());
    kit.close().await;
    if result.is_error { Err("the tool reported an error".into()) } else { Ok(()) }
}
