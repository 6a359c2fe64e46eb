//! `tools --as`, `prompt`, `cost`, `doctor --provider` and `--catalog`, as a shell sees them.

use serde_json::{Value, json};

use super::Farm;
use super::cli_show::defined;
use super::cli_tools::check_harmless;
use crate::house::{House, Runs as _};
use testkit::corpus::file as corpus;

/// A folder with the recorded tools of these servers.
fn catalog(house: &House, servers: &[&str]) -> String {
    for server in servers {
        house.put(&format!("catalog/{server}.json"), std::fs::read(corpus(server)).unwrap());
    }
    house.at("catalog")
}

#[test]
fn tools_in_every_way_a_model_reads_them() {
    let house = House::new();
    let folder = catalog(&house, &["time", "git"]);
    let of = |form: &str| house.run(&["tools", "--catalog", &folder, "--as", form]).exits(0);
    let name =
        |form: &str, path: &str| of(form).json().pointer(path).and_then(Value::as_str).map(str::to_owned);
    let mine = Some("kitbag_read_result".to_owned());
    for (form, path) in [
        ("native:openai", "/0/function/name"),
        ("native:openai-responses", "/0/name"),
        ("native:anthropic", "/0/name"),
        ("native:gemini", "/0/functionDeclarations/0/name"),
        ("native:gemini-openapi", "/0/functionDeclarations/0/name"),
        ("native:generic", "/0/name"),
    ] {
        assert_eq!(name(form, path), mine, "{form}");
    }
    assert_eq!(name("gateway", "/0/name"), Some("mcp_git".into()));
    assert_eq!(name("gateway:openai", "/2/function/name"), Some("mcp_time".into()));
    for (form, words) in [
        ("markdown", "### mcp_time_get_current_time"),
        ("signatures", "mcp_time_get_current_time(timezone: string)"),
        ("text", "mcp_time_get_current_time: "),
    ] {
        let text = of(form).out;
        assert!(text.contains(words), "{form}: {text}");
        check_harmless(&text);
    }
    let strict =
        house.run(&["tools", "time", "--catalog", &folder, "--as", "native:openai", "--strict"]).exits(0);
    assert_eq!(strict.json()[0]["function"]["strict"], true);
    let whole =
        house.run(&["tools", "git", "--catalog", &folder, "--as", "native:openai", "--whole"]).exits(0);
    assert!(whole.out.len() > of("native:openai").out.len() / 2);
    let one = house.run(&["tools", "git", "--catalog", &folder, "--as", "signatures"]).exits(0).out;
    assert!(one.contains("mcp_git_git_status(") && !one.contains("mcp_time"), "{one}");
}

#[test]
fn an_unknown_form_names_those_there_are() {
    let house = House::new();
    let folder = catalog(&house, &["time"]);
    house
        .run(&["tools", "--catalog", &folder, "--as", "native:opnai"])
        .fails(2, "did you mean native:openai?");
    house.run(&["tools", "--catalog", &folder, "--as", "xml"]).fails(2, "native:gemini-openapi");
    house.run(&["tools", "--catalog", &folder, "--as", "gateway:ant"]).fails(2, "anthropic");
    house.run(&["prompt", "--catalog", &folder, "--as", "gateway"]).fails(2, "markdown, signatures, text");
    house.run(&["prompt", "--catalog", &folder, "--form", "both"]).fails(2, "system");
    house
        .run(&["doctor", "--catalog", &folder, "--provider", "antropic"])
        .fails(2, "did you mean \"anthropic\"?");
}

#[test]
fn s2_4_a_prompt_stands_in_its_place() {
    let house = House::new();
    let folder = catalog(&house, &["time"]);
    let of = |args: &[&str]| {
        let all: Vec<&str> = ["prompt", "--catalog", folder.as_str()].iter().chain(args).copied().collect();
        house.run(&all).exits(0).out
    };
    assert!(of(&[]).starts_with("# Available MCP Tools\n"));
    assert!(of(&["--form", "system"]).starts_with("## MCP Tools Available\n"));
    assert!(of(&["--form", "user"]).starts_with("\n\n---\n\n# Available MCP Tools\n"));
    assert!(of(&["--as", "text"]).contains("TOOL: <name>"));
    assert!(of(&["--examples"]).contains("Example"), "{}", of(&["--examples"]));
    assert!(of(&["--group", "effect"]).contains("## "), "{}", of(&["--group", "effect"]));
    let json: Value = serde_json::from_str(&of(&["--json"])).unwrap();
    assert!(json["prompt"].as_str().unwrap().contains("mcp_time_") && 100 < json["tokens"].as_u64().unwrap());
}

