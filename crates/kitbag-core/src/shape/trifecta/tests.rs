use serde_json::{Value, json};

use super::*;
use crate::catalog::ServerTools;
use crate::model::Limits;
use crate::names::ServerName;

fn tool(server: &str, definition: Value) -> Tool {
    let server = ServerName::parse(server).unwrap();
    let part = ServerTools::parse(&server, [definition.to_string().as_str()], &Limits::default());
    Tool::clone(&part.tools[0])
}

/// A tool with arguments of these names.
fn named(name: &str, arguments: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

/// The labels as letters: private, untrusted, sends.
fn letters(labels: ToolLabels) -> String {
    let letter = |has: bool, letter: &'static str| if has { letter } else { "" };
    [letter(labels.private, "p"), letter(labels.untrusted, "u"), letter(labels.sends, "s")].concat()
}

#[track_caller]
fn check(name: &str, arguments: &[&str], expected: &str) {
    let tool = tool("s", named(name, arguments));
    assert_eq!(letters(ToolLabels::of(&tool, Risk::default())), expected, "{name} {arguments:?}");
}

#[test]
fn t28_tools_have_the_labels_of_their_words() {
    check("read_file", &["path"], "p");
    check("searchFiles", &["pattern"], "p");
    check("write_file", &["path", "content"], "");
    check("query", &["sql"], "p");
    check("fetch", &["url"], "us");
    check("web_search", &["query"], "u");
    check("navigate", &["url"], "us");
    check("list_issues", &["owner"], "u");
    check("get_email", &["id"], "pu");
    check("create_issue", &["title", "body"], "s");
    check("send_email", &["to", "body"], "s");
    check("get_status", &["to", "message"], "s");
    check("slack_post_message", &["channel_id", "text"], "s");
    check("execute_command", &["command"], "pus");
    check("run_tests", &["filter"], "");
    check("get_current_time", &["timezone"], "");
    check("add", &["a", "b"], "");
}

#[test]
fn t28_what_the_operator_says_comes_first() {
    let check = |name: &str, arguments: &[&str], risk: &[&str], expected: &str| {
        let tool = tool("s", named(name, arguments));
        let labels = ToolLabels::of(&tool, Risk::of_words(risk.iter().copied()));
        assert_eq!(letters(labels), expected, "{name} {risk:?}");
    };
    check("send_email", &["to", "body"], &["write"], "");
    check("fetch", &["url"], &["read"], "");
    check("read_file", &["path"], &["read"], "p");
    check("frobnicate", &[], &["write", "open"], "us");
    check("frobnicate", &[], &["read", "open"], "u");
    // An address carries whatever is written into it.
    check("frobnicate", &["url"], &["read", "open"], "us");
    // Of `read_only` alone nothing follows about how far it reaches.
    let reads = Risk { effect: Some(Effect::Read), open: None };
    assert_eq!(letters(ToolLabels::of(&tool("s", named("send_email", &[])), reads)), "");
    assert_eq!(letters(ToolLabels::of(&tool("s", named("fetch", &["url"])), reads)), "us");
    // A heading adds; it takes nothing away.
    let mut list = tool("s", named("list", &[]));
    assert_eq!(letters(ToolLabels::of(&list, Risk::default())), "");
    list.category = Some("E-mail, private".to_owned());
    assert_eq!(letters(ToolLabels::of(&list, Risk::default())), "pu");
}

#[test]
fn t23_annotations_change_no_label() {
    for (name, arguments) in
        [("send_email", ["to", "body"]), ("read_file", ["path", "x"]), ("add", ["a", "b"])]
    {
        let plain = tool("s", named(name, &arguments));
        for (read_only, open) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut lying = named(name, &arguments);
            lying["annotations"] = json!({"readOnlyHint": read_only, "openWorldHint": open});
            let lying = tool("s", lying);
            let risk = |tool: &Tool| ToolLabels::of(tool, tool.marks.risk);
            assert_eq!(risk(&lying), risk(&plain), "{name}");
        }
    }
}

#[test]
fn t28_three_tools_are_named_by_what_they_do_most_plainly() {
    let tools = [
        tool("all", named("execute_command", &["command"])),
        tool("fs", named("read_file", &["path"])),
        tool("web", named("search_web", &["query"])),
        tool("mail", named("send_email", &["to", "body"])),
    ];
    let labelled = |tools: &[Tool]| -> Option<String> {
        let all = tools.iter().map(|tool| (tool, ToolLabels::of(tool, Risk::default())));
        Some(ToxicSet::of(all)?.to_string())
    };
    let said =
        "fs/read_file reads private data, web/search_web brings in untrusted text, mail/send_email sends out";
    assert_eq!(labelled(&tools).as_deref(), Some(said));
    // One that can do everything is enough.
    assert!(labelled(&tools[..1]).is_some_and(|said| said.matches("all/execute_command").count() == 3));
    assert_eq!(labelled(&tools[1..3]), None);
    assert_eq!(labelled(&tools[2..]), None);
    assert_eq!(labelled(&[]), None);
}

#[test]
fn t28_the_page_shows_every_word() {
    let page = include_str!("../../../../../docs/findings.md");
    for WordList { name, place, words } in WORD_LISTS {
        let row = format!("| {name} | {place} | {} |", words.join(" "));
        assert!(page.contains(&row), "docs/findings.md has no row:\n{row}");
    }
}
