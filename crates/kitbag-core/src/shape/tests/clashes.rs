use super::*;
use crate::model::Clash;

fn with_local(parts: &[(&str, &[&str])], clash: Clash, form: NameForm) -> Scene {
    let snapshot = Snapshot::new(CatalogNames::default().local(server("local")));
    let mut scene = Scene::of(snapshot.with_all(parts.iter().map(|(name, tools)| part(name, tools))));
    scene.local = Some(server("local"));
    scene.agent.clash = clash;
    scene.form = form;
    scene
}

#[test]
fn s3_21_s4_7_each_policy_warns_once_and_loses_nothing() {
    let check = |clash: Clash, names: &[(&str, &str)], shadowed: &[(&str, &str)], word: &str| {
        let parts: &[(&str, &[&str])] =
            &[("local", &["search", "plan"]), ("web", &["search", "fetch"]), ("zoo", &["plan"])];
        let scene = with_local(parts, clash, NameForm::Bare);
        let view = scene.view();
        check_names(&view);
        let rows = |all: &[Arc<ViewTool>]| -> Vec<(String, String)> {
            all.iter()
                .map(|shown| (shown.name.to_string(), format!("{}/{}", shown.tool.server, shown.tool.name)))
                .collect()
        };
        let expected = |rows: &[(&str, &str)]| -> Vec<(String, String)> {
            rows.iter().map(|(name, tool)| ((*name).to_owned(), (*tool).to_owned())).collect()
        };
        assert_eq!(rows(view.tools()), expected(names), "{clash:?}");
        assert_eq!(rows(view.shadowed()), expected(shadowed), "{clash:?}");
        assert_eq!(view.faults().len(), 2, "{clash:?}: {:?}", view.faults());
        for (fault, tool) in view.faults().iter().zip(["search", "plan"]) {
            check_fault(fault, FaultKind::Clash, Severity::Warning, tool, &[tool, word]);
        }
        // Whoever lost is reached by its full name.
        for (full, tool) in [
            ("mcp_local_search", "local/search"),
            ("mcp_local_plan", "local/plan"),
            ("mcp_web_search", "web/search"),
            ("mcp_zoo_plan", "zoo/plan"),
        ] {
            assert_eq!(target(&view, full).as_deref(), Some(tool), "{clash:?}");
            assert_eq!(target(&view, tool).as_deref(), Some(tool), "{clash:?}");
        }
    };
    let fetch = ("fetch", "web/fetch");
    check(
        Clash::Prefix,
        &[
            fetch,
            ("mcp_web_search", "web/search"),
            ("mcp_zoo_plan", "zoo/plan"),
            ("plan", "local/plan"),
            ("search", "local/search"),
        ],
        &[],
        "full name",
    );
    check(
        Clash::Mcp,
        &[fetch, ("plan", "zoo/plan"), ("search", "web/search")],
        &[("mcp_local_plan", "local/plan"), ("mcp_local_search", "local/search")],
        "the server's tool takes its place",
    );
    check(
        Clash::Local,
        &[fetch, ("plan", "local/plan"), ("search", "local/search")],
        &[("mcp_web_search", "web/search"), ("mcp_zoo_plan", "zoo/plan")],
        "the local one takes its place",
    );
}

/// Whoever comes first: what a server's tool is called is not up to local ones.
#[test]
fn s4_7_a_clash_does_not_depend_on_who_comes_first() {
    let seen = |first: ServerTools, second: ServerTools| {
        let snapshot = Snapshot::new(CatalogNames::default().local(server("local")));
        let mut scene = Scene::of(snapshot.with(first).unwrap().with(second).unwrap());
        scene.local = Some(server("local"));
        scene.agent.clash = Clash::Mcp;
        scene.form = NameForm::Bare;
        let view = scene.view();
        check_names(&view);
        assert_eq!(target(&view, "search").as_deref(), Some("web/search"));
        assert_eq!((view.tools().len(), view.shadowed().len(), view.faults().len()), (1, 1, 1));
    };
    seen(part("local", &["search"]), part("web", &["search"]));
    seen(part("web", &["search"]), part("local", &["search"]));
}

