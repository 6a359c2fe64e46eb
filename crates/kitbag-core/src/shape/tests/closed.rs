//! What is closed is neither listed nor found, and a view says so.

use super::*;
use crate::config::settings;
use crate::model::{Overrides, ServerRules, ServerSpec, ToolRules};

const WHY: &str = "\"allow\" in [agents.a] cannot be read (kitbag.toml:3:9)";

/// What a view has, and what it says is closed.
#[track_caller]
fn check(scene: &Scene, names: &[&str], faults: &[&str]) {
    let view = scene.view();
    check_names(&view);
    assert_eq!(listed(&view), names);
    let said: Vec<String> = view.faults().iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), faults.len(), "{said:?}");
    for (fault, words) in view.faults().iter().zip(faults) {
        assert_eq!(
            (fault.stage, fault.kind, fault.severity),
            (Stage::Config, FaultKind::Closed, Severity::Error)
        );
        assert!(fault.to_string().starts_with(words) && fault.message.ends_with(WHY), "{fault}");
    }
    for left in view.left_out() {
        let last = left.trail.last().unwrap();
        assert_eq!(
            (last.rule.as_str(), &last.outcome),
            ("unreadable", &RuleOutcome::Dropped(WHY.to_owned()))
        );
        assert_eq!(target(&view, &format!("{}/{}", left.server, left.tool)), None);
    }
}

fn scene() -> Scene {
    let mut scene = Scene::new(&[("fs", &["read", "write"]), ("git", &["log"]), ("local", &["plan"])]);
    scene.local = Some(server("local"));
    scene
}

/// The rules of a server about which files say this, layer by layer.
fn layered(name: &str, layers: &[ServerRules]) -> (ServerName, Shaper) {
    let mut spec = ServerSpec::program(server(name), "x", []);
    for rules in layers {
        spec.apply(&Overrides { rules: rules.clone(), ..Overrides::default() });
    }
    let (shaper, faults) = shaper(&spec);
    assert_eq!(faults, []);
    (spec.name, shaper)
}

#[test]
fn f3_a_closed_agent_sees_local_tools_only() {
    let mut scene = scene();
    check(&scene, &["mcp_fs_read", "mcp_fs_write", "mcp_git_log", "plan"], &[]);
    scene.agent.closed = Some(WHY.to_owned());
    check(&scene, &["plan"], &["this agent sees no tool of any server: "]);
    // One fault, also when a server is closed too.
    scene.shapers.insert(server("fs"), Shaper::closed(WHY));
    check(&scene, &["plan"], &["this agent sees no tool of any server: "]);
}

#[test]
fn f3_a_closed_server_offers_no_tool() {
    let closed = ServerRules { closed: Some(WHY.to_owned()), ..ServerRules::default() };
    let other = ServerRules { closed: Some("later".to_owned()), ..ServerRules::default() };
    let open = ServerRules { tag: Some("x".to_owned()), ..ServerRules::default() };
    let all = [vec![closed.clone()], vec![closed.clone(), open.clone()], vec![open, closed.clone(), other]];
    for layers in all {
        let mut scene = scene();
        scene.shapers.extend([layered("fs", &layers)]);
        check(&scene, &["mcp_git_log", "plan"], &["fs: no tool of this server is offered: "]);
    }
    // Whoever does not ask for the server has nothing to do with it.
    let mut scene = Scene::new(&[("git", &["log"])]);
    scene.shapers.extend([layered("fs", &[closed])]);
    check(&scene, &["mcp_git_log"], &["fs: no tool of this server is offered: "]);
    scene.agent.servers = vec!["git".to_owned()];
    check(&scene, &["mcp_git_log"], &[]);
}

#[test]
fn f3_a_closed_tool_is_withheld_alone() {
    let tool =
        |rules: ToolRules| ServerRules { tools: vec![("write".to_owned(), rules)], ..ServerRules::default() };
    let closed = tool(ToolRules { closed: Some(WHY.to_owned()), ..ToolRules::default() });
    let open = tool(ToolRules { description: Some("x".to_owned()), ..ToolRules::default() });
    for layers in [vec![closed.clone()], vec![closed.clone(), open.clone()], vec![open, closed]] {
        let mut scene = scene();
        scene.shapers.extend([layered("fs", &layers)]);
        check(&scene, &["mcp_fs_read", "mcp_git_log", "plan"], &[]);
    }
}