#[test]
fn s2_6_s2_7_without_mcp_the_prompt_is_empty_and_one_bad_server_takes_only_its_own() {
    let farm = Farm::of("good", &[]);
    let bad = json!({"mcpServers": {"good": serde_json::from_str::<Value>(&farm.house.text("kit/config/mcp.json")).unwrap()["mcpServers"]["good"],
        "bad": {"command": "no-such-program-at-all"}}});
    farm.house.put("kit/config/mcp.json", bad.to_string());
    let prompt = farm.house.run(&["prompt", "--form", "system"]).exits(0);
    assert!(prompt.out.contains("mcp_good_add") && !prompt.out.contains("bad"), "{}", prompt.out);
    assert!(prompt.err.contains("bad"), "{}", prompt.err);
    for form in [None, Some("system"), Some("user")] {
        let mut args = vec!["prompt"];
        args.extend(form.iter().flat_map(|form| ["--form", *form]));
        let off = farm.house.ask(&args).env("AGENT_ENABLE_MCP", "off").run().exits(0);
        assert_eq!(off.out, "", "{form:?}");
    }
    let off =
        farm.house.ask(&["tools", "--as", "native:openai"]).env("AGENT_ENABLE_MCP", "off").run().exits(0);
    assert_eq!(off.json(), json!([]));
    farm.is_empty();
}

#[test]
fn s2_1_the_seed_s_server_gives_the_seed_s_text() {
    let farm = Farm::new();
    let seed = format!("{}/../../testdata/seeds/filesystem.md", env!("CARGO_MANIFEST_DIR"));
    let path = |what: &str| json!({"type": "string", "description": format!("Path to the file to {what}")});
    let content = json!({"type": "string", "description": "Content to write"});
    let tools = json!([
        {"name": "read_file", "description": "Read contents of a file", "inputSchema": {"type": "object",
            "properties": {"path": path("read")}, "required": ["path"]}},
        {"name": "write_file", "description": "Write contents to a file", "inputSchema": {"type": "object",
            "properties": {"path": path("write"), "content": content}, "required": ["path", "content"]}},
    ]);
    farm.add_echo("filesystem", &tools);
    assert_eq!(farm.house.run(&["prompt"]).exits(0).out, std::fs::read_to_string(seed).unwrap());
    farm.is_empty();
}

#[test]
fn a_configured_way_is_the_one_that_is_printed() {
    let farm = Farm::of("x", &[]);
    farm.settings("[present]\nmode = \"signatures\"\n[agents.chat]\nmode = \"text\"\n");
    let text = farm.house.run(&["prompt"]).exits(0).out;
    assert!(text.lines().any(|line| line.starts_with("mcp_x_add(")), "{text}");
    let text = farm.house.run(&["prompt", "--agent", "chat"]).exits(0).out;
    assert!(text.contains("TOOL: <name>"), "{text}");
    farm.settings("[present]\nmode = \"signature\"\n");
    let wrong = farm.house.run(&["prompt"]).exits(0);
    assert!(wrong.err.contains("signatures") && wrong.err.contains("kitbag.toml"), "{}", wrong.err);
    farm.is_empty();
}