#[test]
fn s3_21_the_policy_error_says_who() {
    let scene = with_local(&[("local", &["search"]), ("web", &["search"])], Clash::Error, NameForm::Bare);
    let error = scene.made(None).unwrap_err();
    assert_eq!(error, ClashError { name: shown("search"), server: server("web"), tool: "search".to_owned() });
    assert_eq!(error.to_string(), "the name search is wanted by a local tool and by web/search");
    // Without a clash there is none.
    let scene = with_local(&[("local", &["search"]), ("web", &["fetch"])], Clash::Error, NameForm::Bare);
    assert_eq!(listed(&scene.view()), ["fetch", "search"]);
}

#[test]
fn no_policy_is_needed_where_nobody_clashes() {
    for clash in [Clash::Prefix, Clash::Mcp, Clash::Local, Clash::Error] {
        let scene = with_local(&[("local", &["search"]), ("web", &["search"])], clash, NameForm::Full);
        let view = scene.view();
        assert_eq!(listed(&view), ["mcp_web_search", "search"]);
        assert_eq!(view.faults(), []);
        check_names(&view);
        // A local tool that may not be seen takes nobody's name.
        let mut scene = with_local(&[("local", &["search"]), ("web", &["search"])], clash, NameForm::Bare);
        scene.permit.0.insert("local/search".to_owned());
        let view = scene.view();
        assert_eq!((view.tools().len(), view.faults().len()), (1, 0), "{clash:?}");
        assert_eq!(target(&view, "local/search"), None);
    }
}

/// A full name leads to its tool, whatever a local one is called.
#[test]
fn s3_21_a_local_tool_by_the_full_name_of_another() {
    let parts: &[(&str, &[&str])] =
        &[("local", &["mcp_web_search", "mcp_local_plan", "plan"]), ("web", &["search"])];
    for clash in [Clash::Prefix, Clash::Local, Clash::Mcp] {
        for form in NameForm::ALL {
            let scene = with_local(parts, clash, form);
            let view = scene.view();
            check_names(&view);
            assert_eq!(target(&view, "mcp_web_search").as_deref(), Some("web/search"), "{clash:?} {form:?}");
            assert_eq!(target(&view, "mcp_local_plan").as_deref(), Some("local/plan"), "{clash:?} {form:?}");
            assert_eq!(target(&view, "plan").as_deref(), Some("local/plan"), "{clash:?} {form:?}");
            assert_eq!(view.tools().len() + view.shadowed().len(), 4, "{clash:?} {form:?}");
            let (all, mcp) = (view.faults().len(), clash == Clash::Mcp && form == NameForm::Full);
            assert_eq!(all, 2, "{clash:?} {form:?}: {:?}", view.faults());
            assert_eq!(view.shadowed().len(), usize::from(mcp), "{clash:?} {form:?}");
        }
    }
    let scene = with_local(parts, Clash::Error, NameForm::Full);
    assert_eq!(scene.made(None).unwrap_err().name, shown("mcp_web_search"));
}

#[test]
fn a_local_tool_whose_name_no_model_takes_goes_by_its_full_one() {
    let scene = with_local(&[("local", &["look up", "plan"])], Clash::Prefix, NameForm::Full);
    let view = scene.view();
    assert_eq!(listed(&view), ["mcp_local_look_up", "plan"]);
    assert_eq!(target(&view, "look up").as_deref(), Some("local/look up"));
    check_names(&view);
}

#[test]
fn s4_7_a_servers_wish_for_a_local_name_follows_the_policy() {
    let mut scene = with_local(&[("local", &["plan"]), ("web", &["search"])], Clash::Mcp, NameForm::Full);
    scene.rule("web", "search", Rename("plan".to_owned()));
    let view = scene.view();
    check_names(&view);
    assert_eq!(target(&view, "plan").as_deref(), Some("web/search"));
    assert_eq!(target(&view, "mcp_local_plan").as_deref(), Some("local/plan"));
    check_fault(only(view.faults()), FaultKind::Clash, Severity::Warning, "search", &["plan"]);
}

#[test]
fn s3_21_wishes_for_one_name() {
    let mut scene = Scene::new(&[("a", &["x"]), ("b", &["x", "y"])]);
    scene.rule("a", "x", Rename("same".to_owned()));
    scene.rule("b", "y", Rename("same".to_owned()));
    let view = scene.view();
    assert_eq!(listed(&view), ["mcp_a_x", "mcp_b_x", "mcp_b_y"]);
    assert_eq!(view.faults().len(), 2);
    check_fault(&view.faults()[0], FaultKind::Clash, Severity::Warning, "x", &["same", "taken"]);
    check_fault(&view.faults()[1], FaultKind::Clash, Severity::Warning, "y", &["same", "taken"]);
    check_names(&view);
    // One of them is not to be seen: the other has it.
    scene.permit.0.insert("b/y".to_owned());
    assert_eq!(listed(&scene.view()), ["mcp_b_x", "same"]);
    assert_eq!(scene.view().faults(), []);
}

