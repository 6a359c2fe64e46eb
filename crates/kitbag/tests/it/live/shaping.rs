//! Rules change what a model sees; the server gets its own words. Each shape is called, and the bytes that
//! arrive are those of a call without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kitbag::rules::{EditSchema, KeepIf};
use kitbag::{
    AgentRules, Authorize, Decision, ErrorKind, FaultKind, Kitbag, OpenOptions, Rule, RuleError, Shaper,
    Tool, ToolCall, UserId, Verdict,
};
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, first, names};

/// A farm with one server `mem-agent` that notes what it gets.
fn farm() -> Farm {
    let farm = Farm::new();
    let properties = json!({
        "path": {"type": "string"}, "limit": {"type": "integer"}, "mode": {"enum": ["a", "b"]},
        "deep": {"type": "object"}, "any": {},
    });
    let schema = json!({"type": "object", "properties": properties, "required": ["path"]});
    let tool = |name: &str, about: &str| json!({"name": name, "description": about, "inputSchema": schema});
    let tools = json!([tool("store_memory", "Stores a memory"), tool("read-file", "Reads a file")]);
    farm.add_echo("mem-agent", &tools);
    farm
}

/// One shape: what the settings say, what the model calls with which arguments, and what the server must see.
struct Shape {
    settings: &'static str,
    name: &'static str,
    given: &'static str,
    plain: &'static str,
}

const fn shape(
    settings: &'static str,
    name: &'static str,
    given: &'static str,
    plain: &'static str,
) -> Shape {
    Shape { settings, name, given, plain }
}

const FULL: &str = "mcp_mem_agent_store_memory";
/// Odd on purpose: spaces, escapes, numbers that no float holds, an order of its own.
const ODD: &str =
    r#"{ "path":"\u00e4\/b" , "deep":{"z":1.10,"a":[1e3,123456789012345678901234567890]},"limit":3 }"#;
const ODD_RENAMED: &str =
    r#"{ "where":"\u00e4\/b" , "deep":{"z":1.10,"a":[1e3,123456789012345678901234567890]},"limit":3 }"#;
/// Without the blanks between members, which belong to nobody.
const ODD_CLOSE: &str =
    r#"{"path":"\u00e4\/b","deep":{"z":1.10,"a":[1e3,123456789012345678901234567890]},"limit":3}"#;

const NAMED: &str = "[servers.mem-agent.tools.store_memory]\nname = 'remember'";
const HIDDEN: &str = "[servers.mem-agent.tools.store_memory.args.limit]\nhide = true";
const DEFAULT: &str = "[servers.mem-agent.tools.store_memory.args.limit]\ndefault = 5";
const PINNED: &str = "[servers.mem-agent.tools.store_memory.args.path]\npin = '/safe'";