#[test]
fn f96_f100_cost_and_show_say_why_a_tool_is_not_strict() {
    let farm = defined(&json!([{"name": "t", "inputSchema": {"type": "object", "properties": {
        "a": {"type": ["string", "null"]}, "b": {"type": "string", "default": "x".repeat(200)}}}}]));
    let why = "is not strict: its argument `a` may be null or left out, which would look the same";
    let left_out = "strict definitions do not take, so it is left out: default";
    let linted = farm.house.run(&["cost", "--strict", "--lint", "--json"]).exits(0).json();
    let of = |form: &str| {
        let cell = linted.as_array().unwrap().iter().find(|cell| cell["presentation"] == form).unwrap();
        cell["notes"].to_string()
    };
    assert!(of("native:openai").contains(why), "{linted}");
    assert!(of("native:anthropic").contains(left_out), "{linted}");
    let table = farm.house.run(&["cost", "--strict", "--lint"]).exits(0).out;
    assert!(table.contains(why) && table.contains(left_out), "{table}");
    assert!(!farm.house.run(&["cost", "--strict"]).exits(0).out.contains("is not strict"));
    let shown = farm.house.run(&["show", "x/t"]).exits(0).out.replace(['\n', ' '], "");
    assert!(shown.contains(&format!("openai, openai-responses: {why}").replace(' ', "")), "{shown}");
    assert!(shown.contains(&format!("anthropic: {left_out}").replace(' ', "")), "{shown}");
    let notes = farm.house.run(&["show", "x/t", "--json"]).exits(0).json()["definition_notes"].clone();
    assert_eq!(notes[0], json!({"providers": ["openai", "openai-responses"], "note": why}));
    farm.is_empty();
}

#[test]
fn cost_counts_by_server_tool_and_presentation() {
    let house = House::new();
    let folder = catalog(&house, &["time", "git"]);
    let rows = house.run(&["cost", "--catalog", &folder, "--json"]).exits(0).json();
    let find = |server: &str, form: &str| {
        let fits = |row: &&Value| row["server"] == server && row["presentation"] == form;
        rows.as_array().unwrap().iter().find(fits).map(|row| row["tokens"].as_u64().unwrap()).unwrap()
    };
    assert_eq!(rows.as_array().unwrap().len(), 20, "two servers, ten forms");
    assert!(find("git", "signatures") < find("git", "native:openai"));
    assert!(find("git", "gateway") < find("git", "signatures"));
    // Counted independently with another implementation of o200k.
    assert_eq!((find("time", "native:openai"), find("time", "signatures")), (253, 81));
    let tools = house.run(&["cost", "time", "--tools", "--catalog", &folder, "--json"]).exits(0).json();
    assert!(tools.as_array().unwrap().iter().any(|row| row["tool"] == "convert_time"));
    let table = house.run(&["cost", "--catalog", &folder]).exits(0).out;
    assert!(table.lines().last().unwrap().trim().starts_with("14 in all "), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    house.run(&["cost", "tim", "--catalog", &folder]).fails(5, "tim");
}

#[test]
fn a_total_is_never_taken_for_a_server() {
    let house = House::new();
    for (name, tools) in [("all", 3), ("14 in all", 2), ("time", 1)] {
        let tools: Vec<Value> = (0..tools).map(|at| json!({"name": format!("t{at}")})).collect();
        house.put(&format!("odd/{name}.json"), Value::from(tools).to_string());
    }
    let folder = house.at("odd");
    let table = house.run(&["cost", "--as", "signatures", "--catalog", &folder]).exits(0).out;
    let rows: Vec<&str> = table.lines().skip(1).map(|row| row.strip_prefix("  ").unwrap()).collect();
    let of = |name: &str| rows.iter().filter(|row| row.starts_with(&format!("{name} "))).count();
    assert_eq!((rows.len(), of("all"), of("14 in all"), of(" ")), (4, 1, 1, 1), "{table}");
    assert!(rows[3].trim().starts_with("6 in all "), "{table}");
    let args = ["cost", "--tools", "--as", "signatures", "--catalog", &folder];
    let table = house.run(&args).exits(0).out;
    assert_eq!(table.lines().filter(|row| row.starts_with("  all ")).count(), 3, "{table}");
    let args = ["cost", "--as", "signatures", "--json", "--catalog", &folder];
    let rows = house.run(&args).exits(0).json();
    let servers: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["server"].as_str().unwrap()).collect();
    assert_eq!(servers, ["14 in all", "all", "time"], "servers and no total");
}

