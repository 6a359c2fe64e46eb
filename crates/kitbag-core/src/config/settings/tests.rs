use serde_json::Value;

use super::*;
use crate::model::{LimitValue, TrifectaPolicy};
use crate::text::nearest;

mod closed;
mod not_yet;

/// The example of CONTRACTS.md, every key of it.
const EXAMPLE: &str = r#"
[sources]
hosts = ["claude-desktop"]
files = ["~/work/mcp.json"]
servers_dir = "data/mcp_servers"

[wait]
agent = "5s"
stdio = "60s"
http = "30s"
list = "30s"
idle = "300s"
total = "600s"

[present]
mode = "auto"
budget = 16000
names = "full"

[servers.github]
required = false
lazy = false
concurrency = 16
timeout = "30s"
connect_timeout = "10s"
per_user = true
mask_results = true
mode = "gateway"
include = ["get_*", "list_*"]
exclude = ["delete_*"]
category = "code"
tag = "[GitHub] "
idempotent = ["get_*"]
read_only = ["get_*"]
approve = ["create_*"]

[servers.github.tools.create_issue]
name = "new_issue"
description = "…"
args.repo = { pin = "me/x" }
args.body = { default = "", rename = "text", describe = "what", hide = false }
examples = [{ title = "Crash on start" }]
options.openai.function.strict = true

[agents.coder]
servers = ["*"]
allow = ["fs/*"]
clash = "prefix"
mode = "auto"
budget = 4000
model = "…"
instruction = "…"
max_steps = 10
kind = "text"

[groups.dev]
allow = ["fs/*", "github/get_*", "category:code"]
deny = ["*/delete_*", "risk:destructive"]
approve = ["risk:write"]
[users.ada]
groups = ["dev"]

[prices."openai/gpt-5-mini"]
input = 0.25
cached = 0.025
output = 2

[limits]
config_file = "16MiB"
[store]
url = "sqlite:"
[pins]
mode = "first-use"
[policy]
trifecta = "warn"
[audit]
payload = false
[serve]
listen = "127.0.0.1:8420"
names = "short"
"#;

/// Settings and their mistakes; what is only not supported yet has tests of its own.
fn settings(text: &str) -> (Settings, Vec<String>) {
    let (settings, faults) = read(Path::new("kitbag.toml"), text, &Limits::default());
    let mistakes = faults.iter().filter(|fault| fault.kind != FaultKind::NotYet);
    (settings, mistakes.map(ToString::to_string).collect())
}

#[test]
fn t28_t43_the_policy_is_read_and_what_cannot_be_read_is_strict() {
    let check = |text: &str, trifecta: TrifectaPolicy, pinned_only: bool, is_denied: bool| {
        let settings = settings(text).0;
        let denied = settings.denied.everyone.is_some();
        assert_eq!(
            (settings.trifecta, settings.pinned_only, denied),
            (trifecta, pinned_only, is_denied),
            "{text}"
        );
    };
    let unset = TrifectaPolicy::Unset;
    check("", unset, false, false);
    check("[policy]", unset, false, false);
    check("[policy]\ntrifecta = 'warn'", TrifectaPolicy::Warn, false, false);
    check("[policy]\ntrifecta = 'ask'\npinned_only = false", TrifectaPolicy::Ask, false, false);
    check("[policy]\ntrifecta = 'deny'\npinned_only = true", TrifectaPolicy::Deny, true, false);
    check("[policy]\npinned_only = 'yes'", unset, true, true);
    check("[policy]\npined_only = true", unset, true, true);
    check("[polcy]\npinned_only = false", unset, true, true);
    check("[policy", unset, true, true);
}

#[test]
fn how_tools_are_served_is_read_and_what_cannot_be_read_asks_for_a_token() {
    let read = |text: &str| settings(text).0.serve;
    let all = "[serve]\nlisten = '127.0.0.1:1'\nnames = 'bare'\nmode = 'gateway'\nrequire_token = true";
    let listen = Some("127.0.0.1:1".to_owned());
    let (names, mode) = (Some(NameForm::Bare), Some(Mode::Gateway));
    let expected = ServeSettings { listen, names, mode, require_token: true, ..ServeSettings::default() };
    assert_eq!(read(all), expected);
    assert_eq!(read(""), ServeSettings::default());
    for (text, expected) in [
        ("[serve]\nrequire_token = false", false),
        ("[serve]\nlisten = 'x'", false),
        ("[serve]\nrequire_token = 'no'", true),
        ("[serve]\nrequre_token = true", true),
        ("[serve]\nauth = true", true),
        ("[serv]\nrequire_token = true", true),
        ("serve = true", true),
        ("[serve", true),
    ] {
        assert_eq!(read(text).require_token, expected, "{text}");
    }
    assert_eq!(settings("[present]\nbudget = 500").0.budget, Some(500));
}

