//! `kitbag doctor` with real servers: rules that match nothing, and what only a connection shows.

use serde_json::{Value, json};

use super::Farm;
use crate::house::{Ran, Runs as _};
use crate::pty::{self, uncoloured};

const SLIPS: &str = "[servers.web]\ninclude = ['ech*', 'aad']\nexclude = ['fial']\napprove = ['slep']\n\
    idempotent = ['pid', 'gett_*']\nread_only = ['imgae']\n[servers.web.tools.echoo]\nname = 'say'\n\
    [agents.coder]\nservers = ['wep']\nallow = ['wep/*', 'web/ehco']\n";

/// The messages of this code in `doctor --json`.
fn told(ran: &Ran, code: &str) -> Vec<String> {
    let all = ran.json();
    let faults = all["faults"].as_array().unwrap().iter().filter(|fault| fault["kind"] == code);
    faults.map(|fault| format!("{} {}", fault["message"], fault["hint"])).collect()
}

#[track_caller]
fn has(all: &[String], words: &[&str]) {
    for word in words {
        assert!(all.iter().any(|one| one.contains(word)), "{word}: {all:#?}");
    }
}

const OF_TOOLS: &[&str] = &["aad", "fial", "slep", "gett_*", "imgae", "echoo", "ehco"];

#[test]
fn f55_doctor_finds_rules_that_match_nothing_by_the_lists_it_remembers() {
    let farm = Farm::of("web", &[]);
    farm.settings(SLIPS);
    // As long as the tools are not known only servers can be misspelt, and that is said.
    let first = farm.house.run(&["doctor", "--json"]).exits(0);
    assert!(first.err.contains("the tools of web are not known yet"), "{}", first.err);
    has(&told(&first, "no_match"), &["servers", "wep"]);
    assert_eq!(told(&first, "no_match").len(), 2, "{first:?}");
    assert_eq!(farm.count("web", "start"), 0, "nothing is started");
    farm.house.run(&["tools"]).exits(0);
    let before = farm.count("web", "start");
    assert_eq!(before, 1);
    let then = farm.house.run(&["doctor", "--json"]).exits(0);
    assert_eq!(then.err, "");
    let told = told(&then, "no_match");
    has(&told, OF_TOOLS);
    has(&told, &["did you mean \\\"add\\\"", "did you mean \\\"echo\\\"", "did you mean \\\"web/echo\\\""]);
    assert_eq!(told.len(), OF_TOOLS.len() + 2, "{told:#?}");
    assert_eq!(farm.count("web", "start"), before, "nothing is started");
    let text = farm.house.run(&["doctor"]).exits(0);
    assert!(
        text.err.contains("warning[no_match]: web: ") && text.err.contains("kitbag.toml:2:"),
        "{}",
        text.err
    );
    farm.is_empty();
}

#[test]
fn f55_doctor_that_connects_finds_them_at_once() {
    let farm = Farm::of("web", &[]);
    farm.settings(SLIPS);
    let ran = farm.house.run(&["doctor", "--connect", "--json"]).exits(0);
    has(&told(&ran, "no_match"), OF_TOOLS);
    // What an entry itself says counts as well.
    let farm = Farm::new();
    farm.add_with("web", &[], &json!({"includeTools": ["echo", "ad"]}));
    let ran = farm.house.run(&["doctor", "--connect", "--json"]).exits(0);
    has(&told(&ran, "no_match"), &["\\\"include\\\" in its entry: it has no tool called \\\"ad\\\""]);
    farm.is_empty();
}

#[test]
fn f55_doctor_connects_to_every_server_and_says_how_it_is() {
    let farm = Farm::of("good", &["--era", "legacy"]);
    farm.add("mute", &["--fault", "c15:broken"]);
    farm.add_with("gone", &[], &json!({"command": "no-such-program"}));
    let ran = farm.house.run(&["doctor", "--connect", "--json"]).exits(4);
    let all = ran.json();
    let row = |name: &str| -> Value {
        let rows = all["connected"].as_array().unwrap();
        rows.iter().find(|row| row["server"] == name).unwrap_or_else(|| panic!("{name}: {all}")).clone()
    };
    let good = row("good");
    assert_eq!((&good["state"], &good["protocol"]), (&json!("ready"), &json!("legacy")), "{good}");
    assert!(good["era"].as_str().unwrap().starts_with("20") && good["took_ms"].is_u64(), "{good}");
    assert_eq!((good["tools"].as_u64().unwrap(), &good["refused"]), (23, &json!(0)), "{good}");
    assert_eq!((&row("mute")["state"], &row("mute")["tools"]), (&json!("degraded"), &Value::Null));
    assert_eq!(row("gone")["state"], "failed");
    assert!(row("gone")["error"].as_str().unwrap().contains("no-such-program"));
    assert_eq!(all["errors"], 2, "{all}");
    // A person gets a line each, and the reasons below.
    let ran = pty::run(&farm.house, 80, &["doctor", "--connect"], &[]).exits(4);
    let plain = uncoloured(&ran.out);
    for name in ["good", "mute", "gone"] {
        let lines = plain.lines().filter(|line| line.starts_with(&format!("  {name}  ")));
        assert_eq!(lines.count(), 1, "{plain}");
    }
    assert!(
        plain.contains("error[list_failed]: mute: ") && plain.contains("3 servers in use, 2 errors"),
        "{plain}"
    );
    farm.is_empty();
}

