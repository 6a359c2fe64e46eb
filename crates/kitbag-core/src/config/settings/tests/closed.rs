//! A restriction that cannot be read restricts everything it could have meant, and nothing besides.

use super::*;

/// What a file closes and denies, one line each, with at least one error beside it.
#[track_caller]
fn check(text: &str, want: &[&str]) {
    let (settings, faults) = read(Path::new("kitbag.toml"), text, &Limits::default());
    assert_eq!(effects(&settings), want, "{text}");
    assert!(want.is_empty() || is_broken(&faults), "{text}: {faults:?}");
    for line in want {
        let place = line.rsplit_once('(').unwrap().1.trim_end_matches(')');
        let has_place = |fault: &Fault| fault.place.as_ref().is_some_and(|at| at.to_string() == place);
        assert!(faults.iter().any(has_place), "{text}: no fault at {place} in {faults:?}");
    }
}

fn effects(settings: &Settings) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut add =
        |who: &str, reason: Option<&String>| lines.extend(reason.map(|why| format!("{who}: {why}")));
    add("everyone", settings.denied.everyone.as_ref());
    settings.denied.users.iter().for_each(|(user, why)| add(&format!("user {user}"), Some(why)));
    add("all servers", settings.all_servers.as_ref());
    add("all agents", settings.all_agents.as_ref());
    for (name, group) in &settings.groups {
        add(&format!("group {name}"), group.closed.as_ref());
    }
    for (name, agent) in &settings.agents {
        add(&format!("agent {name}"), agent.closed.as_ref());
    }
    for (name, server) in &settings.servers {
        add(&format!("server {name}"), server.value.rules.closed.as_ref());
        for (tool, rules) in &server.value.rules.tools {
            add(&format!("tool {name}/{tool}"), rules.closed.as_ref());
        }
    }
    lines
}

#[test]
fn f3_an_agent_whose_restrictions_cannot_be_read_is_closed() {
    check(
        "[agents.a]\nalow = [\"fs/*\"]",
        &["agent a: unknown key \"alow\" in [agents.a] (kitbag.toml:2:1)"],
    );
    check(
        "[agents.a]\nallow = \"fs/*\"",
        &["agent a: \"allow\" in [agents.a] cannot be read (kitbag.toml:2:9)"],
    );
    check(
        "[agents.a]\nallow = [\"fs/*\", 1]",
        &["agent a: \"allow\" in [agents.a] cannot be read (kitbag.toml:2:9)"],
    );
    check(
        "[agents.a]\nservers = true",
        &["agent a: \"servers\" in [agents.a] cannot be read (kitbag.toml:2:11)"],
    );
    check(
        "[agents.a]\nforbid = [\"fs/*\"]",
        &["agent a: unknown key \"forbid\" in [agents.a] (kitbag.toml:2:1)"],
    );
    check("[agents]\na = 1", &["agent a: [agents.a] cannot be read (kitbag.toml:2:5)"]);
    // Only that agent, and nothing for keys that restrict nothing.
    check(
        "[agents.\"a b\"]\nalow = []\n[agents.b]\nallow = [\"x/*\"]",
        &["agent a b: unknown key \"alow\" in [agents.\"a b\"] (kitbag.toml:2:1)"],
    );
    check("[agents.a]\nallow = [\"fs/*\"]\nmodle = \"x\"\nclash = 3\nmode = \"loud\"", &[]);
}

#[test]
fn f3_a_server_whose_restrictions_cannot_be_read_is_closed() {
    for (line, column) in [("include = \"x\"", 11), ("exclude = \"x\"", 11), ("tools = 3", 9)] {
        let key = line.split(' ').next().unwrap();
        check(
            &format!("[servers.x]\n{line}"),
            &[&format!("server x: {key:?} in [servers.x] cannot be read (kitbag.toml:2:{column})")],
        );
    }
    for key in ["exlude", "Include", "aprove", "enabld", "tool", "peruser2", "zzz"] {
        check(
            &format!("[servers.x]\n{key} = [\"x\"]\n[servers.y]\nexclude = [\"x\"]"),
            &[&format!("server x: unknown key {key:?} in [servers.x] (kitbag.toml:2:1)")],
        );
    }
    check("[servers]\nx = 1", &["server x: [servers.x] cannot be read (kitbag.toml:2:5)"]);
    check("[servers.x]\nconcurency = 1\nlazi = true\ntag = 3\ntimeout = 5", &[]);
}