#[test]
fn tools_of_the_program_itself_are_shown_in_every_way() {
    let house = House::new();
    let of = |args: &[&str]| house.run(&[args, &["--demo"]].concat()).exits(0).out;
    for (form, line) in [
        ("markdown", "### clock\n"),
        ("signatures", "clock("),
        ("text", "clock: "),
        ("native:openai", "\"name\": \"clock\""),
        ("gateway:anthropic", "\"name\": \"clock\""),
    ] {
        let text = of(&["tools", "--as", form]);
        let all = ["clock", "folder", "notes"].map(|name| text.contains(&line.replace("clock", name)));
        assert_eq!(all, [true; 3], "{form}: {text}");
        check_harmless(&text);
    }
    let prompt = of(&["prompt"]);
    assert!(prompt.starts_with("# Available Tools of This Program\n") && !prompt.contains("MCP"), "{prompt}");
    assert!(!prompt.contains("kitbag_read_result"), "{prompt}");
    assert!(of(&["prompt", "--as", "signatures"]).starts_with("clock("));
    let costs: Value = serde_json::from_str(&of(&["cost", "--json"])).unwrap();
    let is_free = |row: &Value| row["tokens"].as_u64().unwrap() < 20;
    assert!(!costs.as_array().unwrap().iter().any(is_free), "{costs}");
}

#[test]
fn a_form_that_is_asked_for_beats_what_servers_are_set_to() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\nmode = \"gateway\"\n");
    for args in [&["prompt", "--demo"][..], &["tools", "--as", "markdown", "--demo"]] {
        let text = farm.house.run(args).exits(0).out;
        assert!(text.contains("### mcp_x_add\n") && text.contains("### clock\n"), "{args:?}: {text}");
    }
    farm.settings("[servers.x]\nmode = \"signatures\"\n");
    let text = farm.house.run(&["prompt", "--demo"]).exits(0).out;
    assert!(text.contains("\nmcp_x_add(") && text.contains("### clock\n"), "a text is a text: {text}");
    farm.is_empty();
}

