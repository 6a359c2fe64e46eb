use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::catalog::{ServerTools, Snapshot, Tool, Unreachable};
use crate::model::{AgentRules, Limits};
use crate::names::NameForm;
use crate::names::lookup::NameMatch;
use crate::present::tests::fixture::{part, recorded_view, server, shaped, snapshot, view};
use crate::shape::{Rule, RuleError, Shaper, Verdict};

const FILESYSTEM: &str = include_str!("../../../../../testdata/seeds/filesystem.md");
const BENCHMARK: &str = include_str!("../../../../../testdata/livemcpbench/tools.json");
const MEM_AGENT: &str = include_str!("../../../../../testdata/seeds/mem-agent.md");

fn text(view: &View) -> String {
    markdown(view, &MarkdownOptions::default())
}

fn filesystem() -> Value {
    json!([
        {"name": "read_file", "description": "Read contents of a file", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "string", "description": "Path to the file to read"}},
            "required": ["path"]}},
        {"name": "write_file", "description": "Write contents to a file", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "string", "description": "Path to the file to write"},
                "content": {"type": "string", "description": "Content to write"}},
            "required": ["path", "content"]}},
    ])
}

#[test]
fn s2_1_the_filesystem_example_to_the_byte() {
    assert_eq!(format!("{}\n", text(&view([("filesystem", filesystem())]))), FILESYSTEM);
}

#[test]
fn s2_4_the_memory_example_in_its_system_prompt() {
    let tools = json!([{"name": "store_memory", "description": "Store information in memory",
        "inputSchema": {"type": "object", "required": ["content"], "properties": {
            "content": {"type": "string", "description": "Content to store"},
            "category": {"type": "string", "description": "Memory category"}}}}]);
    let prompt = system_form(&text(&view([("mem-agent", tools)])));
    let (before, after) = MEM_AGENT.split_once("...\n").unwrap();
    assert!(prompt.starts_with(before), "{prompt}");
    assert!(format!("{prompt}\n").ends_with(after), "{prompt}");
}

#[test]
fn s2_4_wrappers_and_nothing_for_nothing() {
    assert_eq!(user_form("x"), "\n\n---\n\nx\n");
    assert_eq!((system_form(""), user_form("")), (String::new(), String::new()));
}

#[test]
fn s4_11_without_mcp_tools_there_is_not_a_word_of_them() {
    assert_eq!(text(&view([])), "");
    assert_eq!(text(&view([("empty", json!([]))])), "");
    let local = view([("local", json!([{"name": "clock"}]))]);
    let options = MarkdownOptions { local: Some(ServerName::local()), ..MarkdownOptions::default() };
    assert_eq!(markdown(&local, &options), "");
    assert_eq!(system_form(&markdown(&local, &options)), "");
    let both = view([("local", json!([{"name": "clock"}])), ("fs", filesystem())]);
    let both = markdown(&both, &options);
    assert!(!both.contains("clock") && both.contains("2 from 1 server(s)"), "{both}");
}

#[test]
fn s2_3_what_is_missing_is_left_out_or_named() {
    let text = text(&view([
        ("none", json!([])),
        (
            "s",
            json!([
                {"name": "bare"},
                {"name": "odd", "description": "One\n\n## Two\n- three\n---\n", "inputSchema": {"type": "object", "properties": {
                    "any": {}, "choice": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                    "color": {"type": "string", "enum": ["red", "blue"]},
                    "point": {"$ref": "#/$defs/P"}, "n": {"type": "integer", "default": 3, "description": "How many"}},
                    "$defs": {"P": {"type": "string", "description": "Where"}}}},
            ]),
        ),
    ]));
    let expected = "## MCP Server: s\n\n### mcp_s_bare\n- **Original name**: `bare`\n\
        - **Description**: No description available\n\n### mcp_s_odd\n- **Original name**: `odd`\n\
        - **Description**: One \\## Two - three ---\n- **Parameters**:\n  - `any` (any) (optional)\n  \
        - `choice` (string|integer) (optional)\n  - `color` (\"red\"|\"blue\") (optional)\n  \
        - `point` (string) (optional): Where\n  - `n` (integer) (optional): How many (default 3)\n\n---\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("2 from 1 server(s)"));
    assert!(text.lines().all(|line| line.trim_end() == line));
}

