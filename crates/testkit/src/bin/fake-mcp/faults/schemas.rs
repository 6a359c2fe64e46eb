//! Schemas that cost too much to read, and schemas that want something fetched.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::catalog::{Catalog, Listed, tool};
use super::{Entry, N};

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "c08",
        modes: &["deep", N],
        about: "schema bombs beside `tree`, which is recursive and good; deep: one more, N (10000) levels deep",
        make: |modes| {
            let deep = modes.has("deep").then(|| abyss(modes.number(10_000)));
            Arc::new(Catalog::new(bombs().into_iter().chain(deep).chain([Listed::plain("plain")])))
        },
    },
    Entry {
        label: "c09",
        modes: &[N],
        about: "`$ref` to http://127.0.0.1:N (9), to a file and to a path beside it; `local…` stay inside",
        make: |modes| Arc::new(Catalog::new(references(modes.number(9)))),
    },
];

/// Two levels of a message each; with what is around it the message stays below 128.
const SAFE_LEVELS: usize = 50;

fn bombs() -> Vec<Listed> {
    let text = |pattern: &str| {
        let properties = json!({ "text": { "type": "string", "pattern": pattern } });
        json!({ "type": "object", "properties": properties })
    };
    let around = json!({
        "ahead": { "type": "string", "pattern": "^(?=.*[0-9])(?!admin).+$" },
        "behind": { "type": "string", "pattern": "(?<=a)b(?<!c)" },
        "back": { "type": "string", "pattern": r"^(a+)\1$" },
    });
    let tools = [
        tool("tree", "Takes a tree and gives it back", &tree()),
        tool("fan_out", "2^30 schemas once its references are followed", &fan_out(30)),
        tool("loop", "References that lead only to each other", &circle()),
        tool("nested", "As deep as a careful client reads", &nested(SAFE_LEVELS)),
        tool("slow_pattern", "A pattern that backtracks for ever", &text("(a+)+$")),
        tool("huge_pattern", "A pattern that grows when compiled", &text("^((a{1,100}){1,100}){1,100}$")),
        tool(
            "look_around",
            "Patterns that need backtracking",
            &json!({ "type": "object", "properties": around }),
        ),
    ];
    tools.iter().map(Listed::new).chain([wide(50_000)]).collect()
}

fn tree() -> Value {
    let children = json!({ "type": "array", "items": { "$ref": "#/$defs/node" } });
    let properties = json!({ "value": { "type": "string" }, "children": children });
    let node = json!({ "type": "object", "properties": properties, "required": ["value"] });
    json!({
        "type": "object", "properties": { "root": { "$ref": "#/$defs/node" } }, "required": ["root"],
        "$defs": { "node": node },
    })
}

/// Each level names the next one twice.
fn fan_out(levels: usize) -> Value {
    let level = |number: usize| {
        let next = json!({ "$ref": format!("#/$defs/level{}", number + 1) });
        (format!("level{number}"), json!({ "type": "object", "properties": { "left": next, "right": next } }))
    };
    let mut all: Map<_, _> = (0..levels).map(level).collect();
    all.insert(format!("level{levels}"), json!({ "type": "string" }));
    json!({ "type": "object", "properties": { "top": { "$ref": "#/$defs/level0" } }, "$defs": all })
}

fn circle() -> Value {
    let defs = json!({
        "a": { "$ref": "#/$defs/b" }, "b": { "allOf": [{ "$ref": "#/$defs/a" }] }, "self": { "$ref": "#/$defs/self" },
    });
    let properties = json!({ "a": { "$ref": "#/$defs/a" }, "self": { "$ref": "#/$defs/self" } });
    json!({ "type": "object", "properties": properties, "$defs": defs })
}

fn nested(levels: usize) -> Value {
    let inside = |inner: Value, _| json!({ "type": "object", "properties": { "in": inner } });
    (0..levels).fold(json!({ "type": "object" }), inside)
}

/// Put together as text, like the next one: as values they cost more time and memory than a client may take.
fn wide(count: usize) -> Listed {
    let properties: Vec<_> =
        (1..=count).map(|number| format!("\"p{number:05}\":{{\"type\":\"string\"}}")).collect();
    written("wide", "50000 properties", &properties.join(","))
}

fn abyss(levels: usize) -> Listed {
    let (open, close) = ("{\"items\":".repeat(levels), "}".repeat(levels));
    written("abyss", "Too deep", &format!("\"in\":{open}{{}}{close}"))
}

/// `properties` is JSON without the braces around it.
fn written(name: &str, about: &str, properties: &str) -> Listed {
    let definition = format!(
        "{{\"name\":\"{name}\",\"description\":\"{about}\",\"inputSchema\":{{\"type\":\"object\",\
         \"properties\":{{{properties}}}}}}}"
    );
    Listed { name: name.into(), definition }
}

fn references(port: usize) -> Vec<Listed> {
    let away = format!("http://127.0.0.1:{port}");
    let to = |target: &str| json!({ "type": "object", "properties": { "a": { "$ref": target } } });
    let with = |mut schema: Value, key: &str, value: Value| {
        schema[key] = value;
        schema
    };
    let defs = || json!({ "word": { "type": "string", "$anchor": "word" } });
    let within = || with(to("#/$defs/word"), "$defs", defs());
    let tools = [
        tool("local", "A reference inside", &within()),
        tool("local_anchor", "A reference to an anchor inside", &with(to("#word"), "$defs", defs())),
        tool(
            "local_id",
            "Inside, below an address of its own",
            &with(within(), "$id", json!(format!("{away}/id"))),
        ),
        tool("ext", "A reference to a server", &to(&format!("{away}/ext.json#/$defs/a"))),
        tool("ext_file", "A reference to a file", &to("file:///etc/passwd")),
        tool("ext_relative", "A reference to a path", &to("other.json#/$defs/a")),
        tool(
            "ext_id",
            "A path below an address",
            &with(to("other.json"), "$id", json!(format!("{away}/base/"))),
        ),
        tool(
            "ext_meta",
            "A dialect to be fetched",
            &with(within(), "$schema", json!(format!("{away}/meta"))),
        ),
        tool(
            "ext_dynamic",
            "A dynamic reference",
            &json!({
                "type": "object", "properties": { "a": { "$dynamicRef": format!("{away}/dynamic#x") } },
            }),
        ),
        tool(
            "ext_deep",
            "Hidden in a definition",
            &with(
                within(),
                "$defs",
                json!({
                    "word": { "anyOf": [{ "type": "string" }, { "$ref": format!("{away}/deep") }] },
                }),
            ),
        ),
    ];
    tools.iter().map(Listed::new).collect()
}
