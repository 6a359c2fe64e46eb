use std::collections::BTreeMap;

use super::load;
use crate::config::export::{EndpointReach, ExportSecrets, ExportTarget, endpoint, servers};
use crate::model::{Auth, ServerSpec, ServerTarget, Template, Transport};
use crate::names::ServerName;

fn specs(text: &str) -> Vec<ServerSpec> {
    load("x.json", "kitbag", text).servers.into_iter().map(|loaded| loaded.spec.unwrap()).collect()
}

fn examples() -> Vec<ServerSpec> {
    specs(
        r#"{"mcpServers": {
        "fs": {"command": "npx", "args": ["-y", "fs", "${HOME}/x"], "env": {"K": "${KEY}", "L": "lit"}, "cwd": "${workspaceFolder}"},
        "web": {"type": "http", "url": "https://h.example/mcp?q=${Q}", "headers": {"X-Key": "Bearer ${KEY}"}},
        "old": {"type": "sse", "url": "https://h.example/sse"},
        "any": {"url": "https://h.example/any"}}}"#,
    )
}

/// Servers that use a thing each, and one that uses all.
fn telling() -> Vec<ServerSpec> {
    specs(
        r#"{"mcpServers": {
        "plain": {"command": "npx", "args": ["-y", "it's \"x\" \\ ü"], "env": {"L": "lit\nline"}},
        "same": {"command": "npx", "env": {"KEY": "${KEY}"}},
        "other": {"command": "npx", "env": {"KEY": "${OTHER}"}},
        "passed": {"command": "npx", "env_vars": ["KEY"]},
        "default": {"command": "npx", "args": ["${KEY:-d}"]},
        "cwd": {"command": "npx", "cwd": "/srv"},
        "folder": {"command": "npx", "args": ["${workspaceFolder}/x"]},
        "file": {"command": "npx", "envFile": "/srv/.env"},
        "dollar": {"command": "npx", "args": ["-c", "echo $HOME"]},
        "asked": {"command": "npx", "args": ["${input:token}"]},
        "off": {"command": "npx", "enabled": false},
        "include": {"command": "npx", "include": ["read", "list"]},
        "exclude": {"command": "npx", "exclude": ["delete"]},
        "pattern": {"command": "npx", "exclude": ["delete_*"]},
        "call": {"command": "npx", "timeout": 90},
        "short": {"command": "npx", "timeout": 1.5},
        "start": {"command": "npx", "connect_timeout": 20},
        "required": {"command": "npx", "required": true},
        "told": {"command": "npx", "description": "A program"},
        "http": {"type": "http", "url": "https://h.example/mcp"},
        "sse": {"type": "sse", "url": "https://h.example/events"},
        "any": {"url": "https://h.example/any"},
        "literal": {"type": "http", "url": "https://h.example/mcp", "headers": {"X-Key": "k"}},
        "header": {"type": "http", "url": "https://h.example/mcp", "headers": {"X-Key": "${KEY}"}},
        "bearer": {"type": "http", "url": "https://h.example/mcp", "authToken": "${KEY}"},
        "ours": {"command": "npx", "lazy": true, "concurrency": 2, "per_user": true, "mask_results": true},
        "kept": {"command": "npx", "autoApprove": ["x"], "_comment": "mine"}}}"#,
    )
}

/// What a server is, whatever the words: variables and headers in one map each.
fn meaning(spec: &ServerSpec) -> String {
    let pieces = |text: &Template| format!("{:?}", text.pieces());
    let link = match &spec.link {
        ServerTarget::Stdio(program) => {
            let passed = program.pass.iter().map(|name| (name.clone(), pieces(&Template::var(name))));
            let env = program.env.iter().map(|(name, text)| (name.clone(), pieces(text)));
            let env: BTreeMap<_, _> = env.chain(passed).collect();
            let texts = program.command.iter().chain(&program.args);
            let texts: Vec<_> = texts.map(pieces).collect();
            let others = [&program.env_file, &program.cwd].map(|text| text.as_ref().map(pieces));
            format!("{texts:?} {env:?} {others:?}")
        }
        ServerTarget::Remote(endpoint) => {
            let auth = match &endpoint.auth {
                Auth::None => None,
                Auth::Bearer(token) => Some(("Authorization".to_owned(), token.clone().after("Bearer "))),
                Auth::Header { name, value } => Some((name.clone(), value.clone())),
            };
            let headers: BTreeMap<_, _> = endpoint
                .headers
                .iter()
                .cloned()
                .chain(auth)
                .map(|(name, text)| (name, pieces(&text)))
                .collect();
            format!("{} {headers:?}", pieces(&endpoint.url))
        }
        ServerTarget::InProcess(_) => panic!("no file has one"),
    };
    let include: Vec<_> = spec.filter.include.iter().filter(|name| *name != "*").collect();
    let filter = (include, &spec.filter.exclude);
    format!("{link} {filter:?} {:?} {} {} {:?}", spec.waits, spec.enabled, spec.required, spec.description)
}

fn file(target: ExportTarget) -> String {
    format!("x.{}", target.format().as_str().to_lowercase())
}

