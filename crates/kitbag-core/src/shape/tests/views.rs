use super::*;
use crate::catalog::Unreachable;

#[test]
fn s2_15_an_agent_sees_the_servers_and_tools_it_names() {
    let check = |servers: &[&str], allow: &[&str], names: &[&str]| {
        let mut scene =
            Scene::new(&[("fs", &["read", "write"]), ("git", &["log"]), ("git hub", &["get_me"])]);
        scene.agent.servers = servers.iter().map(|text| (*text).to_owned()).collect();
        scene.agent.allow = allow.iter().map(|text| (*text).to_owned()).collect();
        let view = scene.view();
        check_names(&view);
        let mut own: Vec<String> =
            view.tools().iter().map(|shown| format!("{}/{}", shown.tool.server, shown.tool.name)).collect();
        own.sort();
        assert_eq!(own, names, "{servers:?} {allow:?}");
        for left in view.left_out() {
            let last = left.trail.last().unwrap();
            assert!(last.rule == "agent" && matches!(last.outcome, RuleOutcome::Dropped(_)), "{last:?}");
            let own = format!("{}/{}", left.server, left.tool);
            for text in [own.clone(), left.tool.clone(), format!("mcp_{}_{}", left.server, left.tool)] {
                assert_eq!(target(&view, &text), None, "{servers:?} {allow:?}: {text}");
            }
        }
        assert_eq!(view.tools().len() + view.left_out().len(), 4);
    };
    let all = &["fs/read", "fs/write", "git hub/get_me", "git/log"];
    check(&[], &[], all);
    check(&["*"], &["*"], all);
    check(&["fs"], &[], &["fs/read", "fs/write"]);
    check(&["git*"], &[], &["git hub/get_me", "git/log"]);
    check(&["nobody"], &[], &[]);
    check(&[], &["fs/*"], &["fs/read", "fs/write"]);
    check(&[], &["*/read", "git/log"], &["fs/read", "git/log"]);
    check(&[], &["fs"], &[]);
    check(&["git"], &["fs/*"], &[]);
    check(&["fs"], &["*/read"], &["fs/read"]);
    // By the server's own names, not by shown ones.
    check(&[], &["mcp_fs_read"], &[]);
}

#[test]
fn s2_15_a_pattern_that_cannot_be_read_shows_nothing() {
    for in_servers in [true, false] {
        let mut scene = Scene::new(&[("fs", &["read"]), ("local", &["plan"])]);
        scene.local = Some(server("local"));
        let list = if in_servers { &mut scene.agent.servers } else { &mut scene.agent.allow };
        *list = vec!["*".to_owned(), "[".to_owned()];
        let view = scene.view();
        // The agent's own tools are no matter of servers.
        assert_eq!(listed(&view), ["plan"]);
        let fault = only(view.faults());
        assert_eq!(
            (fault.stage, fault.kind, fault.severity),
            (Stage::Shape, FaultKind::WrongValue, Severity::Error)
        );
    }
}

#[test]
fn s2_15_denied_is_not_listed_and_not_found_by_any_name() {
    let mut scene = Scene::new(&[("fs", &["read", "write"]), ("git", &["write"])]);
    scene.permit.0.insert("fs/write".to_owned());
    for form in NameForm::ALL {
        scene.form = form;
        let view = scene.view();
        check_names(&view);
        assert_eq!(view.tools().len(), 2);
        for text in ["mcp_fs_write", "fs_write", "fs/write", "MCP-FS-WRITE", "fs-write", "Fs_Write"] {
            assert_eq!(target(&view, text), None, "{form:?} {text}");
        }
        // Another's tool is meant now: the denied one does not even make the text ambiguous.
        assert_eq!(target(&view, "write").as_deref(), Some("git/write"));
        let left = &view.left_out()[0];
        assert_eq!(left.trail.last().unwrap().outcome, RuleOutcome::Dropped("not for you".to_owned()));
        assert_eq!(view.faults(), [], "denied is no fault");
        // Nor is it suggested.
        if let NameMatch::None { near } = view.find("mcp_fs_writ") {
            assert!(near.iter().all(|index| view.at(*index).unwrap().tool.server != server("fs")
                || view.at(*index).unwrap().tool.name.as_str() == "read"));
        }
    }
}

