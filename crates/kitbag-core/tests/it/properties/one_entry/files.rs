//! Files of every shape, in the hand of many writers, tidy and odd.

use kitbag_core::config::Dialect;
use kitbag_core::config::document::ContainerKind;
use serde_json::Value;

use super::super::generate::Rng;

/// A file somebody may have.
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) text: String,
    pub(super) dialect: Option<&'static Dialect>,
    /// Nothing in it is odd, so that there is no reason to refuse.
    pub(super) is_tidy: bool,
}

const WAYS: [(&[&str], ContainerKind); 15] = [
    (&["mcpServers"], ContainerKind::Map),
    (&["context_servers"], ContainerKind::Map),
    (&["mcp_servers"], ContainerKind::Map),
    (&["mcp_servers"], ContainerKind::List),
    (&["mcp", "servers"], ContainerKind::Map),
    (&["mcp", "servers"], ContainerKind::List),
    (&["servers"], ContainerKind::Map),
    (&["servers"], ContainerKind::List),
    (&["mcpServers"], ContainerKind::List),
    (&["extensions"], ContainerKind::Map),
    (&["mcp"], ContainerKind::Map),
    (&["MCPServers"], ContainerKind::Map),
    (&[], ContainerKind::List),
    (&[], ContainerKind::Map),
    (&[], ContainerKind::Single),
];

