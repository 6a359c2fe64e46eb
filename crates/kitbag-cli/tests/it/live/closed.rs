//! f3: a restriction that cannot be read closes what it could have meant, and nothing else.

use serde_json::{Value, json};

use super::Farm;
use crate::house::Runs as _;

/// Which of the servers `x` and `y` have tools in this list.
#[track_caller]
fn servers(json: &Value) -> String {
    let has = |prefix: &str| {
        json.as_array().unwrap().iter().any(|tool| tool["name"].as_str().unwrap().starts_with(prefix))
    };
    ["x", "y"].into_iter().filter(|name| has(&format!("mcp_{name}_"))).collect()
}

struct Slip {
    settings: &'static str,
    line: u32,
    /// How the one is asked who is closed by it.
    closed: &'static [&'static str],
    /// What is left for them, as [`servers`] has it.
    left: &'static str,
    /// How somebody is asked whom it does not concern.
    open: Option<&'static [&'static str]>,
    /// A server whose tools it leaves callable.
    untouched: Option<&'static str>,
}

const SLIPS: [Slip; 8] = [
    Slip {
        settings: "[agents.b]\nallow = ['x/*']\n[agents.a]\nalow = ['y/*']\n",
        line: 4,
        closed: &["--agent", "a"],
        left: "",
        open: Some(&["--agent", "b"]),
        untouched: None,
    },
    Slip {
        settings: "[agents.b]\n[agents.a]\nallow = 'y/*'\n",
        line: 3,
        closed: &["--agent", "a"],
        left: "",
        open: Some(&["--agent", "b"]),
        untouched: None,
    },
    Slip {
        settings: "[agents.b]\n[agent.a]\nallow = ['y/*']\n[agents.a]\n",
        line: 2,
        closed: &["--agent", "a"],
        left: "",
        open: Some(&["--agent", "b"]),
        untouched: None,
    },
    Slip {
        settings: "[servers.x]\nexclude = 'add'\n[agents.b]\nservers = ['y']\n",
        line: 2,
        closed: &[],
        left: "y",
        open: Some(&["--agent", "b"]),
        untouched: Some("y"),
    },
    Slip {
        settings: "[agents.b]\nservers = ['y']\n[server.x]\nexclude = ['add']\n",
        line: 3,
        closed: &[],
        left: "y",
        open: Some(&["--agent", "b"]),
        untouched: Some("y"),
    },
    // A key above the heading it belongs under.
    Slip {
        settings: "allow = ['y/*']\n[agents.a]\n",
        line: 1,
        closed: &["--agent", "a"],
        left: "",
        open: Some(&[]),
        untouched: None,
    },
    Slip {
        settings: "exclude = ['add']\n[servers.x]\n",
        line: 1,
        closed: &[],
        left: "",
        open: None,
        untouched: None,
    },
    Slip {
        settings: "[agents.b]\n[agents.a]\nallow = ['y/*'\n[servers.x]\n",
        line: 3,
        closed: &[],
        left: "",
        open: None,
        untouched: None,
    },
];

#[test]
fn f3_a_slip_in_a_restriction_closes_what_it_could_have_meant() {
    for Slip { settings, line, closed, left, open, untouched } in SLIPS {
        let farm = Farm::of("x", &[]);
        farm.add("y", &[]);
        farm.settings(settings);
        let tools = farm.house.run(&[&["tools", "--json"], closed].concat()).exits(3);
        assert_eq!(servers(&tools.json()), left, "{settings}");
        let call = ["call", "x/echo", "message=hi"];
        let called = farm.house.run(&[&call, closed].concat()).exits(3);
        for ran in [tools, called] {
            // The line itself, or the next one where only that shows the mistake.
            let found = [line, line + 1].iter().any(|line| ran.err.contains(&format!("kitbag.toml:{line}:")));
            assert!(found, "no kitbag.toml:{line} in {}", ran.err);
        }
        assert_eq!(farm.count("x", "call echo"), 0, "{settings}");
        if let Some(open) = open {
            let tools = farm.house.run(&[&["tools", "--json"], open].concat()).exits(0);
            assert_ne!(servers(&tools.json()), "", "{settings}");
            let name = if untouched.is_some() { "y/echo" } else { "x/echo" };
            farm.house.run(&[&["call", name, "message=hi"], open].concat()).exits(0);
        }
        if let Some(server) = untouched {
            farm.house.run(&["call", &format!("{server}/echo"), "message=hi"]).exits(0);
            assert_eq!(farm.count(server, "call echo"), 2, "{settings}");
        }
        farm.is_empty();
    }
}

/// The same in an entry of a server itself.
#[test]
fn f3_a_slip_in_an_entry_closes_its_server_alone() {
    for slip in [
        json!({"exclude": [7]}),
        json!({"disabledTools": {"add": true}}),
        json!({"include": 7}),
        json!({"excludeTool": ["add"]}),
    ] {
        let farm = Farm::of("y", &[]);
        farm.add_with("x", &[], &slip);
        // One entry costs itself alone, so the rest is a list like any other; the fault is told beside it.
        let ran = farm.house.run(&["tools", "--json"]).exits(0);
        assert_eq!(servers(&ran.json()), "y", "{slip}: {}", ran.err);
        assert!(ran.err.contains("mcp.json"), "{slip}: {}", ran.err);
        farm.house.run(&["call", "x/echo", "message=hi"]).exits(3);
        assert_eq!(farm.count("x", "start"), 0, "{slip}");
        farm.house.run(&["call", "y/echo", "message=hi"]).exits(0);
        farm.is_empty();
    }
    // One string is read as a list of one, and obeyed.
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"exclude": "add"}));
    farm.house.run(&["call", "x/add", "a=1", "b=2"]).exits(5);
    farm.house.run(&["call", "x/echo", "message=hi"]).exits(0);
    assert_eq!(farm.count("x", "call add"), 0);
}

