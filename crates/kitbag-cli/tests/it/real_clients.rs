//! Published MCP clients at `kitbag serve` and `kitbag stdio`: each is made to do what it offers, and what it offers is what
//! the docs say.

mod offers;
mod run;

use offers::CLIENTS;

#[test]
fn the_docs_have_the_table_of_what_clients_offer() {
    let docs = include_str!("../../../../docs/clients.md");
    let table: Vec<&str> = docs.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(table.join("\n"), offers::table());
}

/// In each era of the protocol that the client speaks, and over each transport, everything it offers passes.
#[track_caller]
fn passes(driver: &str) {
    let client = CLIENTS.iter().find(|client| client.driver == driver).unwrap();
    for era in client.eras {
        let expected = client.expected(era);
        assert_eq!(run::over_http(client, era), expected, "{era} era, kitbag serve");
        assert_eq!(run::over_pipes(client, era), expected, "{era} era, kitbag stdio");
    }
}

#[test]
fn the_sdk_for_python_1_does_all_it_offers() {
    passes("mcp_1.py");
}

#[test]
fn the_sdk_for_python_2_does_all_it_offers() {
    passes("mcp_2.py");
}

#[test]
fn fastmcp_does_all_it_offers() {
    passes("fastmcp_4.py");
}

#[test]
fn the_adapters_of_langchain_does_all_it_offers() {
    passes("langchain_tools.py");
}

#[test]
fn the_openai_agents_sdk_does_all_it_offers() {
    passes("openai_agents.py");
}

#[test]
fn the_sdk_for_typescript_1_does_all_it_offers() {
    passes("sdk_1.mjs");
}

#[test]
fn the_sdk_for_typescript_2_does_all_it_offers() {
    passes("client_2.mjs");
}

#[test]
fn the_command_line_of_the_inspector_does_all_it_offers() {
    passes("inspector.mjs");
}

#[test]
fn the_sdk_for_rust_does_all_it_offers() {
    passes("rmcp-client");
}
