//! Each program sees tools as it can use them: by what it asks for, by what the operator says, and by what it is.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::Farm;

use super::{LONG, Served, request, status};
use crate::house::Runs as _;

/// A client of the older era: what it calls itself, and its session.
struct Client<'s> {
    served: &'s Served<'s>,
    path: String,
    headers: String,
}

impl<'s> Client<'s> {
    /// Begins as this program, at this address (`?mode=…` and so on behind `/mcp`).
    #[track_caller]
    fn of(served: &'s Served<'s>, name: &str, behind: &str) -> Self {
        Self::with(served, name, behind, "")
    }

    #[track_caller]
    fn with(served: &'s Served<'s>, name: &str, behind: &str, headers: &str) -> Self {
        let mut client = Self { served, path: format!("/mcp{behind}"), headers: headers.to_owned() };
        let info = json!({"name": name, "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let answer = client.raw(&request(1, "initialize", &params));
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let id = id.unwrap_or_else(|| panic!("no session: {answer}")).trim();
        client.headers += &format!("mcp-session-id: {id}\r\n");
        client
    }

    #[track_caller]
    fn raw(&self, body: &Value) -> String {
        raw(self.served, &self.path, &self.headers, body)
    }

    /// The result, or the error, of a request; events that came before are in the text.
    #[track_caller]
    fn ask(&self, method: &str, params: &Value) -> (Value, String) {
        let answer = self.raw(&request(2, method, params));
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let messages = body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        // Between events stand the lengths of chunks.
        let mut parsed = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let last = parsed.rfind(Value::is_object);
        (last.unwrap_or_else(|| panic!("no JSON: {answer}")), answer)
    }

    #[track_caller]
    fn tools(&self) -> Vec<Value> {
        let (answer, _) = self.ask("tools/list", &json!({}));
        answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {answer}")).clone()
    }

    #[track_caller]
    fn names(&self) -> Vec<String> {
        self.tools().into_iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn call(&self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments})).0
    }

    /// What it says when it calls `echo` by this name.
    #[track_caller]
    fn echo(&self, name: &str) -> String {
        let answer = self.call(name, &json!({"message": "hi"}));
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {answer}"))
            .to_owned()
    }
}