/// A restriction with a slip in the server's name.
#[test]
fn f3_a_restriction_of_an_unknown_server_closes_the_one_it_could_have_meant() {
    let rows = [
        ("exclude = ['add']", true),
        ("include = ['echo']", true),
        ("approve = ['add']", true),
        ("enabled = false", true),
        ("exclude = 'add'", true),
        ("tools.echo.args.message.pin = 'hi'", true),
        ("tools.echo.description = 'Says it'", false),
        ("tag = 'new '", false),
    ];
    for (line, restricts) in rows {
        let farm = Farm::of("filesystem", &[]);
        farm.add("y", &[]);
        farm.settings(&format!("[servers.fliesystem]\n{line}\n"));
        let tools = farm.house.run(&["tools", "--json"]).exits(if restricts { 3 } else { 0 });
        assert_eq!(tools.out.contains("mcp_filesystem_"), !restricts, "{line}");
        assert!(tools.out.contains("mcp_y_") && tools.err.contains("fliesystem"), "{line}: {}", tools.err);
        let ran = farm.house.run(&["call", "filesystem/echo", "message=hi"]);
        let ran = ran.exits(if restricts { 3 } else { 0 });
        assert!(!restricts || ran.err.contains("fliesystem"), "{line}: {}", ran.err);
        assert_eq!(farm.count("filesystem", "call echo"), usize::from(!restricts), "{line}");
        farm.is_empty();
    }
    // Two that are as near: either could have been meant.
    let farm = Farm::of("db-1", &[]);
    farm.add("db-2", &[]);
    farm.settings("[servers.db-3]\nexclude = ['add']\n");
    assert!(!farm.house.run(&["tools", "--json"]).exits(3).out.contains("mcp_db"));
    // One that is near to none is elsewhere.
    farm.settings("[servers.elsewhere]\nexclude = ['add']\n");
    assert!(farm.house.run(&["tools", "--json"]).exits(0).out.contains("mcp_db_2_add"));
}

/// Everybody's settings, then the working folder's, which somebody approved.
#[test]
fn f3_a_later_file_lifts_no_restriction_it_does_not_mention() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[servers.x]\napprove = ['add']\n[servers.x.tools.echo.args.message]\npin = 'pinned'\n\
         [servers.x.tools.env]\nargs = 7\n",
    );
    farm.house.put(
        "project/kitbag.toml",
        "[servers.x]\napprove = ['count']\n[servers.x.tools.echo]\ndescription = 'Later words'\n\
         args.message.describe = 'what'\n[servers.x.tools.env]\ndescription = 'Open again'\n",
    );
    farm.house.run(&["trust", "kitbag.toml"]).exits(0);
    farm.house.run(&["call", "x/add", "a=1", "b=2"]).exits(6);
    farm.house.run(&["call", "x/count"]).exits(6);
    assert!(farm.house.run(&["call", "x/echo"]).exits(0).out.contains("pinned"));
    let shown = farm.house.run(&["show", "x/echo"]).exits(0).out;
    assert!(shown.contains("Later words") && shown.contains("message = \"pinned\", always"), "{shown}");
    assert!(!farm.house.run(&["tools"]).exits(0).out.contains("mcp_x_env"));
    assert_eq!((farm.count("x", "call add"), farm.count("x", "call count")), (0, 0));
    farm.is_empty();
}

/// A file with any number of servers that never could be read. What it said of servers of other files is not known.
#[test]
fn f3_a_file_of_servers_that_cannot_be_read_closes_those_it_could_have_switched_off() {
    let farm = Farm::of("own", &[]);
    let put = |file: &str, server: &str| {
        let entry = farm.entry(server, &[], &json!({}));
        farm.house.put(file, json!({"mcpServers": {server: entry}}).to_string());
    };
    let left = |args: &[&str], code: i32| {
        let ran = farm.house.run(&[&["tools", "--json"], args].concat()).exits(code);
        let has = |name: &&&str| ran.out.contains(&format!("mcp_{name}_"));
        ["own", "one", "two"].iter().filter(has).copied().collect::<Vec<_>>().join(" ")
    };
    put("home/.cursor/mcp.json", "one");
    put("home/.gemini/settings.json", "two");
    let hosts = ["--hosts", "cursor,gemini"];
    farm.house.run(&["servers", "disable", "one", "--hosts", "cursor"]).exits(0);
    assert_eq!(left(&hosts, 0), "own two");
    // Another program's file speaks of its own servers.
    let two = farm.house.text("home/.gemini/settings.json");
    farm.house.put("home/.gemini/settings.json", "{");
    assert_eq!(left(&hosts, 0), "own");
    farm.house.put("home/.gemini/settings.json", two);
    // Our own may have switched off any.
    let whole = farm.house.text("kit/config/mcp.json");
    farm.house.put("kit/config/mcp.json", &whole[..whole.len() / 2]);
    assert_eq!(left(&hosts, 3), "");
    let called = farm.house.run(&["call", "two/echo", "message=hi", hosts[0], hosts[1]]).exits(3);
    assert!(called.err.contains("mcp.json"), "{}", called.err);
    for empty in ["", "{}", "{\"mcpServers\": {}}"] {
        farm.house.put("kit/config/mcp.json", empty);
        assert_eq!(left(&hosts, 0), "one two", "{empty:?}");
    }
    assert_eq!((farm.count("one", "call echo"), farm.count("two", "call echo")), (0, 0));
    farm.is_empty();
}
