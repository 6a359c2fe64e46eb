//! What Kitbag writes into each program's file, beside what the program wrote there, is read by that program; those
//! that connect when they list get through to every server.

use serde_json::{Value, json};
use testkit::{Http, bin};

use super::host::Host;
use crate::house::{House, Runs as _};

/// A house whose registry has a server of each transport, each of which answers only who gives it its secret.
struct Exports {
    house: House,
    web: Http,
    old: Http,
}

impl Exports {
    fn new() -> Self {
        let house = House::new();
        let web = Http::start(&["--header", "X-Key=PLANTED"]);
        let old = Http::start(&["--sse", "--bearer", "PLANTED"]);
        let script = format!(
            "printenv TOKEN | grep -qx PLANTED && exec {} --events {}",
            bin("fake-mcp").display(),
            house.at("diary")
        );
        let own = json!({"mcpServers": {
            "program": {"command": "sh", "args": ["-c", script], "env": {"TOKEN": "PLANTED"}, "timeout": 90},
            "web": {"type": "http", "url": web.url(), "headers": {"X-Key": "PLANTED"}},
            "old": {"type": "sse", "url": old.url(), "headers": {"Authorization": "Bearer PLANTED"}},
            "off": {"command": "x", "enabled": false},
        }});
        house.put("kit/config/mcp.json", own.to_string());
        Self { house, web, old }
    }

    /// Writes into the host's file, in which its own command has put something already.
    #[track_caller]
    fn write_for(&self, host: Host) -> String {
        let theirs: &[&str] = match host {
            Host::ClaudeCode => &["mcp", "add", "-s", "user", "theirs", "absent-program"],
            Host::Codex => &["mcp", "add", "theirs", "--", "absent-program"],
            Host::GeminiCli | Host::QwenCode => &["mcp", "add", "-s", "user", "theirs", "absent-program"],
        };
        host.run(&self.house, theirs).exits(0);
        let file = self.house.at(host.file());
        let ran = self.house.run(&["servers", "export", "--to", host.word(), "--write", &file]).exits(0);
        ran.err
    }

    /// What the host's list says of itself: connected to all that were exported, and still its own server there.
    #[track_caller]
    fn check_connected(&self, host: Host) {
        let said = self.write_for(host);
        assert!(said.contains("off is left out: it is disabled"), "{said}");
        let list = host.run(&self.house, &["mcp", "list"]).exits(0).all();
        let line = |name: &str| {
            let is_of = |line: &&str| line.contains(&format!("{name}: "));
            list.lines().find(is_of).unwrap_or_else(|| panic!("no {name} in {list}")).trim_end()
        };
        for name in ["program", "web", "old"] {
            assert!(line(name).ends_with(" Connected"), "{host:?}: {list}");
        }
        assert!(!line("theirs").ends_with(" Connected"), "{host:?}: {list}");
        assert!(!list.contains("off: "), "{host:?}: {list}");
        let diary = self.house.text("diary");
        assert!(diary.contains("initialize") || diary.contains("discover"), "{diary}");
    }
}

#[test]
fn f104_claude_code_connects_to_what_was_exported() {
    Exports::new().check_connected(Host::ClaudeCode);
}

#[test]
fn f104_gemini_cli_connects_to_what_was_exported() {
    Exports::new().check_connected(Host::GeminiCli);
}

#[test]
fn f104_qwen_code_connects_to_what_was_exported() {
    Exports::new().check_connected(Host::QwenCode);
}

/// Codex only lists; it shows what it understood.
#[test]
fn f104_codex_lists_what_was_exported() {
    let exports = Exports::new();
    let said = exports.write_for(Host::Codex);
    assert!(said.contains("old is left out: Codex does not speak SSE"), "{said}");
    let listed = || -> Value {
        let ran = Host::Codex.run(&exports.house, &["mcp", "list", "--json"]).exits(0);
        let rows = ran.json().as_array().unwrap().clone();
        rows.into_iter()
            .map(|row| (row["name"].as_str().unwrap().to_owned(), row))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let rows = listed();
    let names: Vec<&String> = rows.as_object().unwrap().keys().collect();
    assert_eq!(names, ["off", "program", "theirs", "web"]);
    let enabled = |name: &str| rows[name]["enabled"].clone();
    assert_eq!(
        [enabled("off"), enabled("program"), enabled("web")],
        [json!(false), json!(true), json!(true)]
    );
    let program = &rows["program"];
    assert_eq!(program["transport"]["command"], "sh");
    assert_eq!(program["transport"]["env"], json!({"TOKEN": "PLANTED"}));
    assert_eq!(program["tool_timeout_sec"], json!(90.0));
    let web = &rows["web"]["transport"];
    assert_eq!((&web["type"], &web["url"]), (&json!("streamable_http"), &json!(exports.web.url())));
    assert_eq!(web["http_headers"], json!({"X-Key": "PLANTED"}));
    assert!(!rows.to_string().contains(exports.old.url()), "{rows}");
    // What a person wrote into the file stays.
    let file = exports.house.path(Host::Codex.file());
    let mine = format!("# mine\nmodel = \"o3\" # keep\n\n{}", std::fs::read_to_string(&file).unwrap());
    std::fs::write(&file, &mine).unwrap();
    exports.write_for(Host::Codex);
    assert_eq!(exports.house.text(Host::Codex.file()), mine, "nothing is new");
    assert_eq!(listed(), rows);
}
