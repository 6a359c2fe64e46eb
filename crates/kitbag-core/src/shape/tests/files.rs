//! From the text of `kitbag.toml` to what a model sees.

use std::path::Path;

use serde_json::Map;

use super::*;
use crate::config::{Reading, read, settings};
use crate::model::ServerSpec;

/// A server as a file defines it, and as `kitbag.toml` changes it.
fn spec(toml: &str) -> ServerSpec {
    let limits = Limits::default();
    let text = r#"{"mcpServers": {"fs": {"command": "x", "exclude_tools": []}}}"#;
    let mut document =
        read(Path::new("mcp.json"), text, Reading { dialect: None, workspace: None, limits: &limits });
    let mut spec = document.servers.remove(0).spec.unwrap();
    let (settings, faults) = settings::read(Path::new("kitbag.toml"), toml, &limits);
    assert!(!settings::is_broken(&faults), "{faults:?}");
    for (name, overrides) in &settings.servers {
        assert_eq!(name, "fs");
        spec.apply(&overrides.value);
    }
    spec
}

fn tools() -> [Value; 3] {
    let write = json!({"name": "write_file", "description": "Writes", "inputSchema": {"type": "object",
        "required": ["path", "text"], "properties": {"path": {"type": "string"}, "text": {"type": "string"},
        "mode": {"type": "integer"}, "sync": {"type": "boolean"}}}});
    [
        json!({"name": "read_file", "description": "Reads", "inputSchema": {"type": "object"}}),
        write,
        json!({"name": "delete_file", "description": "Deletes", "inputSchema": {"type": "object"}}),
    ]
}

/// The view of this server's tools, and what is wrong with its rules.
fn seen(toml: &str) -> (View, Vec<Fault>) {
    let spec = spec(toml);
    let ((shaper, mut faults), (approvals, more)) = (shaper(&spec), approvals(&spec));
    faults.extend(more);
    let mut scene = Scene::of(Snapshot::default().with_all([part_of("fs", &tools())]));
    scene.shapers.insert(server("fs"), shaper);
    scene.approvals.insert(server("fs"), approvals);
    let view = scene.view();
    check_names(&view);
    (view, faults)
}

#[test]
fn nothing_said_changes_nothing() {
    let (view, faults) = seen("");
    assert_eq!(faults, []);
    assert_eq!(listed(&view), ["mcp_fs_delete_file", "mcp_fs_read_file", "mcp_fs_write_file"]);
    for shown in view.tools() {
        assert_eq!(
            Some(&shown.tool),
            view.snapshot().tool(&server("fs"), shown.tool.name.as_str()).map(|tool| &**tool)
        );
        assert!(shown.trail.iter().all(|step| step.outcome == RuleOutcome::Kept));
    }
}

#[test]
fn s3_5_filters_of_files() {
    let check = |toml: &str, names: &[&str], faulty: bool| {
        let (view, faults) = seen(&format!("[servers.fs]\n{toml}"));
        let own: Vec<&str> = view.tools().iter().map(|shown| shown.tool.name.as_str()).collect();
        assert_eq!(own, names, "{toml}");
        assert_eq!(!faults.is_empty(), faulty, "{toml}: {faults:?}");
        for fault in &faults {
            assert_eq!((fault.stage, fault.kind), (Stage::Shape, FaultKind::WrongValue));
            assert_eq!(fault.server, Some(server("fs")));
        }
        for gone in ["read_file", "write_file", "delete_file"].iter().filter(|name| !names.contains(name)) {
            for text in
                [(*gone).to_owned(), format!("mcp_fs_{gone}"), format!("fs/{gone}"), format!("MCP-fs-{gone}")]
            {
                assert_eq!(target(&view, &text), None, "{toml}: {text}");
            }
        }
    };
    check("include = [\"read_*\"]", &["read_file"], false);
    check("exclude = [\"delete_*\"]", &["read_file", "write_file"], false);
    check("include = [\"*\"]\nexclude = [\"delete_*\"]", &["read_file", "write_file"], false);
    check("include = [\"delete_file\"]\nexclude = [\"*_file\"]", &[], false);
    // What cannot be read lets nothing through, with one word about each.
    check("include = [\"read_[\"]", &[], true);
    check("exclude = [\"delete_[\"]", &[], true);
    check("include = [\"*\"]\nexclude = [\"{\"]", &[], true);
    check("include = [\"read_file\", \"[\"]", &[], true);
}

