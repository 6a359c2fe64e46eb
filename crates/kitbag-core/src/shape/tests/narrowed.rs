use super::*;

fn more(scene: &mut Scene, name: &str, tools: &[&str]) {
    scene.snapshot = Arc::new(scene.snapshot.with(part(name, tools)).unwrap());
}

#[test]
fn f10_a_fresh_view_is_narrowed_like_the_one_before() {
    let mut scene = Scene::new(&[("fs", &["read", "write"]), ("git", &["log"])]);
    let whole = scene.view();
    let no_writing = whole.only(|shown| shown.tool.name.as_str() != "write");
    let reads = no_writing.only(|shown| shown.tool.server.as_str() != "git");
    assert_eq!((listed(&no_writing).len(), listed(&reads).len()), (2, 1));
    more(&mut scene, "git", &["log", "write"]);
    more(&mut scene, "web", &["fetch", "write"]);
    let check = |narrowed: &View, names: &[&str], outside: &[&str]| {
        let fresh = Arc::new(scene.view()).narrowed_like(narrowed);
        check_names(&fresh);
        assert_eq!(listed(&fresh), names);
        assert_eq!(fresh.is_narrowed(), narrowed.is_narrowed());
        for text in outside {
            assert_eq!(target(&fresh, text), None, "{text}");
        }
        // Nothing to be done twice.
        let again = fresh.clone().narrowed_like(narrowed);
        assert!(Arc::ptr_eq(&again, &fresh));
        assert!(format!("{fresh:?}").contains("narrowing: Narrowing("));
    };
    let all =
        ["mcp_fs_read", "mcp_fs_write", "mcp_git_log", "mcp_git_write", "mcp_web_fetch", "mcp_web_write"];
    check(&whole, &all, &[]);
    check(
        &no_writing,
        &["mcp_fs_read", "mcp_git_log", "mcp_web_fetch"],
        &["git/write", "mcp_web_write", "write"],
    );
    check(
        &reads,
        &["mcp_fs_read", "mcp_web_fetch"],
        &["git/log", "git/write", "mcp_fs_write", "fetch_write"],
    );
    // And on top of what the fresh one was narrowed by itself.
    let fresh = Arc::new(scene.view().only(|shown| shown.tool.server.as_str() != "web"));
    assert_eq!(listed(&fresh.narrowed_like(&no_writing)), ["mcp_fs_read", "mcp_git_log"]);
}

#[test]
fn f10_what_is_shadowed_is_narrowed_too() {
    let mut scene = Scene::new(&[("local", &["search"]), ("web", &["search"])]);
    scene.local = Some(server("local"));
    scene.form = NameForm::Bare;
    scene.agent.clash = crate::model::Clash::Local;
    let view = Arc::new(scene.view());
    let narrowed = view.only(|shown| shown.tool.server.as_str() != "web");
    let fresh = Arc::new(scene.view()).narrowed_like(&narrowed);
    assert_eq!((listed(&fresh), fresh.shadowed().len()), (vec!["search"], 0));
    assert_eq!(target(&fresh, "mcp_web_search"), None);
}

#[test]
fn f11_permissions_are_asked_anew_and_shaping_is_shared() {
    let mut scene = Scene::new(&[("fs", &["read", "write"]), ("git", &["log"])]);
    scene.rule("fs", "write", Describe("words".to_owned()));
    scene.permit.0.insert("git/log".to_owned());
    let first = scene.view();
    assert_eq!(listed(&first), ["mcp_fs_read", "mcp_fs_write"]);
    let check = |scene: &Scene, names: &[&str], shared: &[&str], why: &[(&str, &str)]| {
        let view = scene.made(Some(&first)).unwrap();
        check_names(&view);
        assert_eq!(listed(&view), names);
        let same = |shown: &&Arc<ViewTool>| first.tools().iter().any(|old| Arc::ptr_eq(old, shown));
        let kept: Vec<&str> = view.tools().iter().filter(same).map(|shown| shown.name.as_str()).collect();
        assert_eq!(kept, shared);
        let left: Vec<(String, String)> = view
            .left_out()
            .iter()
            .map(|left| (left.tool.clone(), format!("{:?}", left.trail.last().unwrap().outcome)))
            .collect();
        assert_eq!(left.len(), why.len(), "{left:?}");
        for ((tool, outcome), (wanted, word)) in left.iter().zip(why) {
            assert!(tool == wanted && outcome.contains(word), "{tool} {outcome}");
        }
        // A view without the one before says the same, step by step.
        let fresh = scene.view();
        let trails = |view: &View| {
            let shown = view.tools().iter().map(|shown| format!("{:?} {:?}", shown.tool, shown.trail));
            shown.chain(view.left_out().iter().map(|left| format!("{left:?}"))).collect::<Vec<_>>()
        };
        assert_eq!(trails(&view), trails(&fresh));
    };
    let both = ["mcp_fs_read", "mcp_fs_write"];
    check(&scene, &both, &both, &[("log", "not for you")]);
    // One is revoked, one is granted.
    scene.permit.0 = BTreeSet::from(["fs/write".to_owned()]);
    check(&scene, &["mcp_fs_read", "mcp_git_log"], &["mcp_fs_read"], &[("write", "not for you")]);
    // What the agent asks for is another thing.
    scene.agent.allow = texts(&["*/read"]);
    check(&scene, &["mcp_fs_read"], &["mcp_fs_read"], &[("write", "allow list"), ("log", "allow list")]);
    scene.agent.servers = texts(&["git"]);
    check(&scene, &[], &[], &[("read", "not one of"), ("write", "not one of"), ("log", "allow list")]);
}

#[test]
fn f11_shaping_is_taken_over_only_where_the_rules_are_the_same() {
    let mut scene = Scene::new(&[("fs", &["read"]), ("git", &["log"])]);
    let first = scene.view();
    scene.rule("fs", "read", Describe("new words".to_owned()));
    scene.new_rules.insert(server("fs"));
    let view = scene.made(Some(&first)).unwrap();
    let of = |view: &View, name: &str| {
        view.tools().iter().find(|shown| shown.name.as_str() == name).unwrap().clone()
    };
    assert_eq!(of(&view, "mcp_fs_read").tool.description, "new words");
    assert!(Arc::ptr_eq(&of(&view, "mcp_git_log"), &of(&first, "mcp_git_log")));
}

#[test]
fn f11_a_permit_tells_whether_its_answers_changed() {
    assert_eq!((AllowAll.revision(), Denies::default().revision()), (Some(0), None));
}