#[test]
fn f55_doctor_waits_for_a_slow_server() {
    let farm = Farm::of("slow", &["--start-delay", "1200"]);
    farm.settings("[wait]\nagent = '100ms'\n");
    let ran = farm.house.run(&["doctor", "--connect", "--json"]).exits(0).json();
    let row = &ran["connected"][0];
    assert_eq!((&row["state"], &row["tools"]), (&json!("ready"), &json!(23)), "{ran}");
    assert!(1200 <= row["took_ms"].as_u64().unwrap(), "{row}");
    farm.is_empty();
}

#[test]
fn f55_doctor_names_the_providers_that_would_refuse_a_tool() {
    let mut definitions = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let both = json!({"type": "object", "properties": {"a": next, "b": next}});
        definitions.insert(format!("d{level}"), both);
    }
    definitions.insert("d20".into(), json!({"type": "string"}));
    let input = json!({"type": "object", "$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}});
    let farm = Farm::new();
    farm.add_echo(
        "odd",
        &json!([{"name": "bomb", "inputSchema": input}, {"name": "fine", "inputSchema": {"type": "object"}}]),
    );
    let ran = farm.house.run(&["doctor", "--connect", "--json"]).exits(0);
    let all = ran.json();
    assert_eq!(all["connected"][0]["refused"], 1, "{all}");
    let refused: Vec<&Value> =
        all["faults"].as_array().unwrap().iter().filter(|fault| fault["tool"] == "bomb").collect();
    let message = refused[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the tool bomb is not shown: ") && message.contains("gemini-openapi"),
        "{message}"
    );
    assert!(!message.contains("anthropic"), "{message}");
    farm.is_empty();
}

#[test]
fn f55_the_overview_counts_slips_in_names_of_servers() {
    let farm = Farm::of("web", &[]);
    farm.settings("[agents.coder]\nservers = ['wep']\n");
    let seen = farm.house.run::<&str>(&[]).exits(0).out;
    assert!(seen.contains("0 errors, 1 warning") && seen.contains("kitbag doctor"), "{seen}");
    farm.is_empty();
}

#[test]
fn s1_14_doctor_tells_a_fallback_that_leads_nowhere() {
    let farm = Farm::of("web", &[]);
    farm.settings("[servers.web]\nfallback = 'wep'\n");
    let ran = farm.house.run(&["doctor"]).exits(3);
    for words in ["no server is called \"wep\"", "did you mean \"web\"?", "kitbag.toml:2:"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    farm.is_empty();
}

const RULES: &str = "[groups.local]\nallow = ['*']\ndeny = ['web/slep', 'sleep', 'category:clok']\n\
    approve = ['web/ehco message != h*', 'web/echo message != h*', 'category:clo*']\n[groups.other]\n\
    deny = ['web/fial', 'risk:open']\n[agents.coder]\ndeny = ['web/aad']\n[servers.web]\ncategory = 'clock'\n\
    approve = ['imgae data == x', 'image data == x']\n";

#[test]
fn f55_rules_of_groups_and_agents_that_match_nothing_are_told_with_their_place() {
    let farm = Farm::of("web", &[]);
    farm.settings(RULES);
    let slips = ["web/slep", "is called \\\"clok\\\"", "web/ehco", "web/fial", "web/aad", "imgae"];
    // Before the tools are known one thing is sure: a rule without a server means nothing.
    let first = farm.house.run(&["doctor", "--json"]).exits(0);
    let before = told(&first, "no_match");
    assert_eq!(before.len(), 1, "{before:#?}");
    has(&before, &["no tool is called \\\"sleep\\\"; a rule here says server/tool"]);
    farm.house.run(&["tools"]).exits(0);
    let then = told(&farm.house.run(&["doctor", "--json"]).exits(0), "no_match");
    has(&then, &slips);
    has(
        &then,
        &[
            "did you mean \\\"web/sleep\\\"",
            "did you mean \\\"category:clock\\\"",
            "did you mean \\\"web/echo\\\"",
        ],
    );
    assert_eq!(then.len(), slips.len() + 1, "{then:#?}");
    // Whoever asks about one tool hears of the rules that decide about it.
    for (args, wanted, other) in [
        (
            &["why", "web/sleep"][..],
            &["web/slep", "imgae", "kitbag.toml:3:"][..],
            &["web/aad", "web/fial"][..],
        ),
        (&["why", "web/sleep", "--agent", "coder"], &["web/slep", "web/aad"], &["web/fial"]),
        (
            &["policy", "test", "local", "web/sleep"],
            &["web/slep", "web/ehco", "kitbag.toml:3:"],
            &["web/fial"],
        ),
    ] {
        let ran = farm.house.run(args);
        wanted.iter().for_each(|word| assert!(ran.err.contains(word), "{args:?}, {word}: {}", ran.err));
        other.iter().for_each(|word| assert!(!ran.err.contains(word), "{args:?}, {word}: {}", ran.err));
    }
    farm.is_empty();
}

/// Slips in groups need no server to be seen.
#[test]
fn s2_18_doctor_tells_slips_of_groups_without_starting_anything() {
    let farm = Farm::of("x", &[]);
    farm.settings("[groups.dev]\ndeny = ['risk:destructiv']\n[users.ada]\ngroups = ['dve']\n");
    let ran = farm.house.run(&["doctor"]);
    for words in
        ["did you mean risk:destructive?", "did you mean \"dev\"?", "kitbag.toml:2:", "kitbag.toml:4:"]
    {
        assert!(ran.err.contains(words), "{words}: {ran:?}");
    }
    assert_eq!((ran.code, farm.count("x", "start")), (Some(3), 0), "{ran:?}");
    farm.is_empty();
}