#[track_caller]
fn raw(served: &Served<'_>, path: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut stream = TcpStream::connect(served.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{headers}\r\n",
        served.address(),
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const GATEWAYS: [&str; 2] = ["mcp_x", "mcp_y"];

fn two() -> Farm {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm
}

fn is_native(names: &[String]) -> bool {
    names.contains(&"x_echo".to_owned()) && names.contains(&"y_echo".to_owned())
}

#[test]
fn a_client_that_asks_for_a_mode_gets_it_and_nobody_else() {
    let farm = two();
    let served = Served::start(&farm, &[]);
    let usual = Client::of(&served, "some-program", "");
    let asked = Client::of(&served, "some-program", "?mode=gateway");
    let header = Client::with(&served, "some-program", "", "Kitbag-Mode: gateway\r\n");
    assert!(is_native(&usual.names()), "{:?}", usual.names());
    assert_eq!(asked.names(), GATEWAYS);
    assert_eq!(header.names(), GATEWAYS);
    assert!(is_native(&usual.names()), "another's wish is not its own");
    // The address counts before the header.
    let both = Client::with(&served, "some-program", "?mode=native", "Kitbag-Mode: gateway\r\n");
    assert!(is_native(&both.names()));
    let one = Client::of(&served, "some-program", "/s/y?mode=gateway");
    assert_eq!(one.names(), ["mcp_y"]);
    for (behind, word) in
        [("?mode=serach", "serach"), ("?mode=search", "not supported yet"), ("?names=long", "long")]
    {
        let refused = raw(&served, &format!("/mcp{behind}"), "", &super::initialize());
        assert_eq!(status(&refused), "400", "{refused}");
        assert!(refused.contains(word), "{refused}");
    }
    served.stop();
}

#[test]
fn the_operator_says_how_tools_are_seen_and_a_client_may_differ() {
    for (settings, flags) in [
        ("", &["--mode", "gateway"][..]),
        ("[serve]\nmode = 'gateway'\n", &[]),
        ("[present]\nmode = 'gateway'\n", &[]),
    ] {
        let farm = two();
        farm.settings(settings);
        let served = Served::start(&farm, flags);
        let usual = Client::of(&served, "some-program", "");
        let other = Client::of(&served, "some-program", "?mode=native");
        assert_eq!(usual.names(), GATEWAYS, "{settings}{flags:?}");
        assert!(is_native(&other.names()), "{settings}{flags:?}");
        served.stop();
    }
    let farm = two();
    farm.settings("[serve]\nmode = 'native'\n[servers.y]\nmode = 'gateway'\n[agents.a]\nmode = 'gateway'\n");
    let served = Served::start(&farm, &[]);
    let mixed = Client::of(&served, "some-program", "").names();
    assert!(mixed.contains(&"x_echo".to_owned()) && mixed.contains(&"mcp_y".to_owned()), "{mixed:?}");
    assert!(!mixed.contains(&"y_echo".to_owned()) && !mixed.contains(&"mcp_x".to_owned()), "{mixed:?}");
    assert_eq!(Client::of(&served, "some-program", "/a/a").names(), GATEWAYS, "an agent has its own way");
    served.stop();
    let search = farm.house.run(&["serve", "--mode", "search"]);
    search.fails(2, "not supported yet");
}

#[test]
fn what_does_not_fit_a_model_is_one_tool_for_hosts_that_defer_nothing() {
    let farm = two();
    // Room for the one, not for both; y has fewer tools.
    farm.settings("[servers.y]\ninclude = ['echo']\n[present]\nbudget = 600\n");
    let served = Served::start(&farm, &[]);
    let [cline, claude, anybody, asks] =
        [("Cline", ""), ("claude-code", ""), ("some-program", ""), ("some-program", "?mode=auto")]
            .map(|(name, behind)| Client::of(&served, name, behind));
    assert_eq!(cline.names(), ["y_echo", "mcp_x"], "the largest goes first, and no more than needed");
    assert_eq!(asks.names(), ["y_echo", "mcp_x"]);
    assert!(is_native(&claude.names()), "it defers tools itself");
    assert!(is_native(&anybody.names()));
    // Whichever list it has, both ways lead to the tool.
    assert_eq!(cline.echo("x_echo"), "hi");
    let through = cline
        .call("mcp_x", &json!({"action": "execute", "tool_name": "echo", "tool_inputs": {"message": "hi"}}));
    assert_eq!(through["result"]["content"][0]["text"], "hi", "{through}");
    // The budget is read again while it serves.
    farm.settings("[servers.y]\ninclude = ['echo']\n[present]\nbudget = 100000\n");
    assert!(testkit::wait_until(LONG, || is_native(&cline.names())));
    served.stop();
}

#[test]
fn a_host_that_takes_so_many_tools_gets_no_more() {
    let farm = Farm::of("y", &[]);
    let many: Vec<Value> =
        (0..140).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}})).collect();
    farm.add_echo("x", &json!(many));
    let served = Served::start(&farm, &[]);
    let (code, cline) = (Client::of(&served, "Visual Studio Code", ""), Client::of(&served, "Cline", ""));
    let names = code.names();
    assert!(names.contains(&"mcp_x".to_owned()) && names.contains(&"y_echo".to_owned()), "{names:?}");
    assert!(names.len() <= 128);
    assert!(140 < cline.names().len());
    served.stop();
}

#[test]
fn names_are_cut_to_the_room_a_host_leaves_and_only_there() {
    let farm = Farm::of("x", &[]);
    let long = "create_or_replace_the_protection_rules_of_a_branch_x";
    farm.add_echo("git", &json!([{"name": long, "inputSchema": {"type": "object"}}, {"name": "get", "inputSchema": {"type": "object"}}]));
    let served = Served::start(&farm, &[]);
    let plain = format!("git_{long}");
    assert_eq!(plain.len(), 56);
    let [claude, cursor, qwen, anybody] =
        ["claude-code", "cursor-vscode", "qwen-cli-mcp-client-everything", "some-program"]
            .map(|name| Client::of(&served, name, ""));
    let of_long =
        |client: &Client<'_>| client.names().into_iter().find(|name| name.starts_with("git_create")).unwrap();
    for (client, most) in [(&claude, 51), (&cursor, 53), (&qwen, 63 - "mcp__everything__".len())] {
        let cut = of_long(client);
        assert_eq!(cut.len(), most, "{cut}");
        assert!(client.names().contains(&"git_get".to_owned()), "what fits is called as everywhere");
        let done = client.call(&cut, &json!({}));
        assert_ne!(done["result"]["isError"], true, "{done}");
        // Also by the name that others see.
        let done = client.call(&plain, &json!({}));
        assert!(done["result"].is_object(), "{done}");
    }
    assert_eq!(of_long(&anybody), plain);
    assert_eq!(farm.count("git", "call"), 6);
    // The hash is the same in any room, and the names are those of another run.
    let hash = |name: String| name.rsplit('_').next().unwrap().to_owned();
    assert_eq!(hash(of_long(&claude)), hash(of_long(&cursor)));
    let before = of_long(&claude);
    drop((claude, cursor, qwen, anybody));
    served.stop();
    farm.add("aaa", &[]);
    let served = Served::start(&farm, &[]);
    assert_eq!(of_long(&Client::of(&served, "claude-code", "")), before);
    served.stop();
}

