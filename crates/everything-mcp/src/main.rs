//! A server that does everything the protocol has, by the names the protocol's own test suite calls, on the official SDK
//! for Rust: other people's code behind Kitbag's endpoint, in both eras of the protocol.
#![expect(deprecated, reason = "log levels, sampling and roots belong to the older era")]

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use rmcp::ServiceExt as _;

mod changes;
mod definitions;
mod http;
mod interview;
mod plain;
mod prompts;
mod resources;
mod server;

use server::{Everything, Revisions};

const HELP: &str = "\
everything-mcp: a server for tests, by the names of the protocol's own test suite

  --listen ADDRESS   serve streamable HTTP, and print the URL (without it: stdin and stdout)
  --era older|newer  speak only what begins with `initialize`, or only what does not
";

/// What the command line says.
#[derive(Default)]
struct Options {
    listen: Option<SocketAddr>,
    revisions: Revisions,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value\n\n{HELP}"));
            match word.as_str() {
                "--listen" => {
                    let address = value()?;
                    let address = address.parse().with_context(|| format!("--listen {address}"))?;
                    options.listen = Some(address);
                }
                "--era" => {
                    options.revisions = match value()?.as_str() {
                        "older" => Revisions::Older,
                        "newer" => Revisions::Newer,
                        other => bail!("--era {other}: it is older or newer\n\n{HELP}"),
                    };
                }
                _ => bail!("unknown option {word}\n\n{HELP}"),
            }
        }
        Ok(options)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::read(std::env::args().skip(1))?;
    let server = Everything::new(options.revisions)?;
    match options.listen {
        Some(address) => http::serve(&server, address).await,
        None => {
            let running = server.serve(rmcp::transport::stdio()).await?;
            running.waiting().await?;
            Ok(())
        }
    }
}
