//! The client that the protocol's own test suite starts, at servers of ours: what it calls, what it answers, when it
//! gives up. The suite itself is run by `cargo xtask conformance`.

use super::Hosted;
use crate::house::Runs as _;

fn asked(calls: &str) -> String {
    format!(r#"{{"name": "any", "toolCalls": {calls}}}"#)
}

#[test]
fn the_conformance_client_calls_what_it_is_told_and_accepts_the_defaults() {
    for era in ["legacy", "modern"] {
        let hosted = Hosted::new();
        let url = hosted.host("x", &["--era", era]);
        let calls = r#"[{"name": "add", "arguments": {"a": 2, "b": 3}},
                        {"name": "ask", "arguments": {"what": "elicitation"}}]"#;
        let run = hosted.farm.house.ask(&["conformance-client", &url]);
        let ran = run.env("MCP_CONFORMANCE_CONTEXT", &asked(calls)).run().exits(0);
        assert_eq!(hosted.farm.count("x", "call add"), 1, "{era}: {ran:?}");
        assert!(ran.err.contains("accept") && !ran.err.contains("decline"), "{era}: {ran:?}");
    }
}

#[test]
fn the_conformance_client_does_not_wait_where_it_must_say_who_it_is() {
    let hosted = Hosted::new();
    let url = hosted.host("x", &["--bearer", "canary"]);
    hosted.farm.settings("[wait]\nagent = '1h'\nhttp = '1h'\n");
    hosted.farm.house.run(&["conformance-client", &url]).fails(12, "auth required");
}

#[test]
fn the_conformance_client_fails_where_a_tool_is_not_there() {
    let hosted = Hosted::new();
    let url = hosted.host("x", &[]);
    let run = hosted.farm.house.ask(&["conformance-client", &url]);
    let run = run.env("MCP_CONFORMANCE_CONTEXT", &asked(r#"[{"name": "nobody"}]"#));
    run.run().exits(5);
}
