use std::path::Path;
use std::time::Duration;

use super::{load, one, said, spec, written};
use crate::config::dialect::{ALL, BareUrl, TimeUnit};
use crate::config::{Dialect, Reading, read};
use crate::model::{Limits, ServerSpec, Transport};

#[test]
fn s1_12_dialects_a_b_c_load() {
    let check = |dialect: &str, text: &str, want: &str| {
        let document = load("x.json", "", text);
        assert_eq!(document.dialect.id, dialect, "{text}");
        assert_eq!(written(document.servers[0].spec.as_ref().unwrap()), want, "{text}");
    };
    check("plain", r#"{"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}"#, "stdio command=npx args=x");
    check("plain", r#"{"mcpServers": {"a": {"url": "http://h/"}}}"#, "auto url=http://h/");
    check(
        "elysia",
        r#"{"servers": [{"name": "a", "type": "sse", "url": "http://h/"}]}"#,
        "sse url=http://h/",
    );
    check("plain", r#"{"a": {"url": "http://h/", "headers": {"K": "v"}}}"#, "auto url=http://h/ headers=v");
}

#[test]
fn s1_12_the_list_of_elysia() {
    let check = |text: &str, on: bool, want: &str| {
        let spec = spec("elysia", text);
        assert_eq!((spec.enabled, written(&spec).as_str()), (on, want), "{text}");
        spec
    };
    let off = r#"{"servers": [{"name": "a", "server_script_path": "s.py"}]}"#;
    check(off, false, "stdio command=python args=s.py");
    assert_eq!(
        said(&one("elysia", off)),
        ["note x.json:1:14: a: switched off: Elysia wants \"enabled\": true (add \"enabled\": true)"]
    );
    check(r#"{"servers": [{"name": "a", "url": "http://h/", "enabled": true}]}"#, true, "auto url=http://h/");
    let asked = check(
        r#"{"servers": [{"name": "a", "enabled": true, "type": "sse", "url": "http://${H}/",
            "headers": {"Authorization": "Bearer ${input:key}", "X": "${X}"},
            "inputs": [{"type": "promptString", "id": "key", "description": "the key", "password": true}]}]}"#,
        true,
        "sse url=http://${H}/ headers=Bearer ${input:key} headers=${X}",
    );
    assert_eq!((asked.inputs[0].id.as_str(), asked.inputs[0].password), ("key", true));
    assert!(asked.templates().iter().all(|(_, text)| !text.is_literal()));
}

#[test]
fn s2_12_one_file_a_server() {
    let check = |text: &str, want: &str| {
        let document = load("servers/notes.json", "", text);
        let loaded = &document.servers[0];
        let spec = loaded.spec.as_ref().unwrap_or_else(|| panic!("{loaded:?}"));
        let waits = spec.waits.call.map_or(0, |wait| wait.as_millis());
        let got = format!("{} {} {} {waits}", loaded.name, spec.enabled, written(spec));
        assert_eq!(got, want, "{text}");
    };
    check(
        r#"{"name": "n", "description": "d", "command": "c", "args": ["a"], "env": {"E": "1"}, "working_dir": "/w", "timeout": 600}"#,
        "n true stdio command=c args=a env=1 cwd=/w 600000",
    );
    check(r#"{"command": "c", "enabled": false}"#, "notes false stdio command=c 0");
    check(
        r#"{"name": "n", "transport": "sse", "url": "http://h/", "timeout": 1.5}"#,
        "n true sse url=http://h/ 1500",
    );
    check(r#"{"name": "n", "mode": "sse", "url": "http://h/"}"#, "n true sse url=http://h/ 0");
    check(r#"{"name": "n", "mode": "stdio", "command": "c"}"#, "n true stdio command=c 0");
    check(
        r#"{"name": "n", "transport": "streamable-http", "url": "http://h/", "headers": {"K": "v"}}"#,
        "n true http url=http://h/ headers=v 0",
    );
    check(r#"{"mcpServers": {"other": {"command": "c"}}}"#, "other true stdio command=c 0");
    let broken = load("servers/bad.json", "", "{\"command\": \"c\",\n  oops}");
    assert!(broken.servers.is_empty());
    let fault = broken.faults[0].to_string();
    assert!(fault.starts_with("servers/bad.json:2:3: not valid JSON"), "{fault}");
}

#[test]
fn s3_1_aidk_forms() {
    let check = |text: &str, want: &str| {
        let document = load("x.json", "", text);
        let spec = document.servers[0].spec.as_ref().unwrap_or_else(|| panic!("{document:?}"));
        assert_eq!(format!("{} {}", spec.name, written(spec)), want, "{text}");
    };
    let full = |transport: &str, connection: &str| {
        format!(r#"{{"serverName": "s", "transport": "{transport}", "connection": {connection}}}"#)
    };
    check(
        &full("stdio", r#"{"command": "c", "args": ["a"], "env": {"E": "1"}}"#),
        "s stdio command=c args=a env=1",
    );
    check(&full("sse", r#"{"url": "http://h/"}"#), "s sse url=http://h/");
    check(&full("websocket", r#"{"url": "http://h/"}"#), "s http url=http://h/");
    check(
        r#"{"serverName": "s", "transport": "sse", "connection": {"url": "http://h/"}, "auth": {"type": "bearer", "token": "t"}}"#,
        "s sse url=http://h/ auth=t",
    );
    check(
        r#"{"serverName": "s", "transport": "sse", "connection": {"url": "http://h/"}, "auth": {"type": "api_key", "token": "t"}}"#,
        "s sse url=http://h/ auth=t",
    );
    check(r#"{"mcpServers": {"s": {"command": "c", "args": ["a"]}}}"#, "s stdio command=c args=a");
    check(r#"{"mcpServers": {"s": {"url": "http://h/"}}}"#, "s auto url=http://h/");
}

#[test]
fn s3_1_the_missing_field_is_named() {
    let check = |transport: &str, want: &str| {
        let text = format!(r#"{{"serverName": "s", "transport": "{transport}", "connection": {{"x": 1}}}}"#);
        let loaded = one("aidk", &text);
        assert!(loaded.spec.is_none());
        assert!(said(&loaded).iter().any(|fault| fault.contains(want)), "{:?}", loaded.faults);
    };
    check("stdio", "transport stdio needs a \"command\"");
    check("sse", "transport sse needs a \"url\"");
    check("websocket", "transport http needs a \"url\"");
    let text = r#"{"serverName": "s", "transport": "sse", "connection": {"url": "http://h/"}, "auth": {"type": "bearer"}}"#;
    assert!(said(&one("aidk", text))[0].contains("auth of type bearer needs a \"token\""));
}

#[test]
fn timeouts_by_dialect() {
    for dialect in ALL {
        let text = |number: u32| {
            let entry = format!(r#"{{"name": "a", "command": "c", "enabled": true, "timeout": {number}}}"#);
            document_of(dialect.id, &entry)
        };
        let wait = |number| spec(dialect.id, &text(number)).waits.call.unwrap();
        let (small, large) = match dialect.timeout {
            TimeUnit::Millis => (Duration::from_millis(60), Duration::from_secs(2)),
            TimeUnit::Seconds => (Duration::from_secs(60), Duration::from_secs(2000)),
            TimeUnit::Guess => (Duration::from_secs(60), Duration::from_secs(2)),
        };
        assert_eq!((wait(60), wait(2000)), (small, large), "{}", dialect.id);
        let remarks = said(&one(dialect.id, &text(60)));
        assert_eq!(remarks.is_empty(), dialect.timeout == TimeUnit::Seconds, "{}: {remarks:?}", dialect.id);
    }
}

#[test]
fn timeouts_by_key() {
    let check = |pair: &str, want: Option<u64>, fault: Option<&str>| {
        let loaded = one("kitbag", &format!(r#"{{"mcpServers": {{"a": {{"command": "c", {pair}}}}}}}"#));
        let waits = loaded.spec.as_ref().map(|spec| spec.waits);
        let millis = waits.and_then(|waits| waits.call.or(waits.connect)).map(|wait| wait.as_millis() as u64);
        assert_eq!(millis, want, "{pair}");
        let said = said(&loaded);
        assert_eq!(said.len(), usize::from(fault.is_some()), "{said:?}");
        assert!(said.iter().all(|said| said.contains(fault.unwrap_or_default())), "{said:?}");
    };
    check(r#""tool_timeout_sec": 5"#, Some(5_000), None);
    check(r#""toolTimeoutMs": 5000"#, Some(5_000), None);
    check(r#""startup_timeout_ms": 5000"#, Some(5_000), None);
    check(r#""timeout": {"request": 5000}"#, Some(5_000), None);
    check(r#""timeout": {"startup": 5000}"#, Some(5_000), None);
    check(r#""timeout": "5s""#, Some(5_000), None);
    check(r#""timeout": 0"#, None, None);
    check(
        r#""timeout": 60000"#,
        Some(60_000_000),
        Some("counts seconds here: 60000 is 16.7 hours (write 60 if"),
    );
    check(
        r#""toolTimeoutMs": 30"#,
        Some(30),
        Some("counts milliseconds here: 30 is less than a second (write 30000"),
    );
    check(r#""timeout": "60""#, Some(60_000), Some("is a string (write 60 without quotes)"));
    check(r#""timeout": -1"#, None, Some("\"timeout\" cannot be -1"));
    check(r#""timeout": 1e300"#, None, Some("\"timeout\" cannot be "));
    check(r#""timeout": []"#, None, Some("\"timeout\" must be a number, found a list"));
    check(r#""timeout": "soon""#, None, Some("\"timeout\" must be a number, found a string"));
}

#[test]
fn bare_urls_by_dialect() {
    for dialect in ALL {
        let entry = r#"{"name": "a", "url": "http://h/", "enabled": true}"#;
        let want = match dialect.bare_url {
            BareUrl::Http => Transport::Http,
            BareUrl::Sse => Transport::Sse,
            BareUrl::Auto => Transport::Auto,
        };
        assert_eq!(spec(dialect.id, &document_of(dialect.id, entry)).transport(), want, "{}", dialect.id);
        let said = document_of(dialect.id, r#"{"name": "a", "type": "sse", "url": "http://h/"}"#);
        assert_eq!(spec(dialect.id, &said).transport(), Transport::Sse, "{}", dialect.id);
    }
    assert_eq!(
        spec("qwen", r#"{"mcpServers": {"a": {"httpUrl": "http://h/"}}}"#).transport(),
        Transport::Http
    );
    let gemini =
        |keys: &str| spec("gemini", &format!(r#"{{"mcpServers": {{"a": {{{keys}}}}}}}"#)).transport();
    assert_eq!(gemini(r#""url": "http://h/""#), Transport::Auto);
    assert_eq!(gemini(r#""url": "http://h/", "type": "http""#), Transport::Http);
    assert_eq!(spec("cline", r#"{"mcpServers": {"a": {"url": "http://h/"}}}"#).transport(), Transport::Sse);
    assert_eq!(spec("codex", r#"{"mcp_servers": {"a": {"url": "http://h/"}}}"#).transport(), Transport::Http);
}

#[test]
fn on_unless_the_dialect_says_otherwise() {
    for dialect in ALL {
        let enabled = |pairs: &str| {
            spec(dialect.id, &document_of(dialect.id, &format!(r#"{{"name": "a", "command": "c"{pairs}}}"#)))
                .enabled
        };
        assert_eq!(enabled(""), dialect.enabled, "{}", dialect.id);
        assert_eq!(enabled(""), dialect.id != "elysia");
        assert!(enabled(r#", "enabled": true"#) && enabled(r#", "disabled": false"#));
        assert!(!enabled(r#", "enabled": false"#) && !enabled(r#", "disabled": true"#));
        assert!(!enabled(r#", "enabled": true, "disabled": true"#));
    }
}

#[test]
fn counts_are_whole_and_positive() {
    let check = |value: &str, want: Option<u32>, faults: usize| {
        let loaded = one(
            "plain",
            &format!(r#"{{"mcpServers": {{"a": {{"command": "c", "concurrency": {value}}}}}}}"#),
        );
        assert_eq!(loaded.spec.as_ref().and_then(|spec| spec.concurrency), want, "{value}");
        assert_eq!(loaded.faults.len(), faults, "{value}");
    };
    check("4", Some(4), 0);
    check("null", None, 0);
    check("0", None, 1);
    check("-1", None, 1);
    check("1.5", None, 1);
    check("\"many\"", None, 1);
}

#[test]
fn the_reason_survives_a_flood_of_remarks() {
    let slips: String = (0..400).map(|_| r#""comand": 1, "#).collect();
    let document = load(
        "x.json",
        "plain",
        &format!(r#"{{"mcpServers": {{"z": {{"x": 1}}, "a": {{{slips} "type": "sse"}}}}}}"#),
    );
    for loaded in &document.servers {
        assert!(
            loaded.faults.iter().any(|fault| fault.severity == crate::Severity::Error),
            "{}",
            loaded.name
        );
    }
    assert!(
        document.faults[0].message.ends_with("more faults in this file are not shown"),
        "{:?}",
        document.faults
    );
}

#[test]
fn an_input_is_kept_by_those_who_ask_for_it() {
    let document = load(
        "x.json",
        "vscode",
        r#"{"inputs": [{"id": "k"}, {"id": "l"}], "servers":
        {"a": {"command": "c", "args": ["${input:k}", "${input:k}"]}, "b": {"command": "c"}}}"#,
    );
    let ids = |index: usize| {
        let spec = document.servers[index].spec.as_ref().unwrap();
        spec.inputs.iter().map(|input| input.id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((ids(0), ids(1)), (vec!["k"], vec![]));
}

#[test]
fn f58_what_claude_code_leaves_off_in_a_project_is_off_there() {
    let text = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}},
        "projects": {"/p": {"mcpServers": {"c": {"command": "x"}}, "disabledMcpServers": ["a", "c"]}}}"#;
    let (limits, dialect) = (Limits::default(), Dialect::by_id("claude-code"));
    let states = |folder: &str| {
        let reading = Reading { dialect, workspace: Some(Path::new(folder)), limits: &limits };
        let specs = read(Path::new("x.json"), text, reading).servers.into_iter();
        let state = |spec: ServerSpec| format!("{}={}", spec.name, spec.enabled);
        specs.filter_map(|loaded| loaded.spec).map(state).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(states("/p"), "a=false b=true c=false");
    assert_eq!(states("/p/deeper"), "a=true b=true");
}

/// An entry in the shape a program writes; the entry carries its name where the shape wants it inside.
fn document_of(dialect: &str, entry: &str) -> String {
    use crate::config::dialect::{ContainerShape, Dialect};
    let under = |path: &[&str], inner: String| {
        path.iter().rev().fold(inner, |inner, key| format!(r#"{{"{key}": {inner}}}"#))
    };
    match Dialect::by_id(dialect).unwrap().shapes[0] {
        ContainerShape::Map(path) => under(path, format!(r#"{{"a": {entry}}}"#)),
        ContainerShape::List(path) => under(path, format!("[{entry}]")),
        ContainerShape::Bare => format!(r#"{{"a": {entry}}}"#),
        ContainerShape::Single => entry.to_owned(),
    }
}
