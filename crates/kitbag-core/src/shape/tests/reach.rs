use super::*;
use crate::catalog::Unreachable;
use crate::names::lookup::MatchedBy;

#[test]
fn f20_a_view_tells_of_the_servers_its_agent_may_see_and_of_no_others() {
    let check = |servers: &[&str], allow: &[&str], hidden: &[&str], away: &[&str], unlisted: &[&str]| {
        let mut scene = Scene::new(&[("fs", &["read"]), ("git", &["log"])]);
        for name in ["fs", "secret", "web"] {
            let gone =
                scene.snapshot.with_away(&server(name), Some(Unreachable::because("words of its stderr")));
            scene.snapshot = Arc::new(gone.unwrap());
        }
        // `web` failed before it listed anything; `slow` is still to come.
        scene.servers = ["fs", "git", "web", "slow"].map(server).into();
        scene.agent.servers = texts(servers);
        scene.agent.allow = texts(allow);
        scene.hidden = hidden.iter().map(|name| server(name)).collect();
        let view = scene.view();
        for view in
            [&view, &view.only(|_| false), &*Arc::new(scene.view()).narrowed_like(&view.only(|_| true))]
        {
            let names = |all: Vec<&ServerName>| all.iter().map(ToString::to_string).collect::<Vec<_>>();
            let now = names(view.away().map(|(server, _)| server).collect());
            assert_eq!(now, away, "{servers:?} {allow:?} {hidden:?}");
            assert_eq!(names(view.unlisted().collect()), unlisted, "{servers:?} {allow:?} {hidden:?}");
            assert!(view.away().all(|(_, away)| away.state == "unavailable"));
        }
    };
    check(&[], &[], &[], &["fs", "secret", "web"], &["slow", "web"]);
    check(&[], &[], &["secret", "slow"], &["fs", "web"], &["web"]);
    check(&["fs", "git"], &[], &[], &["fs"], &[]);
    check(&["?*w*"], &[], &[], &[], &["slow"]);
    check(&["["], &[], &[], &[], &[]);
    // An agent that may call nothing of a server does not hear of it.
    check(&[], &["web/*", "git/log"], &[], &["web"], &["web"]);
    check(&[], &["we*", "slow/x"], &[], &["web"], &["slow", "web"]);
    check(&[], &["*/read"], &["secret"], &["fs", "web"], &["slow", "web"]);
    check(&[], &["webs/*", "we/*"], &[], &[], &[]);
    check(&[], &["*", "["], &[], &[], &[]);
    let nobody = View::empty(&UserId::local());
    assert_eq!((nobody.away().count(), nobody.unlisted().count()), (0, 0));
}

#[test]
fn f74_a_view_says_by_which_name_a_tool_was_found() {
    let mut scene = Scene::new(&[("good", &["echo"]), ("other", &["good_echo"]), ("local", &["plan"])]);
    scene.snapshot = Arc::new(
        Snapshot::new(CatalogNames::default().local(server("local")))
            .with_all(scene.snapshot.parts().map(|part| ServerTools::clone(part))),
    );
    scene.local = Some(server("local"));
    let check = |view: &View, text: &str, tools: &[&str], by: MatchedBy| {
        let (found, found_by) = view.find_by(text);
        assert_eq!(found, view.find(text));
        let all = match found {
            NameMatch::One(at) => vec![at],
            NameMatch::Ambiguous(all) => all,
            NameMatch::None { .. } => Vec::new(),
        };
        let own =
            |at: &usize| format!("{}/{}", view.at(*at).unwrap().tool.server, view.at(*at).unwrap().tool.name);
        assert_eq!((all.iter().map(own).collect::<Vec<_>>(), found_by), (texts(tools), by), "{text}");
    };
    let full = scene.view();
    check(&full, "good_echo", &["good/echo", "other/good_echo"], MatchedBy::Own);
    check(&full, "echo", &["good/echo"], MatchedBy::Own);
    check(&full, "good/echo", &["good/echo"], MatchedBy::Name);
    check(&full, "plan", &["local/plan"], MatchedBy::Name);
    check(
        &full.only(|shown| shown.tool.server.as_str() != "good"),
        "good_echo",
        &["other/good_echo"],
        MatchedBy::Own,
    );
    scene.form = NameForm::Short;
    check(&scene.view(), "good_echo", &["good/echo"], MatchedBy::Name);
}