#[test]
fn names_are_as_a_client_the_command_or_the_settings_ask() {
    let farm = two();
    farm.settings("[serve]\nnames = 'full'\n[agents.a]\nnames = 'bare'\nservers = ['x']\n");
    let has = |client: &Client<'_>, name: &str| client.names().contains(&name.to_owned());
    let served = Served::start(&farm, &[]);
    let [usual, wish, agent, agents_wish] =
        ["", "?names=short", "/a/a", "/a/a?names=short"].map(|behind| Client::of(&served, "p", behind));
    assert!(
        has(&usual, "mcp_x_echo")
            && has(&wish, "x_echo")
            && agent.names().iter().any(|name| name.starts_with("echo_"))
            && has(&agents_wish, "x_echo")
    );
    let header = Client::with(&served, "p", "", "Kitbag-Names: short\r\n");
    assert!(has(&header, "x_echo") && has(&usual, "mcp_x_echo"));
    // Any of the forms finds the tool.
    assert_eq!(usual.echo("x_echo"), "hi");
    served.stop();
    let served = Served::start(&farm, &["--names", "short"]);
    assert!(has(&Client::of(&served, "p", ""), "x_echo"), "the command counts before the settings");
    served.stop();
}

#[test]
fn a_description_ends_where_its_host_stops_reading() {
    let farm = Farm::new();
    let long = "It does this and that. ".repeat(200);
    farm.add_echo("x", &json!([{"name": "t", "description": long, "inputSchema": {"type": "object"}}]));
    let served = Served::start(&farm, &[]);
    let about = |client: &Client<'_>| {
        client.tools().into_iter().find(|tool| tool["name"] == "x_t").unwrap()["description"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let cut = about(&Client::of(&served, "claude-code", ""));
    assert!(cut.chars().count() <= 2048 && cut.ends_with("that.…"), "{cut}");
    assert_eq!(about(&Client::of(&served, "some-program", "")), long);
    served.stop();
}

#[test]
fn s1_1_s1_8_a_gateway_lists_and_executes_for_a_host() {
    let farm = two();
    farm.settings("[groups.local]\ndeny = ['x/fail']\n");
    let served = Served::start(&farm, &["--mode", "gateway"]);
    let client = Client::of(&served, "some-program", "");
    let tools = client.tools();
    let gateway = tools.iter().find(|tool| tool["name"] == "mcp_x").unwrap();
    assert_eq!(gateway["inputSchema"]["properties"]["action"]["default"], "list");
    let text =
        |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    // Without an action it lists; what is denied does not exist.
    let listed = client.call("mcp_x", &json!({}));
    let list: Value = serde_json::from_str(&text(&listed)).unwrap();
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"echo") && !names.contains(&"fail"), "{names:?}");
    let execute = |tool: &str, inputs: Value| {
        client.call("mcp_x", &json!({"action": "execute", "tool_name": tool, "tool_inputs": inputs}))
    };
    assert_eq!(text(&execute("echo", json!({"message": "hi"}))), "hi");
    let structured = execute("structured", json!({"value": "text"}));
    assert!(structured["result"]["structuredContent"].is_object(), "as its server wrote it: {structured}");
    for (answer, word) in [
        (execute("fail", json!({})), "no tool 'fail'"),
        (execute("ehco", json!({})), "Did you mean 'echo'"),
        (client.call("mcp_x", &json!({"action": "execute"})), "needs tool_name"),
        (client.call("mcp_x", &json!({"action": "run"})), "unknown action"),
        (execute("echo", json!({"message": {}})), "message"),
    ] {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).contains(word), "{word}: {answer}");
    }
    // Progress travels before the result, under the client's own token.
    // Also where all of it comes in one moment.
    for ms in [1, 0, 0, 0] {
        let arguments =
            json!({"action": "execute", "tool_name": "progress", "tool_inputs": {"n": 3, "ms": ms}});
        let params = json!({"name": "mcp_x", "arguments": arguments, "_meta": {"progressToken": "mine"}});
        let (done, all) = client.ask("tools/call", &params);
        assert!(done["result"]["content"].is_array(), "{all}");
        assert_eq!(all.matches(r#""progressToken":"mine""#).count(), 3, "{all}");
    }
    assert_eq!(farm.count("x", "start"), 1, "one connection for all of it");
    served.stop();
}

#[test]
fn in_the_newer_era_each_request_says_who_asks() {
    let farm = two();
    farm.settings("[present]\nbudget = 1\n");
    let served = Served::start(&farm, &[]);
    let list = |name: &str, headers: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        });
        let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n{headers}");
        raw(&served, "/mcp", &headers, &request(1, "tools/list", &json!({"_meta": meta})))
    };
    assert!(list("Cline", "").contains("\"mcp_x\""), "{}", list("Cline", ""));
    assert!(list("claude-code", "").contains("\"x_echo\""));
    assert!(list("claude-code", "Kitbag-Mode: gateway\r\n").contains("\"mcp_x\""));
    served.stop();
}