#[test]
fn the_example_is_right() {
    let (settings, faults) = settings(EXAMPLE);
    assert_eq!(faults, [""; 0]);
    assert_eq!(settings.wait.total, Some(Duration::from_secs(600)));
    assert_eq!(settings.limits.config_file, 16 << 20);
    assert_eq!((settings.users[0].as_str(), settings.hosts[0].value.as_str()), ("ada", "claude-desktop"));
    let (name, over) = &settings.servers[0];
    assert_eq!((name.as_str(), over.value.concurrency, over.place.line), ("github", Some(16), 20));
    assert_eq!(over.value.include.as_deref(), Some(&["get_*".to_owned(), "list_*".to_owned()][..]));
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!((over.value.call, over.value.connect), (seconds(30), seconds(10)));
    assert_eq!((over.value.per_user, over.value.mask_results), (Some(true), Some(true)));
    let closed = [&over.value.rules.closed, &settings.agents[0].1.closed, &settings.all_servers];
    assert_eq!((closed, settings.unread), ([&None; 3], false));
}

#[test]
fn mistakes_are_named() {
    let check = |text: &str, want: &str| {
        let (_, faults) = settings(text);
        assert!(faults.len() == 1 && faults[0].contains(want), "{text}: {faults:?}");
    };
    check("[wiat]", "kitbag.toml:1:2: unknown key \"wiat\" in kitbag.toml (did you mean \"wait\"?)");
    check("[wait]\nagnet = \"5s\"", ":2:1: unknown key \"agnet\" in wait (did you mean \"agent\"?)");
    check("[servers.a]\nconcurency = 1", "(did you mean \"concurrency\"?)");
    check("[store]\nzzz = 1", "(known keys: url)");
    check("[wait]\nagent = 5", "\"agent\" must be a time such as \"5s\" or \"500ms\", found a number");
    check("[wait]\nagent = \"5 parsecs\"", "must be a time");
    check("wait = 1", "\"wait\" must be a table, found a number");
    check("[present]\nmode = \"loud\"", "\"mode\" cannot be \"loud\" (one of native, gateway");
    check("[present]\nbudget = -1", "\"budget\" must be a whole number");
    check("[servers.a]\ninclude = \"x\"", "\"include\" must be a list of strings, found a string");
    check("[servers.a]\nlazy = \"yes\"", "\"lazy\" must be true or false, found a string");
    check("[servers]\na = 1", "\"a\" must be a table");
    check("[sources]\nhosts = [\"cursr\"]", "unknown program \"cursr\" (did you mean \"cursor\"?)");
    check("[limits]\nconfig_fil = 1", "(did you mean \"config_file\"?)");
    check(
        "[limits]\nconfig_file = \"1 stone\"",
        "must be a number from 1, a size such as \"16MiB\" or a time such as \"5s\", found a string",
    );
    check("[limits]\nconfig_file = 0", "must be a number from 1");
    check("[limits]\nconfig_depth = inf", "must be a number from 1");
    check("limits = 1", "\"limits\" must be a table");
    check("[users.\"a b\"]", "user id \"a b\" is not 1 to 64");
    check("[wait\n", "not valid TOML");
    assert!(is_broken(&read(Path::new("k"), "x = 1", &Limits::default()).1));
}

#[test]
fn what_is_wrong_is_not_taken_over() {
    let (settings, faults) = settings(
        "[limits]\nconfig_depth = inf\nconfig_nodes = -1\nconfig_files = 1.5\n[wait]\nhttp = 3\nlist = \"1s\"",
    );
    assert_eq!(faults.len(), 4);
    // What `[wait]` says right counts.
    assert_eq!(settings.limits, Limits { wait_list: Duration::from_secs(1), ..Limits::default() });
    assert_eq!((settings.wait.http, settings.wait.list), (None, Some(Duration::from_secs(1))));
}

#[test]
fn durations_and_sizes() {
    let time = |text: &str, want: Option<u64>| {
        assert_eq!(duration(text).map(|d| d.as_millis() as u64), want, "{text}")
    };
    time("500ms", Some(500));
    time("5s", Some(5_000));
    time("1.5s", Some(1_500));
    time("2m", Some(120_000));
    time("2 min", Some(120_000));
    time("1h", Some(3_600_000));
    time("0s", Some(0));
    time("90d", Some(90 * 24 * 3_600_000));
    time("3650d", Some(3_650 * 24 * 3_600_000));
    for text in ["", "5", "s", "-5s", "3651d", "5w", "1.2.3s", "9999999h", "5S"] {
        time(text, None);
    }
    let bytes = |text: &str, want: Option<usize>| assert_eq!(size(text), want, "{text}");
    bytes("16MiB", Some(16 << 20));
    bytes("64KiB", Some(64 << 10));
    bytes("1GiB", Some(1 << 30));
    bytes("10MB", Some(10_000_000));
    bytes("512B", Some(512));
    bytes("512", Some(512));
    bytes("0.5KiB", Some(512));
    for text in ["", "MiB", "-1B", "1TiB", "1e9", "99999999GiB"] {
        bytes(text, None);
    }
}