const TIDY: [&str; 8] = [
    r#"{"command": "x", "args": ["1", "{,}"]}"#,
    r#"{ "url": "https://x.example/mcp" }"#,
    "{\n      \"command\" : \"x\", // why, {\n      \"env\": {\"A\": \"${B}\"},\n    }",
    r#"{"command": "x", "enabled": true}"#,
    r#"{"command": "x", "disabled": false,}"#,
    r#"{"command": "x", "n": 1.50, "big": 12345678901234567890123, "x": 1, "x": 2}"#,
    r#"{"command": "x", /* "a": { */ "timeout": 30, "description": "a \"b\" é"}"#,
    "{\"command\": \"x\",\r\n\"args\": [\r\n]}",
];
const ODD: [&str; 12] = [
    "1",
    "null",
    "{}",
    "[]",
    "\"text\"",
    r#"{"args": []}"#,
    r#"{"enabled": false}"#,
    r#"{"command": "x", "enabled": false, "disabled": true}"#,
    r#"{"command": "x", "enabled": true, "enabled": false}"#,
    r#"{"transport": {"disabled": true, "type": "stdio"}, "command": "x"}"#,
    r#"{"httpUrl": "https://x.example/mcp", "timeout": 5000}"#,
    r#"{"command": "x", "n": 1e400, "name": "inner"}"#,
];
const NAMES: [&str; 9] = ["a", "b", "c d", "é漢", "x\"y", "io.github.ada/notes", "😀", "time", "tool.s"];
const ODD_NAMES: [&str; 9] = ["a", "a", "_note", "", " a", "command", "mcpServers", "servers", "x-y"];
/// What else stands in such files.
const BESIDE: [&str; 3] = [r#""theme": "dark""#, r#""n": [1.0,  {"x": null}]"#, r#""$schema": "s""#];
const ODD_BESIDE: [&str; 10] = [
    r#""mcp": {"allowed": ["a"], "enabled": true}"#,
    r#""mcp": {"excluded": ["a", "b"]}"#,
    r#""extensions": {"look": {"y": 1}}"#,
    r#""mcpServers": {}"#,
    r#""mcpServers": {"late": {"command": "l"}}"#,
    r#""servers": {"a": {"command": "other"}, "s": {"command": "s"}}"#,
    r#""servers": [{"name": "b", "url": "https://b.example/mcp"}]"#,
    r#""tools": {"a_b": false}"#,
    r#""inputs": [{"id": "k", "type": "promptString"}]"#,
    r#""name": "whole", "enabled": true"#,
];

pub(super) fn file(rng: &mut Rng) -> File {
    let is_tidy = !rng.one_in(3);
    let (way, kind) = rng.pick(&WAYS);
    let one_line = rng.one_in(4);
    let gap = |rng: &mut Rng| -> &str {
        if one_line {
            rng.pick(&["", " ", " /* in, { */"])
        } else {
            rng.pick(&["", " ", "\n", "\n    ", "\n\t", " /* in,\n } */", " // to \"the\" end,\n"])
        }
    };
    let mut names: Vec<&str> = Vec::new();
    while names.len() < rng.below(6) {
        let name = if !is_tidy && rng.one_in(4) { rng.pick(&ODD_NAMES) } else { rng.pick(&NAMES) };
        if !is_tidy || !names.contains(&name) {
            names.push(name);
        }
    }
    if kind == ContainerKind::Single || is_tidy && way.is_empty() {
        names.resize(names.len().max(1), "a"); // A root without servers is none of these shapes.
    }
    let body = |rng: &mut Rng| -> String {
        let body = if !is_tidy && rng.one_in(3) { rng.pick(&ODD) } else { rng.pick(&TIDY) };
        if one_line { body.replace("// why, {", "").replace(['\r', '\n'], "") } else { body.to_owned() }
    };
    let member = |rng: &mut Rng, name: &str, body: String| match kind {
        ContainerKind::Map => format!("{}{}:{}{body}", Value::from(name), gap(rng), rng.pick(&["", " "])),
        ContainerKind::List | ContainerKind::Single if !body.starts_with('{') => body,
        ContainerKind::List | ContainerKind::Single => {
            let key = if !is_tidy && rng.one_in(4) { "serverName" } else { "name" };
            let rest = body[1..].trim_start();
            format!(
                "{{\"{key}\": {}{}{rest}",
                Value::from(name),
                if rest.starts_with('}') { "" } else { ", " }
            )
        }
    };
    let mut text = if kind == ContainerKind::Single {
        let (name, body) = (names[0], body(rng));
        if rng.one_in(3) { body } else { member(rng, name, body) }
    } else {
        let mut inside = String::new();
        for (index, name) in names.iter().enumerate() {
            let body = body(rng);
            let comma = if index + 1 < names.len() || rng.one_in(4) { "," } else { "" };
            inside += &format!("{}{}{}{comma}", gap(rng), member(rng, name, body), gap(rng));
        }
        let (open, close) = if kind == ContainerKind::Map { ('{', '}') } else { ('[', ']') };
        format!("{open}{inside}{}{close}", gap(rng))
    };
    for (index, key) in way.iter().enumerate().rev() {
        let beside = |rng: &mut Rng| -> Option<&str> {
            let odd = !is_tidy && index == 0 && rng.one_in(2);
            rng.one_in(2).then(|| if odd { rng.pick(&ODD_BESIDE) } else { rng.pick(&BESIDE) })
        };
        let before = beside(rng).map(|pair| format!("{pair},{}", gap(rng))).unwrap_or_default();
        let after = beside(rng).map(|pair| format!(",{}{pair}", gap(rng))).unwrap_or_default();
        let comma = if rng.one_in(4) { "," } else { "" };
        text = format!(
            "{{{}{before}{}:{}{text}{after}{comma}{}}}",
            gap(rng),
            Value::from(*key),
            gap(rng),
            gap(rng)
        );
    }
    let head = rng.pick(&["", "", "\u{feff}", "// top, {\n", "/* top */ "]);
    let tail = rng.pick(&["", "\n", " // bye"]);
    text = format!("{head}{text}{tail}");
    if !one_line && rng.one_in(4) {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let dialects = kitbag_core::config::ALL_DIALECTS;
    let dialect = rng.one_in(2).then(|| &dialects[rng.below(dialects.len())]);
    File { path: rng.pick(&["x.json", "x.jsonc", "time.json"]), text, dialect, is_tidy }
}