const SHAPES: &[Shape] = &[
    shape("", FULL, ODD, ODD),
    shape(NAMED, "remember", ODD, ODD),
    // Its full name stays good.
    shape(NAMED, FULL, ODD, ODD),
    shape("[servers.mem-agent]\ntag = '[Mem] '", FULL, ODD, ODD),
    shape("[servers.mem-agent.tools.store_memory]\ndescription = 'Other words'", FULL, ODD, ODD),
    shape("[servers.mem-agent]\nnames = 'bare'", "store_memory", ODD, ODD),
    shape("[servers.mem-agent]\nnames = 'short'", "mem_agent_store_memory", ODD, ODD),
    shape("[present]\nnames = 'bare'", "store_memory", ODD, ODD),
    shape("[servers.mem-agent.tools.store_memory.args.path]\nrename = 'where'", FULL, ODD_RENAMED, ODD_CLOSE),
    shape(HIDDEN, FULL, r#"{"path":"p","any":1.0}"#, r#"{"path":"p","any":1.0}"#),
    // What a model cannot see it cannot give.
    shape(HIDDEN, FULL, r#"{"path":"p","limit":9,"any":1.0}"#, r#"{"path":"p","any":1.0}"#),
    shape(DEFAULT, FULL, r#"{"path":"p"}"#, r#"{"path":"p","limit":5}"#),
    shape(DEFAULT, FULL, r#"{"limit":7,"path":"p"}"#, r#"{"limit":7,"path":"p"}"#),
    shape(
        "[servers.mem-agent.tools.store_memory.args.limit]\ndefault = 5\nhide = true",
        FULL,
        r#"{"path":"p","limit":9}"#,
        r#"{"path":"p","limit":5}"#,
    ),
    shape(PINNED, FULL, r#"{"limit":1}"#, r#"{"limit":1,"path":"/safe"}"#),
    shape(PINNED, FULL, r#"{"path":"/etc","limit":1}"#, r#"{"path":"/safe","limit":1}"#),
    shape(
        "[servers.mem-agent.tools.store_memory.args]\npath = {rename = 'limit_'}\nlimit = {rename = 'path_'}\n\
         mode = {pin = 'a'}\nany = {default = [1, 'x']}",
        FULL,
        r#"{"path_":2,"limit_":"p","deep":{"path_":1}}"#,
        r#"{"limit":2,"path":"p","deep":{"path_":1},"any":[1,"x"],"mode":"a"}"#,
    ),
];

/// Calls once in each way and gives the bytes of name and arguments that arrived.
async fn arrives(shape: &Shape) -> ((String, String), (String, String)) {
    let farm = farm();
    farm.settings(shape.settings);
    let kit = farm.open(calm()).await;
    assert_eq!(kit.faults(), [], "{}", shape.settings);
    let done = kit.call(shape.name, shape.given).await;
    done.unwrap_or_else(|failure| panic!("{}: {}", shape.settings, failure.for_model()));
    let plain = kit.ask_raw("mem-agent", "store_memory", shape.plain).await;
    plain.unwrap();
    let lines = farm.events("mem-agent", "params");
    let part = |line: &str, key: &str| testkit::member(line.strip_prefix("params ").unwrap(), key);
    let seen = |at: usize| (part(&lines[at], "name"), part(&lines[at], "arguments"));
    assert_eq!(lines.len(), 2, "{lines:?}");
    let both = (seen(0), seen(1));
    farm.close(kit).await;
    both
}

#[tokio::test]
async fn s3_6_the_bytes_that_arrive_are_those_of_a_call_without_the_shape() {
    for shape in SHAPES {
        let (shaped, plain) = arrives(shape).await;
        assert_eq!(shaped, plain, "{}\n{}", shape.settings, shape.given);
        assert_eq!(shaped.0, "\"store_memory\"");
    }
}

#[tokio::test]
async fn s3_6_schemas_edited_in_code_leave_the_wire_alone() {
    let edit = EditSchema(|schema: &mut Value| {
        // Narrower than the server for one argument, wider for another.
        schema["properties"]["mode"] = json!({"enum": ["a"], "description": "Only a"});
        schema["properties"]["limit"] = json!({"type": ["integer", "string"]});
        Ok(())
    });
    let farm = farm();
    let rules = Arc::new(Shaper::default().with(edit));
    let kit = farm.open_with(OpenOptions { rules, ..farm.options(calm()) }).await;
    kit.call(FULL, ODD).await.unwrap();
    assert_eq!(farm.arrived("mem-agent"), [ODD]);
    let narrower = kit.call(FULL, r#"{"path":"p","mode":"b"}"#).await.unwrap_err();
    assert_eq!(narrower.kind, ErrorKind::InvalidArguments, "{narrower}");
    assert!(narrower.for_model().contains("Only a"), "{}", narrower.for_model());
    // The server's own schema still holds.
    let wider = kit.call(FULL, r#"{"path":"p","limit":"three"}"#).await.unwrap_err();
    assert_eq!(wider.kind, ErrorKind::InvalidArguments, "{wider}");
    assert_eq!(farm.count("mem-agent", "call"), 1, "nothing was sent");
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_2_a_tool_is_named_for_agents_and_reached_by_any_of_its_names() {
    let farm = farm();
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let shown = view.tools().iter().find(|shown| shown.name.as_str() == FULL).unwrap();
    assert_eq!((shown.tool.server.as_str(), shown.tool.name.as_str()), ("mem-agent", "store_memory"));
    let ways = [FULL, "mem-agent/store_memory", "store_memory", "MCP_mem-agent_Store-Memory", "store-memory"];
    for name in ways {
        let done = kit.call(name, r#"{"path":"p"}"#).await;
        let result = done.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        assert!(first(&result).contains(r#""name":"store_memory""#), "{name}: {result:?}");
    }
    assert_eq!(farm.count("mem-agent", "exec store_memory"), ways.len());
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_9_prefix_and_source_tag_can_be_had_and_switched_off() {
    let farm = Farm::new();
    farm.add("filesystem", &["--tools", &testkit::corpus::file("filesystem")]);
    let rows = [
        ("[servers.filesystem]\ntag = '[Filesystem MCP] '", "mcp_filesystem_read_file", true),
        ("", "mcp_filesystem_read_file", false),
        ("[servers.filesystem]\ntag = '[Filesystem MCP] '\nnames = 'bare'", "read_file", true),
        ("[servers.filesystem]\nnames = 'bare'", "read_file", false),
        ("[servers.filesystem]\nnames = 'short'", "filesystem_read_file", false),
    ];
    let kit = farm.open(calm()).await;
    for (settings, name, tagged) in rows {
        farm.settings(settings);
        kit.reload().await.unwrap();
        let view = kit.own_view();
        let shown = view.tools().iter().find(|shown| shown.tool.name.as_str() == "read_file").unwrap();
        assert_eq!(shown.name.as_str(), name, "{settings}");
        assert_eq!(shown.tool.description.starts_with("[Filesystem MCP] Read"), tagged, "{settings}");
        kit.call(name, r#"{"path":"/a"}"#).await.unwrap();
    }
    assert_eq!((farm.count("filesystem", "exec read_file"), farm.count("filesystem", "start")), (5, 1));
    farm.close(kit).await;
}

/// Every way to say a tool's name.
const NAMES_OF_ADD: [&str; 8] =
    ["mcp_x_add", "x/add", "add", "x_add", "MCP-X-ADD", "Add", "mcp_x-add", "mcp_local_add"];

/// None of its names reaches a tool, and no suggestion gives it away.
async fn is_out_of_reach(farm: &Farm, kit: &Kitbag, agent: &AgentRules) {
    let view = kit.view(&UserId::local(), agent).unwrap();
    assert!(!names(&view).contains(&"mcp_x_add".to_owned()));
    for name in NAMES_OF_ADD {
        let failure = kit.call_tool(&view, ToolCall::new(name, r#"{"a":1,"b":2}"#)).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::NotFound, "{name}: {failure}");
        assert!(!failure.for_model().contains("mcp_x_add?"), "{}", failure.for_model());
    }
    assert_eq!(farm.count("x", "call add"), 0);
    kit.call_tool(&view, ToolCall::new("mcp_x_echo", r#"{"message":"hi"}"#)).await.unwrap();
}

#[tokio::test]
async fn s3_5_s1_19_what_is_filtered_cannot_be_called_by_any_name() {
    for filter in [
        "exclude = ['add']",
        "exclude = ['a*']\ninclude = ['add', 'echo']",
        "include = ['e*']",
        "include = ['echo']\nexclude = ['p*']",
    ] {
        let farm = Farm::of("x", &[]);
        farm.settings(&format!("[servers.x]\n{filter}"));
        let kit = farm.open(calm()).await;
        is_out_of_reach(&farm, &kit, &AgentRules::default()).await;
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn s3_5_a_predicate_in_code_binds_calls() {
    let farm = Farm::of("x", &[]);
    let rules = Shaper::default().with(KeepIf(|tool: &Tool| tool.name.as_str() != "add"));
    let kit = farm.open_with(OpenOptions { rules: Arc::new(rules), ..farm.options(calm()) }).await;
    is_out_of_reach(&farm, &kit, &AgentRules::default()).await;
    let view = kit.own_view();
    let left = view.left_out().iter().find(|left| left.tool == "add").unwrap();
    assert_eq!(left.trail.last().unwrap().rule, "predicate");
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_15_an_agents_wishes_bind_its_calls_and_nobody_elses() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.settings(
        "[agents.reader]\nallow = ['x/e*']\n[agents.only-y]\nservers = ['y']\n[agents.broken]\nallow = ['[']",
    );
    let kit = farm.open(calm()).await;
    let reader = kit.agent("reader").unwrap();
    let view = kit.view(&UserId::local(), &reader).unwrap();
    assert_eq!(names(&view), ["kitbag_read_result", "mcp_x_echo", "mcp_x_env"]);
    is_out_of_reach(&farm, &kit, &reader).await;
    let only_y = kit.view(&UserId::local(), &kit.agent("only-y").unwrap()).unwrap();
    let of_x = kit.call_tool(&only_y, ToolCall::new("mcp_x_echo", r#"{"message":"hi"}"#)).await.unwrap_err();
    assert_eq!(of_x.kind, ErrorKind::NotFound, "{of_x}");
    // Unambiguous now that only one server is left.
    let result = kit.call_tool(&only_y, ToolCall::new("add", r#"{"a":1,"b":2}"#)).await.unwrap();
    assert_eq!((first(&result), result.info.server.as_str()), ("3", "y"));
    let broken = kit.view(&UserId::local(), &kit.agent("broken").unwrap()).unwrap();
    assert_eq!(names(&broken), ["kitbag_read_result"], "rather nothing than everything");
    assert_eq!(broken.faults().len(), 1, "{:?}", broken.faults());
    assert_eq!(kit.agent("raeder").unwrap_err().near.as_deref(), Some("reader"));
    assert_eq!(first(&kit.call("mcp_x_add", r#"{"a":1,"b":2}"#).await.unwrap()), "3", "others see all");
    farm.close(kit).await;
}

/// Nobody but root may add.
struct NoAdding;

impl Authorize for NoAdding {
    fn authorize(&self, user: &UserId, tool: &Tool) -> Decision {
        if user.as_str() == "root" || tool.name.as_str() != "add" {
            Decision::Allow
        } else {
            Decision::Deny("adding is for root".to_owned())
        }
    }
}

#[tokio::test]
async fn s1_19_what_is_denied_is_invisible_and_uncallable() {
    let farm = Farm::of("x", &[]);
    let options = OpenOptions { permit: Some(Arc::new(NoAdding)), ..farm.options(calm()) };
    let kit = farm.open_with(options).await;
    is_out_of_reach(&farm, &kit, &AgentRules::default()).await;
    let roots = kit.view(&UserId::parse("root").unwrap(), &AgentRules::default()).unwrap();
    let sum = kit.call_tool(&roots, ToolCall::new("add", r#"{"a":1,"b":2}"#)).await.unwrap();
    assert_eq!(first(&sum), "3");
    // The words are those of a tool that does not exist.
    let words = |failure: kitbag::CallError| failure.for_model();
    let denied = words(kit.call("mcp_x_add", "{}").await.unwrap_err());
    let absent = words(kit.call("mcp_x_zzz", "{}").await.unwrap_err());
    assert_eq!(
        denied.split(" Did you").next().unwrap().replace("add", "zzz"),
        absent.split(" Did you").next().unwrap()
    );
    farm.close(kit).await;
}

/// Lets everybody do everything until it is told otherwise.
#[derive(Default)]
struct Switch(AtomicBool);

impl Authorize for Switch {
    fn authorize(&self, _: &UserId, _: &Tool) -> Decision {
        if self.0.load(Ordering::Relaxed) { Decision::Deny("closed".to_owned()) } else { Decision::Allow }
    }
}

/// A view is what was allowed when it was made; the call asks again.
#[tokio::test]
async fn s1_19_what_is_denied_later_is_not_called_through_an_older_view() {
    let farm = Farm::of("x", &[]);
    let switch = Arc::new(Switch::default());
    let kit = farm.open_with(OpenOptions { permit: Some(switch.clone()), ..farm.options(calm()) }).await;
    let view = kit.own_view();
    let add = || kit.call_tool(&view, ToolCall::new("mcp_x_add", r#"{"a":1,"b":2}"#));
    add().await.unwrap();
    switch.0.store(true, Ordering::Relaxed);
    let denied = add().await.unwrap_err();
    assert_eq!((denied.kind, farm.count("x", "call add")), (ErrorKind::NotFound, 1), "{denied}");
    farm.close(kit).await;
}

/// Fails on one tool, panics on another.
struct Clumsy;

impl Rule for Clumsy {
    fn name(&self) -> &str {
        "clumsy"
    }

    fn apply(&self, mut tool: Tool) -> Result<Verdict, RuleError> {
        match tool.name.as_str() {
            "echo" => Err(RuleError("cannot do that".to_owned())),
            "add" => panic!("dropped it"),
            "pid" => Ok(Verdict::Drop("not wanted".to_owned())),
            _ => {
                tool.description.push_str(" (seen)");
                Ok(Verdict::keep(tool))
            }
        }
    }
}

#[tokio::test]
async fn s3_7_a_rule_that_fails_or_panics_costs_its_tool_alone() {
    let farm = Farm::of("x", &[]);
    let rules = Arc::new(Shaper::default().with(Clumsy).with(KeepIf(|tool: &Tool| {
        // After the other: it sees what that one made of the tool.
        tool.description.ends_with(" (seen)")
    })));
    let kit = farm.open_with(OpenOptions { rules, ..farm.options(calm()) }).await;
    let view = kit.own_view();
    let all = kit.snapshot().tools().count();
    assert_eq!(view.tools().len(), all - 3);
    let faults: Vec<String> = view.faults().iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 2, "dropping is no fault: {faults:?}");
    assert!(view.faults().iter().all(|fault| fault.kind == FaultKind::RuleFailed));
    for (tool, why) in [("add", "panicked: dropped it"), ("echo", "cannot do that")] {
        let named = |fault: &&kitbag::Fault| fault.tool.as_ref().is_some_and(|name| name.as_str() == tool);
        let fault = view.faults().iter().find(named).unwrap();
        assert_eq!(fault.server.as_ref().unwrap().as_str(), "x");
        assert!(fault.message.contains("\"clumsy\"") && fault.message.contains(why), "{fault}");
    }
    for name in ["mcp_x_add", "mcp_x_echo", "mcp_x_pid"] {
        assert_eq!(kit.call(name, "{}").await.unwrap_err().kind, ErrorKind::NotFound, "{name}");
    }
    kit.call("mcp_x_count", r#"{"token":"t"}"#).await.unwrap();
    farm.close(kit).await;
}

#[tokio::test]
async fn a_rule_in_the_settings_that_cannot_work_costs_its_tool_and_says_what_was_meant() {
    let farm = farm();
    farm.settings("[servers.mem-agent.tools.store_memory.args.limt]\nrename = 'most'");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    assert_eq!(names(&view), ["kitbag_read_result", "mcp_mem_agent_read_file"]);
    let fault = view.faults()[0].to_string();
    assert!(fault.contains("store_memory") && fault.contains("did you mean \"limit\"?"), "{fault}");
    // A pinned value that the server would refuse is refused here.
    farm.settings("[servers.mem-agent.tools.store_memory.args.mode]\npin = 'c'");
    kit.reload().await.unwrap();
    let refused = kit.call(FULL, r#"{"path":"p"}"#).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InvalidArguments, "{refused}");
    assert_eq!(farm.count("mem-agent", "call"), 0);
    farm.close(kit).await;
}
