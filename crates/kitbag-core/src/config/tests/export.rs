use super::{load, spec};
use crate::config::Dialect;
use crate::config::export::{Secrets, Target, endpoint, servers};
use crate::model::ServerSpec;

fn reader(target: Target) -> &'static str {
    match target {
        Target::Claude => "claude-code",
        Target::Cursor => "cursor",
        Target::Qwen => "qwen",
        Target::LmStudio => "lmstudio",
        Target::OpenAi => "openai",
    }
}

fn examples() -> Vec<ServerSpec> {
    let text = r#"{"mcpServers": {
        "fs": {"command": "npx", "args": ["-y", "fs", "${HOME}/x"], "env": {"K": "${KEY}", "L": "lit"}, "cwd": "${workspaceFolder}"},
        "web": {"type": "http", "url": "https://h.example/mcp?q=${Q}", "headers": {"X-Key": "Bearer ${KEY}"}},
        "old": {"type": "sse", "url": "https://h.example/sse"},
        "any": {"url": "https://h.example/any"}}}"#;
    load("x.json", "plain", text).servers.into_iter().map(|loaded| loaded.spec.unwrap()).collect()
}

#[test]
fn s2_24_the_endpoint_in_every_shape() {
    let all: Vec<String> = Target::ALL
        .into_iter()
        .map(|target| format!("{}: {:#}", target.as_str(), endpoint(target, "kitbag", "http://h/mcp")))
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn s2_24_servers_with_the_references_each_target_reads() {
    let specs = examples();
    let all: Vec<String> = Target::ALL
        .into_iter()
        .map(|target| format!("{}: {:#}", target.as_str(), servers(target, &specs, Secrets::Written)))
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn s2_24_an_export_reads_back_as_the_same_server() {
    let specs = examples();
    for target in Target::ALL {
        let text = servers(target, &specs, Secrets::Written).to_string();
        let document = load("x.json", reader(target), &text);
        assert!(document.faults.is_empty(), "{:?}", document.faults);
        for spec in &specs {
            let again = document.servers.iter().find(|loaded| loaded.name == spec.name.as_str()).unwrap();
            let again = again.spec.as_ref().unwrap_or_else(|| panic!("{again:?}"));
            // Cursor has no word for a transport, the others none for "whatever answers".
            let spoken = match (target, spec.name.as_str()) {
                (Target::Cursor, "web" | "old") => continue,
                (Target::Cursor, _) => true,
                (_, name) => name != "any",
            };
            // References are respelt for Cursor; the text as written is what a fingerprint looks at.
            let respelt =
                target == Target::Cursor && spec.templates().iter().any(|(_, text)| !text.is_literal());
            if spoken && !respelt {
                assert_eq!(again.fingerprint(), spec.fingerprint(), "{target:?} {}", spec.name);
            }
            let pieces = |spec: &ServerSpec| {
                spec.templates().iter().map(|(key, text)| (*key, text.pieces().to_vec())).collect::<Vec<_>>()
            };
            assert_eq!(pieces(again), pieces(spec), "{target:?} {}", spec.name);
        }
    }
}

#[test]
fn s2_24_the_endpoint_reads_back() {
    for target in Target::ALL {
        let document =
            load("x.json", reader(target), &endpoint(target, "kitbag", "http://h/mcp").to_string());
        let spec = document.servers[0].spec.as_ref().unwrap();
        assert_eq!((spec.name.as_str(), spec.enabled), ("kitbag", true), "{target:?}");
        assert!(document.servers[0].faults.is_empty(), "{:?}", document.servers[0].faults);
    }
    assert!(Dialect::by_id(reader(Target::Qwen)).is_some());
}

#[test]
fn s2_24_a_masked_export_shows_no_secret() {
    let spec = spec(
        "plain",
        r#"{"mcpServers": {"a": {"url": "https://u:PLANTED@h/?token=PLANTED", "headers": {"K": "PLANTED"}, "authToken": "PLANTED"}}}"#,
    );
    let stdio = super::spec(
        "plain",
        r#"{"mcpServers": {"b": {"command": "c", "args": ["--token", "PLANTED"], "env": {"K": "PLANTED"}}}}"#,
    );
    for target in Target::ALL {
        let masked = servers(target, [&spec, &stdio], Secrets::Masked).to_string();
        assert!(!masked.contains("PLANTED") && masked.contains("***"), "{masked}");
        let written = servers(target, [&spec, &stdio], Secrets::Written).to_string();
        assert_eq!(written.matches("PLANTED").count(), 6, "{written}");
    }
}