/// What is seen of `fs` under a `kitbag.toml`, and which of it needs approval.
fn seen(toml: &str) -> Vec<(String, bool)> {
    let limits = Limits::default();
    let (settings, faults) = settings::read(std::path::Path::new("kitbag.toml"), toml, &limits);
    assert!(settings::is_broken(&faults), "{toml}: {faults:?}");
    let mut spec = ServerSpec::program(server("fs"), "x", []);
    settings.servers.iter().for_each(|(_, over)| spec.apply(&over.value));
    let mut scene = Scene::new(&[("fs", &["read", "write"])]);
    scene.shapers.insert(server("fs"), shaper(&spec).0);
    scene.approvals.insert(server("fs"), approvals(&spec).0);
    scene.agent = settings.agents.first().map(|(_, agent)| agent.clone()).unwrap_or_default();
    let view = scene.view();
    view.tools().iter().map(|shown| (shown.tool.name.to_string(), shown.access.asks().is_some())).collect()
}

#[test]
fn f3_a_slip_in_a_file_shows_less_never_more() {
    let check = |toml: &str, want: &[(&str, bool)]| {
        let want: Vec<_> = want.iter().map(|(name, approve)| ((*name).to_owned(), *approve)).collect();
        assert_eq!(seen(toml), want, "{toml}");
    };
    check("[agents.a]\nalow = [\"fs/read\"]", &[]);
    check("[agents.a]\nallow = \"fs/read\"", &[]);
    check("[agent.a]\nallow = [\"fs/read\"]", &[]);
    check("[servers.fs]\nexclude = \"write\"", &[]);
    check("[server.fs]\nexclude = [\"write\"]", &[]);
    check("[servers.fs.tools.write]\nargs.path = { hide = \"yes\" }", &[("read", false)]);
    check("[servers.fs]\napprove = \"write\"", &[("read", true), ("write", true)]);
    check("[servers.fs]\nlazi = true", &[("read", false), ("write", false)]);
}

/// What a later layer does not mention stays.
#[test]
fn f3_a_later_layer_adds_to_what_needs_approval_and_keeps_what_is_hidden() {
    let limits = Limits::default();
    let mut spec = ServerSpec::program(server("fs"), "x", []);
    for toml in [
        "[servers.fs]\napprove = ['write']\n[servers.fs.tools.read]\nname = 'look'\noptions.a = { x = 1 }\n\
         args.path = { pin = '/tmp', describe = 'old' }\nargs.all = { hide = true }\nexamples = [{ n = 1 }]",
        "[servers.fs]\napprove = ['re*']\n[servers.fs.tools.read]\ndescription = 'Reads'\n\
         args.path = { describe = 'new' }\nargs.all = { default = true }\nargs.n = { pin = 1 }",
        "[servers.fs.tools.read]\nargs.path = { pin = '/srv' }\noptions.b = { y = 2 }",
    ] {
        let (settings, faults) = settings::read(std::path::Path::new("kitbag.toml"), toml, &limits);
        assert_eq!(faults, [], "{toml}");
        settings.servers.iter().for_each(|(_, over)| spec.apply(&over.value));
    }
    assert_eq!(spec.rules.approve, ["write", "re*"]);
    let [(name, tool)] = spec.rules.tools.as_slice() else { panic!("{:?}", spec.rules.tools) };
    assert_eq!((name.as_str(), tool.name.as_deref()), ("read", Some("look")));
    assert_eq!((tool.description.as_deref(), tool.examples.len(), tool.options.len()), (Some("Reads"), 1, 2));
    let args: Vec<_> = tool.args.iter().map(|(name, arg)| (name.as_str(), arg.clone())).collect();
    let [("path", path), ("all", all), ("n", n)] = args.as_slice() else { panic!("{args:?}") };
    assert_eq!((&path.pin, path.describe.as_deref()), (&Some("/srv".into()), Some("new")));
    assert_eq!((all.hide, &all.default, &n.pin), (true, &Some(true.into()), &Some(1.into())));
}