#[test]
fn s2_24_the_endpoint_in_every_shape() {
    let name = ServerName::parse("kitbag").unwrap();
    let shown = |target: ExportTarget| {
        let exported = endpoint(target, &name, &EndpointReach::Address("http://h/mcp".to_owned()));
        format!("{}: {}{:?}", target.dialect().id, exported.text(target), exported.remarks)
    };
    let all: Vec<String> = ExportTarget::all().map(shown).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn s2_24_servers_with_the_references_each_target_reads() {
    let specs = examples();
    let shown = |target: ExportTarget| {
        format!("{}: {}", target.dialect().id, servers(target, &specs, ExportSecrets::Written).text(target))
    };
    insta::assert_snapshot!(ExportTarget::all().map(shown).collect::<Vec<_>>().join("\n"));
}

/// Either a remark says what is lost, or nothing is.
#[test]
fn f104_an_export_without_a_remark_reads_back_as_the_same_server() {
    for target in ExportTarget::all() {
        let id = target.dialect().id;
        let mut whole = 0;
        for spec in telling().iter().chain(&examples()) {
            let exported = servers(target, [spec], ExportSecrets::Written);
            let text = exported.text(target);
            let document = load(&file(target), id, &text);
            assert!(document.faults.is_empty(), "{id} {:?}\n{text}", document.faults);
            assert_eq!(document.servers.len(), exported.entries.len(), "{id} {text}");
            let Some(again) = document.servers.first() else {
                assert!(!exported.remarks.is_empty(), "{id} {}", spec.name);
                continue;
            };
            let read = again.spec.as_ref().unwrap_or_else(|| panic!("{id} {:?}\n{text}", again.faults));
            assert_eq!((&read.name, read.enabled), (&spec.name, spec.enabled), "{id} {text}");
            let (was, is) = (spec.transport(), read.transport());
            // Some programs have no word for a transport, the others none for "whatever answers".
            assert!(was == is || [was, is].contains(&Transport::Auto), "{id} {was:?} {is:?}");
            if exported.remarks.is_empty() {
                assert_eq!(meaning(read), meaning(spec), "{id} {}\n{text}", spec.name);
                whole += 1;
            }
        }
        assert!(0 < whole, "{id}: every export has a remark");
    }
}

#[test]
fn f104_every_program_is_told_apart_by_what_it_cannot_say() {
    let specs = telling();
    let said = |target: ExportTarget| {
        let exported = servers(target, &specs, ExportSecrets::Written);
        format!("{}:\n  {}", target.dialect().id, exported.remarks.join("\n  "))
    };
    insta::assert_snapshot!(ExportTarget::all().map(said).collect::<Vec<_>>().join("\n"));
}

#[test]
fn f57_lm_studio_gets_the_key_it_reads() {
    let target = ExportTarget::by_word("LM Studio").unwrap();
    let exported = servers(target, &examples(), ExportSecrets::Written).document(target);
    assert_eq!(exported["mcpServers"]["any"]["url"], "https://h.example/any");
    assert!(exported.get("mcp_servers").is_none(), "{exported}");
}

#[test]
fn s2_24_the_endpoint_reads_back() {
    let name = ServerName::parse("kitbag").unwrap();
    for target in ExportTarget::all() {
        let id = target.dialect().id;
        let exported = endpoint(target, &name, &EndpointReach::Address("http://h/mcp".to_owned()));
        let document = load(&file(target), id, &exported.text(target));
        let Some(loaded) = document.servers.first() else {
            assert!(!exported.remarks.is_empty(), "{id}");
            continue;
        };
        let spec = loaded.spec.as_ref().unwrap();
        assert_eq!((spec.name.as_str(), spec.enabled), ("kitbag", true), "{id}");
        assert!(loaded.faults.is_empty() && exported.remarks.is_empty(), "{id} {loaded:?}");
    }
}

#[test]
fn s2_24_a_masked_export_shows_no_secret() {
    let remote = super::spec(
        "plain",
        r#"{"mcpServers": {"a": {"url": "https://u:PLANTED@h/?token=PLANTED", "headers": {"K": "PLANTED"}, "authToken": "PLANTED"}}}"#,
    );
    let stdio = super::spec(
        "plain",
        r#"{"mcpServers": {"b": {"command": "c", "args": ["--token", "PLANTED"], "env": {"K": "PLANTED"}}}}"#,
    );
    for target in ExportTarget::all() {
        let masked = servers(target, [&remote, &stdio], ExportSecrets::Masked);
        let text = format!("{} {:?}", masked.text(target), masked.remarks);
        assert!(!text.contains("PLANTED") && text.contains("***"), "{text}");
        let written = servers(target, [&remote, &stdio], ExportSecrets::Written);
        let whole = if written.entries.len() == 2 { 6 } else { 2 };
        assert_eq!(written.text(target).matches("PLANTED").count(), whole, "{}", written.text(target));
    }
}

#[test]
fn f57_a_program_is_found_by_the_names_people_use() {
    let id = |word: &str| ExportTarget::by_word(word).map(|target| target.dialect().id);
    assert_eq!(id("claude"), Some("claude-code"));
    assert_eq!(id("Cursor"), Some("cursor"));
    assert_eq!(id("plain"), None);
}