#[test]
fn every_limit_can_be_set_by_its_name() {
    for row in Limits::default().rows() {
        let (text, bound) = match row.bound {
            LimitValue::Items(_) => ("7", LimitValue::Items(7)),
            LimitValue::Bytes(_) => ("\"7KiB\"", LimitValue::Bytes(7 << 10)),
            LimitValue::Time(_) => ("\"7ms\"", LimitValue::Time(Duration::from_millis(7))),
        };
        let (settings, faults) = settings(&format!("[limits]\n{} = {text}", row.name));
        let mut want = Limits::default();
        assert!(want.set(row.name, bound) && faults.is_empty(), "{faults:?}");
        assert_eq!(settings.limits, want);
    }
    assert!(!Limits::default().set("nothing", LimitValue::Items(1)));
}

/// The part of JSON Schema that ours uses, patterns apart.
fn fits(schema: &Value, node: &Node) -> bool {
    if let Some(any) = schema["anyOf"].as_array() {
        return any.iter().any(|one| fits(one, node));
    }
    if let Some(one) = schema["const"].as_str() {
        return node.text() == Some(one);
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return true,
    };
    let kind = |kind: &&str| match *kind {
        "string" => node.text().is_some(),
        "boolean" => node.bool().is_some(),
        "integer" | "number" => node.number().is_some_and(|number| {
            (*kind == "number" || number.fract() == 0.0)
                && schema["minimum"].as_f64().is_none_or(|least| least <= number)
        }),
        "array" => node.list().is_some_and(|nodes| nodes.iter().all(|node| fits(&schema["items"], node))),
        _ => node.map().is_some_and(|pairs| {
            pairs.iter().all(|pair| match schema["properties"].get(&pair.key) {
                Some(inner) => fits(inner, &pair.value),
                None => schema
                    .get("additionalProperties")
                    .is_some_and(|rest| *rest != Value::Bool(false) && fits(rest, &pair.value)),
            })
        }),
    };
    let listed = |words: &Vec<Value>| node.text().is_some_and(|text| words.iter().any(|word| word == text));
    kinds.iter().any(kind) && schema["enum"].as_array().is_none_or(listed)
}

#[test]
fn the_schema_and_the_checker_agree() {
    let schema = json_schema();
    let check = |text: &str| {
        let source = Source::new(Path::new("kitbag.toml"), text);
        let Ok(root) = tree::parse(&source, Format::Toml, &Limits::default()) else { return false };
        let faults = check::check(&source, &root, usize::MAX);
        assert_eq!(fits(&schema, &root), faults.is_empty(), "{text}\n{faults:?}");
        faults.is_empty()
    };
    assert!(check(EXAMPLE));
    let (mut right, mut wrong) = (0, 0);
    for (index, line) in EXAMPLE.lines().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else { continue };
        for other in ["1", "true", "\"loud\"", "[1]", "[\"x\"]", "{ zz = 1 }", "1.5", "[]"] {
            let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
            lines[index] = format!("{key} = {other}");
            let text = lines.join("\n");
            // Times and sizes are texts to a schema without its patterns.
            let is_patterned = |fault: &String| ["time", "size"].iter().any(|word| fault.contains(word));
            if other == "\"loud\"" && settings(&text).1.iter().any(is_patterned) {
                continue;
            }
            if check(&text) { right += 1 } else { wrong += 1 }
        }
        let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
        lines[index] = format!("{key}zz = 1");
        check(&lines.join("\n"));
    }
    assert!(50 < right && 200 < wrong, "{right} {wrong}");
    assert_eq!(
        nearest("wiat", schema["properties"].as_object().unwrap().keys().map(String::as_str)),
        Some("wait")
    );
}

#[test]
fn who_may_come_to_the_endpoint_is_read_and_a_slip_lets_nobody_in() {
    let read = |text: &str| super::read(Path::new("kitbag.toml"), text, &Limits::default()).0.serve;
    let given =
        read("[serve]\nallowed_hosts = [\"tools.example\"]\nallowed_origins = [\"https://a.example\"]\n");
    assert_eq!(given.allowed_hosts, Some(vec!["tools.example".to_owned()]));
    assert_eq!(given.allowed_origins, Some(vec!["https://a.example".to_owned()]));
    assert_eq!(read("[serve]\n").allowed_hosts, None);
    for slip in ["allowed_hosts = 3", "allowed_host = [\"tools.example\"]", "allowed_hosts = []"] {
        assert_eq!(read(&format!("[serve]\n{slip}\n")).allowed_hosts, Some(Vec::new()), "{slip}");
    }
}

#[test]
fn what_models_cost_is_read_and_half_a_price_is_none() {
    let (read, faults) =
        settings("[prices.'openai/a']\ninput = 1\noutput = 2.5\n[prices.'openai/b']\ninput = 1\n");
    assert_eq!(faults, Vec::<String>::new());
    let [(name, price)] = read.prices.as_slice() else { panic!("{:?}", read.prices) };
    assert_eq!(
        (name.as_str(), price.cached, price.dollars(1_000_000, 0, 1_000_000)),
        ("openai/a", price.input, 3.5)
    );
    let (read, faults) = settings("[prices.'openai/a']\ninput = -1\noutput = '2'\nouput = 1");
    assert!(read.prices.is_empty());
    assert_eq!(faults.len(), 3, "{faults:?}");
}