#[test]
fn f3_a_tool_whose_restrictions_cannot_be_read_is_withheld() {
    let tool = |text: &str, want: &str| {
        check(&format!("[servers.x.tools.t]\n{text}"), &[&format!("tool x/t: {want}")]);
    };
    tool("args = 3", "\"args\" in [servers.x.tools.t] cannot be read (kitbag.toml:2:8)");
    tool("arg.path = { pin = 1 }", "unknown key \"arg\" in [servers.x.tools.t] (kitbag.toml:2:1)");
    tool("args.p = 3", "[servers.x.tools.t.args.p] cannot be read (kitbag.toml:2:10)");
    tool("args.p = { hide = 1 }", "\"hide\" in [servers.x.tools.t.args.p] cannot be read (kitbag.toml:2:19)");
    tool("args.p = { pni = 1 }", "unknown key \"pni\" in [servers.x.tools.t.args.p] (kitbag.toml:2:12)");
    check("[servers.x.tools]\nt = 3", &["tool x/t: [servers.x.tools.t] cannot be read (kitbag.toml:2:5)"]);
    check("[servers.x.tools.t]\ndescripton = \"x\"\nargs.p = { renam = \"x\", pin = 1 }", &[]);
}

#[test]
fn f3_a_flag_that_cannot_be_read_counts_as_the_strictest() {
    let over = |line: &str| {
        let (settings, faults) =
            read(Path::new("kitbag.toml"), &format!("[servers.x]\n{line}"), &Limits::default());
        assert!(is_broken(&faults), "{line}: {faults:?}");
        let value = settings.servers[0].1.value.clone();
        assert_eq!(value.rules.closed, None, "{line}");
        value
    };
    assert_eq!(over("enabled = \"yes\"").enabled, Some(false));
    assert_eq!(over("per_user = \"no\"").per_user, Some(true));
    assert_eq!(over("mask_results = \"no\"").mask_results, Some(true));
    assert_eq!(over("approve = \"delete_*\"").rules.approve, ["*"]);
    assert_eq!(over("approve = [\"delete_*\", 1]").rules.approve, ["*"]);
    assert_eq!(over("concurrency = -1").concurrency, None);
}

#[test]
fn f3_a_misspelt_section_closes_what_it_names() {
    check(
        "[server.x]\nexclude = [\"x\"]\n[servers.x]\ntag = \"y\"\n[servers.y]\ntag = \"y\"",
        &["server x: unknown section [server] (kitbag.toml:1:2)"],
    );
    check("[serves.z]", &["server z: unknown section [serves] (kitbag.toml:1:2)"]);
    check("[agent.a]\nallow = [\"x\"]", &["agent a: unknown section [agent] (kitbag.toml:1:2)"]);
    check("[user.ada]\ngroups = [\"x\"]", &["user ada: unknown section [user] (kitbag.toml:1:2)"]);
    check("[group.local]", &["group local: unknown section [group] (kitbag.toml:1:2)"]);
    check(
        "[group.dev]\n[groups.dev]\nallow = ['x/*']",
        &["group dev: unknown section [group] (kitbag.toml:1:2)"],
    );
    check(
        "[groups.dev]\ndeni = ['x']",
        &["group dev: unknown key \"deni\" in [groups.dev] (kitbag.toml:2:1)"],
    );
    check(
        "[groups.dev]\ndeny = 'x'",
        &["group dev: \"deny\" in [groups.dev] cannot be read (kitbag.toml:2:8)"],
    );
    check("[polcy]\ntrifecta = \"deny\"", &["everyone: unknown section [polcy] (kitbag.toml:1:2)"]);
    check("[policy]\ntrifect = 'deny'", &["everyone: unknown key \"trifect\" in [policy] (kitbag.toml:2:1)"]);
    check(
        "[policy]\ntrifecta = 'no'",
        &["everyone: \"trifecta\" in [policy] cannot be read (kitbag.toml:2:12)"],
    );
    check(
        "[policy]\npinned_only = 1",
        &["everyone: \"pinned_only\" in [policy] cannot be read (kitbag.toml:2:15)"],
    );
    check("policy = 3", &["everyone: [policy] cannot be read (kitbag.toml:1:10)"]);
    check("servers = 3", &["all servers: [servers] cannot be read (kitbag.toml:1:11)"]);
    check("server = 3", &["all servers: unknown section [server] (kitbag.toml:1:1)"]);
    check("agents = 3", &["all agents: [agents] cannot be read (kitbag.toml:1:10)"]);
    check("users = 3", &["everyone: [users] cannot be read (kitbag.toml:1:9)"]);
    check("groups = 3", &["user local: [groups] cannot be read (kitbag.toml:1:10)"]);
    check("[wiat]\nagent = \"5s\"\n[nonsense]\nx = 1", &[]);
}

