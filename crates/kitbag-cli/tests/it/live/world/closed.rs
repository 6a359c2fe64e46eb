//! f3: a restriction that cannot be read closes what it could have meant, and nothing else.

use serde_json::{Value, json};

use super::super::Farm;

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

const SLIPS: [Slip; 6] = [
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