#[test]
fn s2_3_what_lies_deeper_has_lines_of_its_own() {
    let input = json!({"type": "object", "required": ["filter"], "properties": {
        "filter": {"type": "object", "description": "Which", "required": ["tag"], "properties": {
            "tag": {"type": "string", "description": "Tag"},
            "range": {"anyOf": [{"$ref": "#/$defs/R"}, {"type": "null"}]}}},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/R"}},
        "tree": {"$ref": "#/$defs/T"},
        "shape": {"oneOf": [{"properties": {"r": {"type": "number"}}}, {"properties": {"w": {"type": "number"}}}]}},
        "$defs": {"R": {"type": "object", "properties": {"from": {"type": "integer"}}},
            "T": {"type": "object", "properties": {"leaves": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}}});
    let text = text(&view([("s", json!([{"name": "t", "description": "d", "inputSchema": input}]))]));
    insta::assert_snapshot!("nested", text);
}

#[test]
fn f101_the_branches_of_a_root_choice_have_lines_of_their_own() {
    let input = json!({"type": "object", "properties": {"note": {"type": "string"}}, "oneOf": [
        {"properties": {"at": {"prefixItems": [{"type": "number"}, {"type": "number"}], "items": {"type": "string"}}},
            "required": ["at"]},
        {"properties": {"place": {"$ref": "#/$defs/The%20Place"}}, "required": ["place"]}],
        "$defs": {"The Place": {"$ref": "#/$defs/P"}, "P": {"type": "string", "description": "Where"}}});
    let text = text(&view([("s", json!([{"name": "t", "description": "d", "inputSchema": input}]))]));
    let expected = "- **Parameters**:\n  - `note` (string) (optional)\n  - option 1 of 2:\n    \
        - `at` ([number, number, ...string[]]) (required)\n  - option 2 of 2:\n    \
        - `place` (string) (required): Where\n\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn f62_markdown_and_text_tell_formats_and_ranges() {
    let input = json!({"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string", "format": "uuid", "description": "Which"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}}});
    let view = view([("s", json!([{"name": "t", "description": "d", "inputSchema": input}]))]);
    let expected = "  - `id` (string(uuid)) (required): Which\n  \
        - `limit` (integer(1..100)) (optional): default 10\n";
    assert!(text(&view).contains(expected), "{}", text(&view));
    use crate::present::text::{DeclaredServer, DeclaredState, Toolbelt, listing};
    let servers = [DeclaredServer { name: "s", standing: DeclaredState::Ready }];
    let belt = Toolbelt { view: &view, local: None, servers: &servers, others: &[] };
    assert_eq!(listing(&belt), "mcp_s_t: d Arguments: {id: uuid, limit?: integer(1..100)}");
}

struct Words;

impl Rule for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn apply(&self, mut tool: Tool) -> Result<Verdict, RuleError> {
        if tool.name.as_str() == "read_file" {
            tool.category = Some("files\n## x".into());
            tool.examples = vec![json!({"path": "a`b"})];
        }
        Ok(Verdict::Keep(Box::new(tool)))
    }
}

fn with_words() -> View {
    let shapers = BTreeMap::from([(server("filesystem"), Shaper::default().with(Words))]);
    shaped(&snapshot([("filesystem", filesystem())]), &shapers, &AgentRules::default(), NameForm::Full)
}

#[test]
fn s2_16_examples_as_configured_or_made_from_the_schema() {
    let view = with_words();
    let of =
        |examples: Examples| markdown(&view, &MarkdownOptions { examples, ..MarkdownOptions::default() });
    let configured = of(Examples::Configured);
    assert_eq!(configured.matches("- **Example**: ").count(), 1);
    assert!(configured.contains("- **Example**: `{\"path\":\"a\\u0060b\"}`\n"), "{configured}");
    assert!(!of(Examples::Never).contains("**Example**"));
    assert_eq!(of(Examples::Generated).matches("- **Example**: `{").count(), 2);
}

#[test]
fn s2_17_headings_by_category_or_effect() {
    let view = with_words();
    let by =
        |grouping: Grouping| markdown(&view, &MarkdownOptions { grouping, ..MarkdownOptions::default() });
    assert!(by(Grouping::Server).contains("- **Category**: files \\## x\n"));
    let category = by(Grouping::Category);
    let headings: Vec<&str> = category.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(headings, ["## Category: files \\## x", "## Other"]);
    assert!(category.contains("- **Server**: `filesystem`\n"));
    let tools = json!([
        {"name": "a", "annotations": {"destructiveHint": true}}, {"name": "b", "annotations": {"readOnlyHint": true}},
        {"name": "c"}, {"name": "d", "_meta": {"category": "db"}}]);
    let view = crate::present::tests::fixture::view([("s", tools)]);
    let headings = |grouping: Grouping| -> Vec<String> {
        let text = markdown(&view, &MarkdownOptions { grouping, ..MarkdownOptions::default() });
        text.lines().filter(|line| line.starts_with("##")).map(str::to_owned).collect()
    };
    assert_eq!(
        headings(Grouping::Effect),
        [
            "## Reads only",
            "### mcp_s_b",
            "## May destroy",
            "### mcp_s_a",
            "## Effect not declared",
            "### mcp_s_c",
            "### mcp_s_d"
        ]
    );
    assert_eq!(
        headings(Grouping::Category),
        ["## Category: db", "### mcp_s_d", "## Other", "### mcp_s_a", "### mcp_s_b", "### mcp_s_c"]
    );
}