#[test]
fn ask_is_seen() {
    struct Asks;
    impl Authorize for Asks {
        fn authorize(&self, _user: &UserId, _tool: &Tool) -> Decision {
            Decision::Ask
        }
    }
    let scene = Scene::new(&[("fs", &["read"])]);
    let view = scene.permitted(&Asks, &scene.snapshot, None);
    assert_eq!(listed(&view.unwrap()), ["mcp_fs_read"]);
}

#[test]
fn names_stay_when_a_server_is_added() {
    for form in NameForm::ALL {
        let mut scene = Scene::new(&[("b", &["x", "y"]), ("c", &["z"])]);
        scene.form = form;
        let before = scene.view();
        let old: BTreeMap<String, ShownName> = before
            .tools()
            .iter()
            .map(|shown| (format!("{}/{}", shown.tool.server, shown.tool.name), shown.name.clone()))
            .collect();
        let more =
            scene.snapshot.with_all([part("a", &["x", "y", "b_x"]), part("b_", &["x"]), part("b-", &["x"])]);
        scene.snapshot = Arc::new(more);
        let view = scene.view();
        check_names(&view);
        assert_eq!(view.tools().len(), 8);
        for (own, name) in &old {
            assert_eq!(target(&view, name.as_str()).as_ref(), Some(own), "{form:?}");
        }
    }
}

/// Everything a view is, but for the identity of its tools.
fn whole(view: &View) -> String {
    let rows: Vec<String> = view
        .tools()
        .iter()
        .chain(view.shadowed())
        .map(|shown| format!("{} {} {:?} {:?}", shown.name, shown.full, shown.tool, shown.trail))
        .collect();
    format!("{rows:#?}\n{:?}\n{:?}", view.left_out(), view.faults())
}

#[test]
fn a_view_takes_over_what_did_not_change() {
    let mut scene = Scene::new(&[("a", &["x", "y"]), ("b", &["x"]), ("c", &["x"]), ("local", &["plan"])]);
    scene.local = Some(server("local"));
    scene.permit.0.insert("c/x".to_owned());
    scene.rule("a", "y", Rename("why".to_owned()));
    scene.rule("a", "x", Describe("words".to_owned()));
    let first = scene.view();
    let compiled = |view: &View| {
        view.tools().iter().for_each(|shown| assert!(shown.input(&Limits::default()).is_ok()));
    };
    compiled(&first);
    let same = |view: &View, names: &[&str]| {
        let kept: Vec<&str> = view
            .tools()
            .iter()
            .filter(|shown| first.tools().iter().any(|old| Arc::ptr_eq(old, shown)))
            .map(|shown| shown.name.as_str())
            .collect();
        assert_eq!(kept, names);
        assert_eq!(whole(view), whole(&scene_view(&scene, view)));
    };
    // A view without the one before, of the same snapshot.
    fn scene_view(scene: &Scene, view: &View) -> View {
        scene.permitted(&scene.permit, view.snapshot(), None).unwrap()
    }
    let after = |snapshot: Snapshot| {
        let scene = Scene { snapshot: Arc::new(snapshot), ..rebuilt(&scene) };
        scene.made(Some(&first)).unwrap()
    };
    // The rules once more: they cannot be copied.
    fn rebuilt(scene: &Scene) -> Scene {
        let mut copy = Scene::of(Snapshot::clone(&scene.snapshot));
        copy.local = scene.local.clone();
        copy.permit.0 = scene.permit.0.clone();
        copy.rule("a", "y", Rename("why".to_owned()));
        copy.rule("a", "x", Describe("words".to_owned()));
        copy
    }
    let all = ["mcp_a_x", "mcp_b_x", "plan", "why"];
    same(&after(Snapshot::clone(&scene.snapshot)), &all);
    same(&after(scene.snapshot.with_away(&server("a"), Some(Unreachable::because("gone"))).unwrap()), &all);
    // A new server, one gone, one with a tool more: everything else is the same object.
    same(&after(scene.snapshot.with(part("d", &["x"])).unwrap()), &all);
    same(&after(scene.snapshot.without(&server("b")).unwrap()), &["mcp_a_x", "plan", "why"]);
    same(&after(scene.snapshot.with(part("a", &["w", "x", "y"])).unwrap()), &all);
    // A definition that changed is shaped anew.
    let changed = part_of("b", &[json!({"name": "x", "description": "new", "inputSchema": {}})]);
    let view = after(scene.snapshot.with(changed).unwrap());
    same(&view, &["mcp_a_x", "plan", "why"]);
    // A name that changed makes a new one of an old tool.
    let clashing = after(scene.snapshot.with(part("local", &["mcp_a_x", "plan"])).unwrap());
    check_names(&clashing);
}