#[test]
fn s3_9_s2_17_names_category_and_tag_of_files() {
    let (view, faults) = seen(
        r#"
[servers.fs]
names = "bare"
category = "Files"
tag = "[Filesystem MCP] "
[servers.fs.tools.write_file]
category = "Danger"
description = "Puts text into a file"
[servers.fs.tools.delete_file]
name = "remove_it"
"#,
    );
    assert_eq!((faults, view.faults()), (vec![], &[][..]));
    let rows: Vec<_> = view
        .tools()
        .iter()
        .map(|shown| {
            (shown.name.as_str(), shown.tool.category.as_deref().unwrap(), shown.tool.description.as_str())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("read_file", "Files", "[Filesystem MCP] Reads"),
            ("remove_it", "Files", "[Filesystem MCP] Deletes"),
            ("write_file", "Danger", "[Filesystem MCP] Puts text into a file"),
        ]
    );
    assert_eq!(target(&view, "remove_it").as_deref(), Some("fs/delete_file"));
}

#[test]
fn s3_6_arguments_examples_and_options_of_files() {
    let (view, faults) = seen(
        r#"
[servers.fs.tools.write_file]
args.path = { rename = "file", describe = "which file", default = "/tmp/x" }
args.text = { rename = "content" }
args.mode = { pin = 420, rename = "never", describe = "never" }
args.sync = { default = true, hide = true }
examples = [{ content = "hello" }]
options.openai.function.strict = true
"#,
    );
    assert_eq!((faults, view.faults()), (vec![], &[][..]));
    let write = &view.tools()[2];
    assert_eq!(
        write.tool.input.to_string(),
        json!({"type": "object", "required": ["content"], "properties": {
            "file": {"type": "string", "description": "which file", "default": "/tmp/x"},
            "content": {"type": "string"}}})
        .to_string()
    );
    assert_eq!(write.examples(), [json!({"content": "hello"})]);
    assert_eq!(Value::Object(write.tool.options.clone()), json!({"openai": {"function": {"strict": true}}}));
    let sent = |given: Value| {
        let mut given: Map<String, Value> = given.as_object().unwrap().clone();
        restore(&write.tool.undo, &mut given);
        let sent = Value::Object(given);
        assert_eq!(write.own_input(&Limits::default()).as_ref().unwrap().check(&sent), []);
        sent
    };
    assert_eq!(
        sent(json!({"content": "hello"})),
        json!({"text": "hello", "path": "/tmp/x", "mode": 420, "sync": true})
    );
    assert_eq!(
        sent(json!({"file": "/y", "content": "hello", "mode": 1, "sync": false})),
        json!({"path": "/y", "text": "hello", "mode": 420, "sync": true})
    );
}

#[test]
fn marks_of_files() {
    let marks = |toml: &str| -> Vec<(bool, bool)> {
        let (view, _) = seen(&format!("[servers.fs]\n{toml}"));
        view.tools()
            .iter()
            .map(|shown| (shown.tool.marks.repeatable, shown.access.asks().is_some()))
            .collect()
    };
    assert_eq!(marks(""), [(false, false); 3]);
    assert_eq!(marks("idempotent = [\"write_*\"]"), [(false, false), (false, false), (true, false)]);
    assert_eq!(marks("read_only = [\"read_*\"]"), [(false, false), (true, false), (false, false)]);
    assert_eq!(marks("approve = [\"delete_*\"]"), [(false, true), (false, false), (false, false)]);
    // What cannot be read makes nothing safer than it is.
    assert_eq!(marks("idempotent = [\"*\", \"[\"]"), [(false, false); 3]);
    assert_eq!(marks("approve = [\"delete_[\"]"), [(false, true); 3]);
}

#[test]
fn s3_7_a_mistake_in_a_file_costs_one_tool() {
    let check = |toml: &str, rule: &str, words: &[&str]| {
        let (view, faults) = seen(&format!("[servers.fs.tools.write_file]\n{toml}"));
        assert_eq!(faults, [], "{toml}");
        assert_eq!(listed(&view), ["mcp_fs_delete_file", "mcp_fs_read_file"], "{toml}");
        check_fault(
            only(view.faults()),
            FaultKind::RuleFailed,
            Severity::Error,
            "write_file",
            &[rule, "write_file"],
        );
        check_fault(only(view.faults()), FaultKind::RuleFailed, Severity::Error, "write_file", words);
        assert_eq!(target(&view, "mcp_fs_write_file"), None, "{toml}");
    };
    check("name = \"write file\"", "\"name\"", &["write file"]);
    check("args.pahth = { pin = 1 }", "\"args\"", &["did you mean \"path\"?"]);
    check("args.path = { hide = true }", "\"args\"", &["required"]);
    check("args.path = { rename = \"text\" }", "\"args\"", &["already"]);
}