#[test]
fn s2_7_a_server_that_is_away_takes_nothing_from_the_text() {
    let all = snapshot([("a", filesystem()), ("b", filesystem())]);
    let away = Arc::new(all.with_away(&server("a"), Some(Unreachable::because("gone"))).unwrap());
    let text = |snapshot| text(&shaped(snapshot, &BTreeMap::new(), &AgentRules::default(), NameForm::Full));
    assert_eq!(text(&all), text(&away));
}

#[test]
fn s2_11_every_listed_name_is_found_and_every_tool_is_listed() {
    let view = recorded_view();
    let text = text(&view);
    let mut count = 0;
    for (place, name) in text.lines().filter_map(|line| line.strip_prefix("### ")).enumerate() {
        assert!(matches!(view.find(name), NameMatch::One(_)), "{place}: {name}");
        count += 1;
    }
    assert_eq!(count, view.tools().len());
    assert!(text.contains("305 from 18 server(s)"));
}

#[test]
fn s2_8_equal_snapshots_give_equal_bytes() {
    let one = Arc::new(snapshot([("a", filesystem())]).with(part("b", &filesystem())).unwrap());
    let two = Arc::new(snapshot([("b", filesystem())]).with(part("a", &filesystem())).unwrap());
    let text = |snapshot| text(&shaped(snapshot, &BTreeMap::new(), &AgentRules::default(), NameForm::Full));
    assert_eq!(text(&one), text(&two));
}

#[test]
fn s2_3_the_tools_of_the_benchmark_have_the_structure_of_ours() {
    let all: Value = serde_json::from_str(BENCHMARK).unwrap();
    let mut parts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for entry in all.as_array().unwrap() {
        for (name, server) in entry["tools"].as_object().unwrap() {
            let tools = server["tools"].as_array().unwrap();
            parts.entry(name.clone()).or_default().extend(tools.iter().cloned());
        }
    }
    let parse = |(name, tools): (&String, &Vec<Value>)| {
        let texts: Vec<String> = tools.iter().map(Value::to_string).collect();
        ServerTools::parse(&server(name), texts.iter().map(String::as_str), &Limits::default())
    };
    let parts: Vec<ServerTools> = parts.iter().map(parse).filter(|part| !part.tools.is_empty()).collect();
    let (tools, servers) = (parts.iter().map(|part| part.tools.len()).sum(), parts.len());
    let snapshot = Arc::new(Snapshot::default().with_all(parts));
    let view = shaped(&snapshot, &BTreeMap::new(), &AgentRules::default(), NameForm::Full);
    assert!(500 < tools, "{tools}");
    check_structure(&text(&view), tools, servers);
    assert_eq!(crate::present::signatures::signatures(&view).lines().count(), tools);
}

/// Checks that every line is one of ours.
fn check_structure(text: &str, tools: usize, servers: usize) {
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("# "), count("## "), count("### ")), (1, servers, tools), "{text}");
    assert_eq!(text.lines().filter(|line| *line == "---").count(), 1, "{text}");
    for line in text.lines() {
        let ours = [
            "# Available MCP Tools",
            "The following MCP ",
            "## MCP Server: ",
            "### mcp_",
            "- **Original name**: `",
            "- **Description**: ",
            "- **Parameters**:",
            "---",
            "**Total MCP tools available**: ",
            "**Usage**: ",
        ];
        let param = line.trim_start_matches("  ").starts_with("- `") && line.starts_with("  ");
        assert!(line.is_empty() || param || ours.iter().any(|start| line.starts_with(start)), "{line:?}");
        assert!(!line.contains("```") && !line.contains("<!--"), "{line:?}");
        // The name of a parameter may hold anything but what ends it; behind a label there are words.
        let (end, ticks) = if param { ("` (", 1) } else { (": ", 0) };
        let head = line.split(end).next().unwrap_or_default();
        assert_eq!(head.matches('`').count(), ticks, "{line:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn t20_no_text_of_a_tool_forges_structure(
        about in "(\\PC|[\n\r\t #`>=<!-]|\n### mcp_x|\n---\n|\n===\n|```|<!--|\n- \\*\\*Original name\\*\\*: `x`){0,30}",
        param in "(\\PC|[\n`#-]){1,12}",
        value in "(\\PC|[\n`#-]){0,12}",
        name in "[a-z`#*<!-][ a-z`#*<!-]{0,6}[a-z`#-]",
    ) {
        let input = json!({"type": "object", "properties": {param.clone(): {"description": about, "type": about},
            "e": {"enum": [value]}, "o": {"properties": {param: {"type": value, "default": about}}}}});
        let tools = json!([{"name": name, "description": about, "inputSchema": input}, {"name": "second", "description": about}]);
        let texts: Vec<String> = tools.as_array().unwrap().iter().map(Value::to_string).collect();
        let limits = Limits::default();
        let part = ServerTools::parse(&server("s"), texts.iter().map(String::as_str), &limits);
        let kept = part.tools.len();
        let view = shaped(&Arc::new(Snapshot::default().with_all([part])), &BTreeMap::new(), &AgentRules::default(), NameForm::Full);
        check_structure(&text(&view), kept, 1);
    }
}
