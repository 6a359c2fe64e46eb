//! Settings that nothing obeys yet are told, and those that restrict refuse.

use super::*;

/// The one thing that is not supported, how bad that is, and who is denied for it.
#[track_caller]
fn check(text: &str, severity: Severity, what: &str, denied: &str) {
    let (settings, faults) = read(Path::new("kitbag.toml"), text, &Limits::default());
    let told: Vec<&Fault> = faults.iter().filter(|fault| fault.kind == FaultKind::NotYet).collect();
    assert_eq!(told.len(), 1, "{text}: {faults:?}");
    assert_eq!(
        (told[0].severity, told[0].message.as_str()),
        (severity, &*format!("{what} is not supported yet"))
    );
    assert!(told[0].place.is_some() && told[0].hint.is_some() && told[0].snippet.is_none());
    let everyone = settings.denied.everyone.iter().map(|_| "everyone".to_owned());
    let who: Vec<String> =
        everyone.chain(settings.denied.users.keys().map(|user| user.as_str().to_owned())).collect();
    assert_eq!(who.join(" "), denied, "{text}");
}

#[test]
fn f2_settings_without_effect_are_told() {
    let warned = |text: &str, what: &str| check(text, Severity::Warning, what, "");
    warned("[serve]\nmode = \"search\"", "\"search\" for \"mode\" in [serve]");
    warned("[present]\nmode = \"auto\"", "\"auto\" for \"mode\" in [present]");
    warned("[servers.x]\nmode = \"search\"", "\"search\" for \"mode\" in [servers.x]");
    warned("[agents.a]\nmode = \"search\"", "\"search\" for \"mode\" in [agents.a]");
    warned("[agents.a]\nbudget = 1", "\"budget\" in [agents.a]");
    let (settings, faults) = read(Path::new("k"), "[present]\nmode = \"gateway\"", &Limits::default());
    assert_eq!((settings.mode, faults), (Some(Mode::Gateway), vec![]));
    let (settings, faults) = read(Path::new("k"), "[present]\nmode = \"agent\"", &Limits::default());
    assert_eq!((settings.mode, faults), (Some(Mode::Agent), vec![]));
    assert_eq!(
        read(Path::new("k"), "[present]\nmode = \"auto\"", &Limits::default()).0.mode,
        Some(Mode::Auto)
    );
}

#[test]
fn f2_who_is_denied_is_told_why() {
    let (settings, _) = settings("[users.ada]\ngroups = \"dev\"");
    let reason = |id: &str| settings.denied.reason(&UserId::parse(id).unwrap());
    assert_eq!(reason("ada"), Some("\"groups\" in [users.ada] cannot be read (kitbag.toml:2:10)"));
    assert_eq!(reason("bob"), None);
}

#[test]
fn f2_every_key_is_listed_and_each_row_is_a_key() {
    let paths = key_paths();
    for path in
        ["servers.*.include", "agents.*.allow", "limits.*", "servers.*.tools.*.args.*.pin", "pins.mode"]
    {
        assert!(paths.iter().any(|known| known == path), "{path}: {paths:?}");
    }
    for row in NOT_YET {
        let below = format!("{}.", row.path);
        assert!(paths.iter().any(|path| path == row.path || path.starts_with(&below)), "{row:?}");
    }
    let not_yet = |path: &str| paths.iter().any(|known| known == path) && is_not_yet(path);
    assert!(
        !not_yet("serve.listen")
            && !not_yet("present.budget")
            && not_yet("agents.*.budget")
            && !not_yet("groups.*.deny")
    );
    assert!(!not_yet("present.mode") && !not_yet("agents.*.allow") && !not_yet("servers.*.timeout"));
}

#[test]
fn f2_the_schema_says_what_is_not_supported() {
    let schema = json_schema();
    let text = |pointer: &str| schema.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
    let budget = text("/properties/agents/additionalProperties/properties/budget/description");
    assert!(budget.ends_with(" (not supported yet)"), "{budget}");
    let mode = text("/properties/serve/properties/mode/description");
    assert!(mode.ends_with(" (not supported yet: search)"), "{mode}");
    let mode = text("/properties/present/properties/mode/description");
    assert!(mode.ends_with(" (not supported yet: search, auto)"), "{mode}");
    assert!(!text("/properties/wait/description").contains("not supported"));
}