#[test]
fn f3_a_restriction_above_its_heading_closes_all_it_could_have_meant() {
    let check = |line: &str, sections: &[&str]| {
        let key = line.split(' ').next().unwrap();
        let whys = sections.iter().map(|section| {
            let why = format!("key {key:?} is outside of the entries of [{section}] (kitbag.toml:1:1)");
            format!("all {section}: {why}")
        });
        let whys: Vec<String> = whys.collect();
        let whys: Vec<&str> = whys.iter().map(String::as_str).collect();
        self::check(&format!("{line}\n[agents.a]\n[servers.x]"), &whys);
        // Groups are closed one by one.
        let (settings, _) =
            read(Path::new("kitbag.toml"), &format!("{line}\n[groups.g]"), &Limits::default());
        let is_of_groups = ["allow", "alow", "approve", "deny"].contains(&key);
        assert_eq!(settings.groups[0].1.closed.is_some(), is_of_groups, "{line}");
    };
    check("allow = ['fs/*']", &["agents"]);
    check("alow = ['fs/*']", &["agents"]);
    check("approve = ['x']", &["servers", "agents"]);
    for line in [
        "include = ['x']",
        "exclude = ['x']",
        "exlude = ['x']",
        "enabled = false",
        "per_user = true",
        "tools = 3",
        "args = 3",
        "hide = true",
    ] {
        check(line, &["servers"]);
    }
    check("deny = ['fs/*']", &["agents"]);
    for line in ["mode = 'gateway'", "timeout = '5s'", "model = 'x'", "names = 'bare'", "whatever = 1"] {
        check(line, &[]);
    }
}

#[test]
fn f3_a_user_whose_groups_cannot_be_read_is_denied() {
    check(
        "[users.ada]\ngroups = \"x\"\n[users.bob]",
        &["user ada: \"groups\" in [users.ada] cannot be read (kitbag.toml:2:10)"],
    );
    check(
        "[users.ada]\ngrups = [\"x\"]",
        &["user ada: unknown key \"grups\" in [users.ada] (kitbag.toml:2:1)"],
    );
    check("[users]\nada = 3", &["user ada: [users.ada] cannot be read (kitbag.toml:2:7)"]);
    // Nobody can have this id.
    check("[users.\"a b\"]\ngroups = 3", &[]);
}

#[test]
fn f3_a_file_that_cannot_be_read_denies_everyone() {
    let small = Limits { config_file: 4, wait_list: Duration::from_secs(7), ..Limits::default() };
    for (text, place) in [("[agents.a]\nallow = [\"fs/*\"", "kitbag.toml:2:"), ("[agents]", "kitbag.toml")] {
        let limits = if place.ends_with(':') { Limits::default() } else { small.clone() };
        let (settings, faults) = read(Path::new("kitbag.toml"), text, &limits);
        assert!(settings.unread && faults.len() == 1 && is_broken(&faults), "{faults:?}");
        let why = settings.denied.reason(&UserId::local()).unwrap();
        assert!(why.starts_with(&format!("settings cannot be read ({place}")), "{why}");
        assert_eq!(settings.limits, limits);
    }
    let (settings, _) = settings("");
    assert_eq!((settings.unread, settings.denied.reason(&UserId::local())), (false, None));
}

#[test]
fn f3_reasons_are_short_and_hold_no_value() {
    let long = "k".repeat(500);
    let text = format!("[agents.a]\n{long} = \"hush\"\n[servers.{long}]\ninclude = \"hush\"");
    let (settings, _) = settings(&text);
    let lines = effects(&settings);
    assert_eq!(lines.len(), 2);
    let agent = settings.agents[0].1.closed.as_ref().unwrap();
    let server = settings.servers[0].1.value.rules.closed.as_ref().unwrap();
    for reason in [agent, server] {
        assert!(reason.len() < 200 && !reason.contains("hush"), "{reason}");
    }
}

#[test]
fn f3_more_mistakes_than_are_told_still_close() {
    let limits = Limits { config_faults: 1, ..Limits::default() };
    let text = "[wait]\na = 1\nb = 1\n[agents.a]\nalow = []";
    let (settings, faults) = read(Path::new("kitbag.toml"), text, &limits);
    assert_eq!((faults.len(), effects(&settings).len()), (1, 1));
}
