//! What becomes of tools by which private data can be carried off.

use super::*;

/// Reads private data, brings in text, sends; and one that does nothing of it.
const SERVERS: &[(&str, &[&str])] =
    &[("fs", &["read_file", "write_file"]), ("mail", &["send_email"]), ("web", &["search_web"])];

fn scene(trifecta: TrifectaPolicy) -> Scene {
    Scene { trifecta, ..Scene::new(SERVERS) }
}

/// Which tools are there, with `?` behind those that a person is asked about.
fn seen(view: &View) -> Vec<String> {
    let mark = |shown: &ViewTool| if shown.access.asks().is_some() { "?" } else { "" };
    view.tools().iter().map(|shown| format!("{}{}", shown.tool.name, mark(shown))).collect()
}

#[test]
fn t28_each_word_of_the_policy_has_its_effect() {
    let check = |policy: TrifectaPolicy, expected: &[&str], severity: Severity| {
        let view = scene(policy).view();
        assert_eq!(seen(&view), expected, "{policy:?}");
        let fault = view.toxic_fault().unwrap();
        assert_eq!((fault.severity, fault.kind), (severity, FaultKind::Trifecta), "{fault}");
        for name in ["fs/read_file", "web/search_web", "mail/send_email"] {
            assert!(fault.message.contains(name), "{fault}");
        }
        view
    };
    let all = &["read_file", "write_file", "send_email", "search_web"];
    check(TrifectaPolicy::Unset, all, Severity::Note);
    check(TrifectaPolicy::Warn, all, Severity::Warning);
    let asks =
        check(TrifectaPolicy::Ask, &["read_file", "write_file", "send_email?", "search_web"], Severity::Note);
    let why = asks.tools()[2].access.asks().unwrap();
    assert!(why.contains("trifecta") && why.contains("fs/read_file"), "{why}");
    let denies = check(TrifectaPolicy::Deny, &["read_file", "write_file", "search_web"], Severity::Note);
    let left_out = denies.left_out();
    assert_eq!((left_out.len(), left_out[0].tool.as_str()), (1, "send_email"));
    let step = left_out[0].trail.last().unwrap();
    let RuleOutcome::Dropped(why) = &step.outcome else { panic!("{step:?}") };
    assert!(step.rule == "trifecta" && why.contains("web/search_web"), "{step:?}");
    assert_eq!(target(&denies, "send_email"), None);
}

#[test]
fn t28_two_of_the_three_are_nobodys_concern() {
    for missing in ["fs", "mail", "web"] {
        let servers: Vec<_> = SERVERS.iter().filter(|(name, _)| *name != missing).copied().collect();
        let scene = Scene { trifecta: TrifectaPolicy::Deny, ..Scene::new(&servers) };
        let view = scene.view();
        assert_eq!((view.left_out().len(), view.toxic()), (0, None), "{missing}");
    }
}

#[test]
fn t28_what_two_users_see_is_judged_apart() {
    let mut scene = scene(TrifectaPolicy::Deny);
    scene.permit = Denies(BTreeSet::from(["web/search_web".to_owned()]));
    assert_eq!(seen(&scene.view()), ["read_file", "write_file", "send_email"]);
    scene.permit = Denies::default();
    assert_eq!(seen(&scene.view()), ["read_file", "write_file", "search_web"]);
}

#[test]
fn t28_what_did_not_change_is_taken_over_and_what_did_is_judged_anew() {
    let mut scene = scene(TrifectaPolicy::Ask);
    let first = scene.view();
    let same = |one: &View, two: &View| {
        let pairs = one.tools().iter().zip(two.tools());
        pairs.map(|(one, two)| Arc::ptr_eq(one, two)).collect::<Vec<_>>()
    };
    let again = scene.made(Some(&first)).unwrap();
    assert_eq!(same(&first, &again), [true; 4]);
    // The policy is another: only what sends is.
    scene.trifecta = TrifectaPolicy::Warn;
    let warned = scene.made(Some(&again)).unwrap();
    assert_eq!(seen(&warned), ["read_file", "write_file", "send_email", "search_web"]);
    assert_eq!(same(&again, &warned), [true, true, false, true]);
    // One of the three leaves, and nobody is asked any more.
    scene.trifecta = TrifectaPolicy::Ask;
    let asked = scene.made(Some(&warned)).unwrap();
    assert_eq!(seen(&asked)[2], "send_email?");
    scene.permit = Denies(BTreeSet::from(["web/search_web".to_owned()]));
    assert_eq!(seen(&scene.made(Some(&asked)).unwrap()), ["read_file", "write_file", "send_email"]);
}
