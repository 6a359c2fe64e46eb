//! Servers that each program's own command added are taken over, and their tools are there.

use std::collections::BTreeSet;

use testkit::bin;

use super::host::Host;
use crate::house::{House, Runs as _};

#[test]
fn f57_tools_of_servers_imported_from_every_program_work() {
    let house = House::new();
    let fake = bin("fake-mcp");
    let fake = fake.to_str().unwrap();
    for host in Host::ALL {
        // Which of them wrote an entry is seen from its arguments.
        let diary = house.at(host.word());
        let before: &[&str] = match host {
            Host::ClaudeCode => &["mcp", "add", "-s", "user", host.word(), "--"],
            Host::Codex => &["mcp", "add", host.word(), "--"],
            Host::GeminiCli | Host::QwenCode => &["mcp", "add", "-s", "user", host.word()],
        };
        host.run(&house, &[before, &[fake, "--events", &diary]].concat()).exits(0);
        house.run(&["servers", "import", "--all", "--from", host.word()]).exits(0);
    }
    let names = Host::ALL.map(Host::word);
    let states: Vec<String> = names.iter().map(|name| format!("{name}=used")).collect();
    assert_eq!(house.states(&[]), states.join(" "));
    let tools = house.run(&["tools", "--json", "--wait", "60s"]).exits(0).json();
    let rows = tools.as_array().unwrap();
    let servers: BTreeSet<&str> = rows.iter().map(|row| row["server"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| servers.contains(name)), "{servers:?}");
    assert!(rows.iter().all(|row| row["available"] == true), "{tools}");
    for name in names {
        let tool = format!("{name}/echo");
        let call = house.run(&["call", &tool, "--args", r#"{"message": "hello"}"#, "--wait", "60s"]).exits(0);
        assert!(call.out.contains("hello"), "{tool}: {call:?}");
        assert!(!house.text(name).is_empty());
    }
}