#[test]
fn nothing_to_show_is_said_beside_the_output() {
    let house = House::new();
    for args in [&["prompt"][..], &["prompt", "--as", "text"], &["tools", "--as", "signatures"]] {
        let ran = house.run(args).exits(0);
        assert_eq!(ran.out, "", "{args:?}");
        assert!(ran.err.contains("nothing to show") && ran.err.contains("--demo"), "{args:?}: {}", ran.err);
    }
    for form in ["native:openai", "gateway"] {
        let ran = house.run(&["tools", "--as", form]).exits(0);
        assert_eq!(ran.json(), json!([]), "{form}");
        assert!(ran.err.contains("nothing to show"), "{form}: {}", ran.err);
    }
    let ran = house.run(&["tools", "--as", "gateway", "--demo"]).exits(0);
    assert_eq!(ran.json(), json!([]));
    assert!(ran.err.contains("no gateway"), "{}", ran.err);
    let quiet = house.run(&["prompt", "--quiet"]).exits(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn more_tools_than_a_provider_takes_are_told_with_what_to_do() {
    let house = House::new();
    let folder = format!("{}/../../testdata/tools", env!("CARGO_MANIFEST_DIR"));
    let told = [
        house.run(&["tools", "--catalog", &folder, "--as", "native:openai"]).exits(0).err,
        house.run(&["doctor", "--catalog", &folder, "--provider", "openai-responses"]).exits(0).err,
    ];
    for text in told {
        for words in ["at most 128 tools", "306, 178 too many", "exclude", "allow", "gateway", "signatures"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
    let fine = house.run(&["tools", "--catalog", &folder, "--as", "native:anthropic"]).exits(0);
    assert!(!fine.err.contains("too many"), "{}", fine.err);
}

#[test]
fn a_file_of_a_catalog_has_as_many_tools_as_a_server_may() {
    let house = House::new();
    let tools: Vec<Value> = (0..5_003).map(|at| json!({"name": format!("t{at:04}")})).collect();
    house.put("many/big.json", Value::from(tools).to_string());
    house.put("many/small.json", json!([{"name": "fine"}]).to_string());
    let ran = house.run(&["tools", "--catalog", &house.at("many")]).exits(0);
    let shown = |name: &str| ran.out.lines().any(|line| line.trim_start().starts_with(name));
    assert!(shown("mcp_big_t4999") && !shown("mcp_big_t5000") && shown("mcp_small_fine"));
    for words in ["big.json", "5003 tools", "5000 are taken", "limits.tools", "the last 3", "several files"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert!(!ran.err.contains("small.json"), "{}", ran.err);
}

#[test]
fn a_catalog_of_files_stands_alone() {
    let farm = Farm::of("running", &[]);
    let folder = catalog(&farm.house, &["time"]);
    let rows = farm.house.run(&["tools", "--catalog", &folder, "--json"]).exits(0);
    assert!(rows.out.contains("mcp_time_convert_time") && !rows.out.contains("running"), "{}", rows.out);
    assert_eq!(farm.count("running", "start"), 0, "nothing is started");
    farm.house.run(&["show", "time/convert_time", "--catalog", &folder]).exits(0);
    let call = [
        "call",
        "time/convert_time",
        "--catalog",
        &folder,
        "source_timezone=a",
        "target_timezone=b",
        "time=1",
    ];
    farm.house.run(&call).fails(4, "no server runs behind it");
    farm.house.run(&["tools", "--catalog", &folder, "--config", "x.json"]).fails(2, "--config");
    farm.house.run(&["tools", "--catalog", &farm.house.at("nowhere")]).fails(2, "--catalog");
}

#[test]
fn a_bad_file_of_a_catalog_costs_itself() {
    let house = House::new();
    let folder = catalog(&house, &["time"]);
    house.put("catalog/broken.json", "[{\"name\": ");
    house.put("catalog/words.json", "\"tools\"");
    house.put("catalog/answer.json", r#"{"tools": [{"name": "fine"}, {"nameless": 1}]}"#);
    house.put("catalog/notes.txt", "not looked at");
    let ran = house.run(&["tools", "--catalog", &folder]).exits(0);
    assert!(ran.out.contains("mcp_time_convert_time") && ran.out.contains("mcp_answer_fine"), "{}", ran.out);
    for words in
        ["broken.json", "not valid JSON", "words.json", "not a list of tool definitions", "has no name"]
    {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    house.put("empty/readme.md", "");
    let empty = house.run(&["tools", "--catalog", &house.at("empty")]);
    assert!(empty.err.contains("no .json file"), "{}", empty.err);
}

#[test]
fn s1_18_doctor_says_what_a_provider_would_not_take() {
    let house = House::new();
    let folder = catalog(&house, &["time"]);
    house.run(&["doctor", "--catalog", &folder, "--provider", "anthropic"]).exits(0);
    // A definition that doubles at every reference is more than a form without references can hold.
    let mut definitions = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions
            .insert(format!("d{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    definitions.insert("d20".into(), json!({"type": "string"}));
    let tools = json!([{"name": "bomb", "inputSchema": {"type": "object", "$defs": definitions,
        "properties": {"x": {"$ref": "#/$defs/d0"}}}}, {"name": "fine"}]);
    house.put("catalog/odd.json", tools.to_string());
    let args = ["doctor", "--catalog", &folder, "--provider", "gemini-openapi", "--json"];
    let json = house.run(&args).exits(0).json();
    let fault = json["faults"].as_array().unwrap().iter().find(|fault| fault["tool"] == "bomb");
    let fault = fault.unwrap_or_else(|| panic!("{json}"));
    assert_eq!((&fault["stage"], &fault["server"]), (&json!("present"), &json!("odd")));
    assert!(fault["message"].as_str().unwrap().contains("references"), "{fault}");
    let shown = house.run(&["tools", "odd", "--catalog", &folder, "--as", "native:gemini-openapi"]).exits(0);
    assert!(shown.out.contains("mcp_odd_fine") && !shown.out.contains("mcp_odd_bomb"));
    assert!(shown.err.contains("bomb"), "{}", shown.err);
}

#[test]
fn odd_files_of_a_catalog_keep_to_themselves() {
    let house = House::new();
    let put = |name: &str, tools: Value| house.put(&format!("odd/{name}.json"), tools.to_string());
    put("local", json!([{"name": "kitbag_read_result", "description": "not ours"}]));
    put("none", json!([]));
    for same in ["a b", "a_b"] {
        put(same, json!([{"name": "t"}]));
    }
    house.put("odd/mark.json", "\u{feff}[{\"name\": \"t\"}]");
    let folder = house.at("odd");
    let names = |args: &[&str]| -> Vec<String> {
        let all: Vec<&str> = [args, &["--catalog", folder.as_str()]].concat();
        let rows = house.run(&all).exits(0).json();
        rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names(&["tools", "--json"]);
    // A file called like our own tools takes nothing from them.
    assert!(all.contains(&"kitbag_read_result".to_owned()), "{all:?}");
    assert!(all.contains(&"mcp_local_kitbag_read_result".to_owned()), "{all:?}");
    assert!(all.contains(&"mcp_mark_t".to_owned()), "a byte order mark is no part of the text: {all:?}");
    // Of two that want one name neither gets it: else a file more would give it to another tool.
    assert!(!all.contains(&"mcp_a_b_t".to_owned()), "{all:?}");
    assert_eq!(all.iter().filter(|name| name.starts_with("mcp_a_b_t_")).count(), 2, "{all:?}");
    assert_eq!(names(&["tools", "mark", "--as", "gateway"]), ["mcp_mark"]);
    let rows = house.run(&["cost", "--as", "gateway", "--json", "--catalog", &folder]).exits(0).json();
    let tokens: Vec<u64> =
        rows.as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).collect();
    assert!(tokens.iter().all(|tokens| *tokens < 200), "one gateway a row: {rows}");
}

#[test]
fn f62_headings_and_examples_are_refused_where_nothing_obeys_them() {
    let farm = Farm::of("x", &[]);
    for form in ["signatures", "text"] {
        for flags in [&["--examples"][..], &["--group", "effect"], &["--group", "server"]] {
            let args: Vec<&str> = ["prompt", "--as", form].iter().chain(flags).copied().collect();
            farm.house.run(&args).fails(2, &format!("{} needs markdown", flags[0]));
        }
    }
    // Also where kitbag.toml says how tools are shown, for all or for one server.
    for settings in ["[present]\nmode = \"text\"\n", "[servers.x]\nmode = \"signatures\"\n"] {
        farm.settings(settings);
        farm.house.run(&["prompt", "--examples"]).fails(2, "kitbag prompt --as markdown --examples");
        let text = farm.house.run(&["prompt", "--as", "markdown", "--examples"]).exits(0).out;
        assert!(text.contains("- **Example**: `{"), "{text}");
    }
    for args in [
        &["tools", "--strict"][..],
        &["tools", "--as", "text", "--whole"],
        &["cost", "--as", "markdown", "--strict"],
    ] {
        farm.house.run(args).fails(2, "needs a form with definitions");
    }
    farm.is_empty();
}

#[test]
fn f62_cost_says_which_columns_are_estimates() {
    let house = House::new();
    let folder = catalog(&house, &["time"]);
    let ran = house.run(&["cost", "--catalog", &folder]).exits(0);
    let header = ran.out.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(
        header,
        ["SERVER", "TOOLS", "OPENAI", "ANTHROPIC~", "GEMINI~", "GATEWAY", "MARKDOWN", "SIGNATURES"]
    );
    assert!(ran.err.contains("tokens by o200k") && ran.err.contains("~ are estimates"), "{}", ran.err);
    let rows = house.run(&["cost", "--catalog", &folder, "--json"]).exits(0).json();
    for row in rows.as_array().unwrap() {
        let form = row["presentation"].as_str().unwrap();
        let is_other = form.contains("anthropic") || form.contains("gemini");
        assert_eq!((&row["encoding"], &row["estimate"]), (&json!("o200k"), &json!(is_other)), "{form}");
    }
}

#[test]
fn f62_a_gateway_names_its_tools_and_its_actions() {
    let house = House::new();
    let folder = catalog(&house, &["time", "github"]);
    let shown = house.run(&["tools", "--catalog", &folder, "--as", "gateway:openai"]).exits(0).json();
    let of = |name: &str| {
        let fits = |tool: &&Value| tool["function"]["name"] == name;
        shown.as_array().unwrap().iter().find(fits).unwrap()["function"].clone()
    };
    assert_eq!(of("mcp_time")["parameters"]["properties"]["action"]["enum"], json!(["list", "execute"]));
    let about = of("mcp_time")["description"].to_string();
    assert!(about.contains("convert_time, get_current_time"), "{about}");
    let many = of("mcp_github")["description"].to_string();
    assert!(many.contains("add_issue_comment, ") && many.contains(" more") && many.len() < 220, "{many}");
    // The form of MCP itself stays as it is documented.
    let plain = house.run(&["tools", "--catalog", &folder, "--as", "gateway"]).exits(0).json();
    assert!(
        plain[1]["description"].as_str().unwrap().ends_with("provides access to multiple tools"),
        "{plain}"
    );
}