#[test]
fn s3_21_a_wish_for_the_name_of_another() {
    // Full, short and bare names of others are taken, in whichever form the view is.
    for wish in ["mcp_b_y", "b_y", "y"] {
        for form in NameForm::ALL {
            let mut scene = Scene::new(&[("a", &["x"]), ("b", &["y"])]);
            scene.form = form;
            let usual = scene.view().tools()[0].name.clone();
            scene.rule("a", "x", Rename(wish.to_owned()));
            let view = scene.view();
            check_names(&view);
            assert_eq!(target(&view, usual.as_str()).as_deref(), Some("a/x"));
            assert_ne!(target(&view, wish).as_deref(), Some("a/x"));
            check_fault(only(view.faults()), FaultKind::Clash, Severity::Warning, "x", &[wish, "taken"]);
        }
    }
    // Its own in another form is not.
    let mut scene = Scene::new(&[("a", &["x"]), ("b", &["y"])]);
    scene.rule("a", "x", Rename("a_x".to_owned()));
    assert_eq!(listed(&scene.view()), ["a_x", "mcp_b_y"]);
    assert_eq!(scene.view().faults(), []);
}

#[test]
fn a_reserved_name_waits_for_its_tool() {
    let names = CatalogNames::new(
        NameTable::default(),
        NameTable::default(),
        NameTable::default(),
        [shown("search")].into(),
    );
    let first = Snapshot::new(names).with_all([part("a", &["search"])]);
    let bare = first
        .names()
        .table(NameForm::Bare)
        .name(&server("a"), &first.tool(&server("a"), "search").unwrap().name);
    assert!(bare.unwrap().as_str().starts_with("search_"), "{bare:?}");
    let mut scene = Scene::of(first.with(part("b", &["search"])).unwrap());
    scene.form = NameForm::Bare;
    scene.rule("b", "search", Rename("search".to_owned()));
    let view = scene.view();
    check_names(&view);
    assert_eq!(view.faults(), []);
    assert_eq!(target(&view, "search").as_deref(), Some("b/search"));
}

/// Forms have tables of their own: one's `fs_read` may be another's.
#[test]
fn s3_21_names_of_several_forms_in_one_view() {
    let mut scene = Scene::new(&[("fs", &["read"]), ("zoo", &["fs_read"])]);
    scene.shapers.insert(server("zoo"), Shaper::default().with(UseNameForm(NameForm::Bare)));
    scene.form = NameForm::Short;
    let view = scene.view();
    assert_eq!(listed(&view), ["fs_read", "mcp_zoo_fs_read"]);
    check_fault(only(view.faults()), FaultKind::Clash, Severity::Warning, "fs_read", &["fs_read", "taken"]);
    check_names(&view);
    // Alone it has the name.
    scene.agent.servers = vec!["zoo".to_owned()];
    assert_eq!(listed(&scene.view()), ["fs_read"]);
    assert_eq!(scene.view().faults(), []);
}

/// Hashes can be computed by anybody: a server may call its tool after the hashed name of another's.
#[test]
fn a_tool_named_after_the_hashed_name_of_another() {
    let first = Snapshot::default().with_all([part("a", &["mcp_b_x"])]);
    let hashed = first
        .tools()
        .next()
        .map(|tool| first.names().table(NameForm::Bare).name(&tool.server, &tool.name))
        .unwrap();
    let hashed = hashed.unwrap().to_string();
    let own = hashed.strip_prefix("mcp_b_").unwrap();
    let mut scene = Scene::of(first.with(part("b", &[own])).unwrap());
    scene.shapers.insert(server("a"), Shaper::default().with(UseNameForm(NameForm::Bare)));
    let view = scene.view();
    check_names(&view);
    assert_eq!(target(&view, &hashed), Some(format!("b/{own}")));
    assert_eq!(target(&view, "a/mcp_b_x").as_deref(), Some("a/mcp_b_x"));
    check_fault(only(view.faults()), FaultKind::Clash, Severity::Warning, "mcp_b_x", &[&hashed]);
}
