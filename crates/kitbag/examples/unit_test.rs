//! Unit tests against an MCP server that runs inside the test: `cargo test --example unit_test`.
//!
//! The server is written with the official SDK, rmcp. No process is started and no port is opened.

use kitbag::{Env, Kitbag, ServerName, Setup};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServiceExt as _, schemars, tool, tool_router};

/// The server under test.
#[derive(Clone)]
struct Calculator;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

#[tool_router(server_handler)]
impl Calculator {
    #[tool(description = "Divides two numbers")]
    fn divide(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> Result<String, String> {
        a.checked_div(b).map(|result| result.to_string()).ok_or_else(|| "division by zero".to_owned())
    }
}

async fn open() -> Result<Kitbag, Box<dyn std::error::Error>> {
    // Runs for each connection: at first, and again after a restart.
    let serve = |io| async move {
        if let Ok(running) = Calculator.serve(io).await {
            let _ = running.waiting().await;
        }
    };
    let server = kitbag::in_process(ServerName::parse("calculator")?, serve);
    let (kit, faults) = Kitbag::open(Setup::from_specs(Env::default(), vec![server])).await?;
    assert!(faults.is_empty(), "{faults:?}");
    Ok(kit)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kit = open().await?;
    let result = kit.call("mcp_calculator_divide", r#"{"a": 84, "b": 2}"#).await?;
    assert_eq!(result.content[0].as_text(), Some("42"));
    kit.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use kitbag::{ErrorKind, Repair};

    use super::open;

    #[tokio::test]
    async fn a_failure_of_the_tool_is_a_result() {
        let kit = open().await.unwrap();
        let result = kit.call("calculator/divide", r#"{"a": 1, "b": 0}"#).await.unwrap();
        assert_eq!((result.is_error, result.content[0].as_text()), (true, Some("division by zero")));
        kit.close().await;
    }

    #[tokio::test]
    async fn arguments_that_do_not_fit_are_not_sent() {
        let kit = open().await.unwrap();
        let error = kit.call("calculator/divide", r#"{"a": 1}"#).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArguments);
        assert!(matches!(error.repair.as_deref(), Some(Repair::Schema(_))), "{error:?}");
        kit.close().await;
    }
}