#[test]
fn s2_15_a_view_of_another_user_says_nothing() {
    let mut scene = Scene::new(&[("fs", &["read", "write"])]);
    let theirs = scene.view();
    scene.user = UserId::parse("ada").unwrap();
    scene.permit.0.insert("fs/write".to_owned());
    let mine = scene.made(Some(&theirs)).unwrap();
    assert_eq!(listed(&mine), ["mcp_fs_read"]);
    assert_eq!((mine.user().as_str(), target(&mine, "fs/write")), ("ada", None));
}

#[test]
fn a_server_that_is_away_stays_listed() {
    let mut scene = Scene::new(&[("fs", &["read"]), ("git", &["log"])]);
    let before = scene.view();
    let away = scene.snapshot.with_away(&server("fs"), Some(Unreachable::because("gone"))).unwrap();
    scene.snapshot = Arc::new(away);
    let view = scene.made(Some(&before)).unwrap();
    assert_eq!(listed(&view), listed(&before));
    let available: Vec<bool> = view.tools().iter().map(|shown| view.is_available(shown)).collect();
    assert_eq!(available, [false, true]);
}

#[test]
fn t23_annotations_never_change_what_a_view_holds() {
    let definition = |annotations: Option<Value>| {
        let mut tool = json!({"name": "write", "description": "Writes", "inputSchema": {"type": "object"}});
        if let Some(annotations) = annotations {
            tool["annotations"] = annotations;
        }
        tool
    };
    let seen = |annotations: Option<Value>| {
        let mut scene = Scene::of(Snapshot::default().with_all([part_of("fs", &[definition(annotations)])]));
        let marks = MarkAs { repeatable: globs(&["read"]), ..MarkAs::default() };
        let filter = Filter { include: globs(&["write"]), exclude: globs(&["read"]) };
        scene.shapers.insert(server("fs"), Shaper::default().with(filter).with(marks));
        let view = scene.view();
        assert_eq!(view.faults(), []);
        let shown = view.tools()[0].clone();
        let tool = &shown.tool;
        format!(
            "{} {} {} {:?} {:?} {} {:?}",
            shown.name, tool.description, tool.input, tool.category, tool.marks, tool.order, shown.trail
        )
    };
    let plain = seen(None);
    let flags = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    for value in [json!(true), json!(false), json!(null), json!("yes"), json!([1])] {
        let all: serde_json::Map<String, Value> =
            flags.iter().map(|flag| ((*flag).to_owned(), value.clone())).collect();
        assert_eq!(seen(Some(Value::Object(all))), plain, "{value}");
    }
    for odd in [json!(null), json!("x"), json!([]), json!({"approve": true, "title": 7, "category": "x"})] {
        assert_eq!(seen(Some(odd)), plain);
    }
}

#[test]
fn s3_10_tool_and_server_both_ways() {
    let mut scene = Scene::new(&[("fs", &["read", "write"]), ("git", &["log"])]);
    let before = scene.view();
    for shown in before.tools() {
        let (server, tool) = (&shown.tool.server, &shown.tool.name);
        let name = scene.snapshot.names().table(NameForm::Full).name(server, tool).unwrap();
        assert_eq!(name, &shown.name);
        assert_eq!(
            scene.snapshot.names().table(NameForm::Full).pair(name),
            Some(&(server.clone(), tool.clone()))
        );
        assert!(scene.snapshot.tool(server, tool.as_str()).is_some());
    }
    scene.snapshot = Arc::new(scene.snapshot.without(&server("fs")).unwrap());
    let view = scene.made(Some(&before)).unwrap();
    assert_eq!(listed(&view), ["mcp_git_log"]);
    for text in ["mcp_fs_read", "fs/read", "read", "write"] {
        assert_eq!(target(&view, text), None, "{text}");
    }
}
