use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn shown(names: &[&str]) -> BTreeSet<ShownName> {
    names.iter().map(|name| ShownName::parse(name).unwrap()).collect()
}

/// The name of a tool called `x`.
fn x_of(names: &CatalogNames, form: NameForm, of: &str) -> Option<String> {
    names.table(form).name(&server(of), &ToolName::parse("x").unwrap()).map(ToString::to_string)
}

#[test]
fn f25_while_servers_start_names_do_not_depend_on_who_was_first() {
    let held = CatalogNames::default();
    let check = |order: [&str; 2]| {
        let first = Snapshot::new(held.clone()).with(part(order[0], &["x"])).unwrap();
        assert!(first.renamed(&held).is_none(), "nothing would change");
        assert_eq!(x_of(first.names(), NameForm::Bare, order[0]).as_deref(), Some("x"));
        let second = first.with(part(order[1], &["x"])).unwrap();
        let both = second.renamed(&held).unwrap();
        assert!(second.version() < both.version(), "what is listed changed");
        assert!(both.renamed(&held).is_none());
        both.names().clone()
    };
    let names = check(["a", "b"]);
    assert_eq!(names, check(["b", "a"]));
    for of in ["a", "b"] {
        assert!(
            x_of(&names, NameForm::Bare, of).unwrap().starts_with("x_"),
            "of two that want it none has it"
        );
        assert_eq!(x_of(&names, NameForm::Full, of).unwrap(), format!("mcp_{of}_x"));
    }
    // Those who hold a name keep it.
    let held = Snapshot::new(held).with(part("b", &["x"])).unwrap().names().clone();
    let both = Snapshot::new(held.clone()).with_all([part("a", &["x"]), part("b", &["x"])]);
    assert!(both.renamed(&held).is_none());
    assert_eq!(x_of(both.names(), NameForm::Bare, "b").as_deref(), Some("x"));
}

#[test]
fn f25_what_is_kept_for_others_can_change() {
    let held = CatalogNames::default().local(server("one")).with_reserved(shown(&["x"]));
    let all = Snapshot::new(held.clone()).with_all([part("one", &["x"]), part("two", &["x"])]);
    let bare =
        |names: &CatalogNames| (x_of(names, NameForm::Bare, "one"), x_of(names, NameForm::Bare, "two"));
    let (local, hashed) = bare(all.names());
    assert!(local.is_none() && hashed.unwrap().starts_with("x_"));
    // Nobody keeps the name for himself any more.
    let freed = all.renamed(&held.with_reserved(BTreeSet::new())).unwrap();
    assert_eq!(bare(freed.names()), (None, Some("x".to_owned())));
    // The local tools are another's now.
    let moved = freed.renamed(&held.with_reserved(BTreeSet::new()).with_local(server("two"))).unwrap();
    assert_eq!(bare(moved.names()), (Some("x".to_owned()), None));
}

#[test]
fn f25_what_is_known_costs_no_copy() {
    let all = Snapshot::default().with_all([part("a", &["x"]), part("b", &["x"])]);
    let named = all.with_gateways([&server("a"), &server("b")]).unwrap();
    assert!(named.with_gateways([&server("b")]).is_none());
    for same in [named.with_all([]), named.with_all([part("a", &["x"])]), named.clone()] {
        assert_eq!(same.version(), named.version());
        assert!(same.shares_everything_with(&named));
    }
    // Of one server named twice the last counts.
    let twice = named.with_all([part("a", &["y"]), part("a", &["x"])]);
    assert!(twice.tool(&server("a"), "x").is_some() && twice.tool(&server("a"), "y").is_none());
}

#[test]
fn f20_the_state_of_a_server_is_told_without_the_reason() {
    let away =
        Unreachable { state: "failed", since: Some(0), ..Unreachable::because("failed: secret words") };
    assert_eq!(
        (away.state, away.to_string().as_str()),
        ("failed", "failed: secret words (since 1970-01-01T00:00:00Z)")
    );
    assert_eq!(Unreachable::because("gone").state, "unavailable");
    assert_eq!(Unreachable::because("gone").to_string(), "gone");
}

fn words() -> impl Strategy<Value = String> {
    proptest::string::string_regex("(mcp_)?[ab][ab_\\-]{0,2}").unwrap()
}

fn config() -> ProptestConfig {
    let (cases, rng_seed) = match option_env!("KITBAG_FULL_TESTS") {
        Some(_) => (10_000, RngSeed::Random),
        None => (200, RngSeed::Fixed(20_261_115)),
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Servers list one by one in any order, and one comes and goes; names end as if all had come at once.
    #[test]
    fn f25_any_order_of_arrival_ends_in_equal_names(
        servers in proptest::collection::btree_map(words(), proptest::collection::btree_set(words(), 1..4), 2..7),
        held in 0_usize..3,
        reserved in proptest::collection::btree_set(words(), 0..3),
        orders in proptest::collection::vec(any::<u64>(), 3),
    ) {
        let mut parts: Vec<ServerTools> = servers
            .iter()
            .map(|(name, tools)| part(name, &tools.iter().map(String::as_str).collect::<Vec<_>>()))
            .collect();
        let reserved = reserved.iter().filter_map(|name| ShownName::parse(name).ok()).collect();
        let held = Snapshot::new(CatalogNames::default().with_reserved(reserved))
            .with_all(parts.iter().take(held).cloned())
            .names()
            .clone();
        let names: Vec<ServerName> = parts.iter().map(|part| part.server.clone()).collect();
        let opened = Snapshot::new(held.clone()).with_gateways(&names).unwrap();
        let at_once = opened.with_all(parts.clone());
        prop_assert!(at_once.renamed(&held).is_none());
        for order in orders {
            // Some order that the number stands for.
            parts.sort_by_key(|part| crate::names::fingerprint(&[part.server.as_str(), &order.to_string()]));
            let renamed = |now: Snapshot| now.renamed(&held).unwrap_or(now);
            let mut now = Snapshot::new(held.clone());
            for part in &parts {
                now = renamed(now.with(part.clone()).unwrap());
                now = now.with_gateways([&part.server]).map_or(now, renamed);
                now = now.without(&parts[0].server).map_or(now, renamed);
            }
            now = renamed(now.with(parts[0].clone()).unwrap());
            prop_assert_eq!(now.names(), at_once.names());
        }
    }
}

/// A server that calls its tools otherwise each time it lists them.
#[test]
fn f18_names_of_one_server_do_not_grow_for_ever() {
    let most = 20;
    let held = CatalogNames::default().keeping(most);
    let tools = |round: usize| -> Vec<String> { (0..8).map(|n| format!("r{round}_t{n}")).collect() };
    let list = |snapshot: &Snapshot, round: usize| {
        let tools = tools(round);
        snapshot.with(part("a", &tools.iter().map(String::as_str).collect::<Vec<_>>())).unwrap()
    };
    let name = |names: &CatalogNames, tool: &str, form| {
        names.table(form).name(&server("a"), &ToolName::parse(tool).unwrap()).map(ToString::to_string)
    };
    let mut snapshot = list(&Snapshot::new(held.clone()), 0);
    let first = snapshot.names().clone();
    snapshot = snapshot.with(part("b", &["r0_t0", "x"])).unwrap();
    let mut past = None;
    for round in 1..100 {
        snapshot = list(&snapshot, round);
        for form in NameForm::ALL {
            let table = snapshot.names().table(form);
            assert!(table.count(&server("a")) <= most + 8, "{form:?} {round}: {}", table.len());
            // Listed is named, and one name is one tool's.
            let names: BTreeSet<String> =
                tools(round).iter().map(|tool| name(snapshot.names(), tool, form).unwrap()).collect();
            assert_eq!(names.len(), 8);
        }
        if round == 50 {
            past = name(snapshot.names(), "r50_t3", NameForm::Full);
        }
    }
    assert!(snapshot.names().is_full(&server("a")) && !snapshot.names().is_full(&server("b")));
    // What was given plainly is kept, whatever came since.
    for form in NameForm::ALL {
        assert_eq!(name(snapshot.names(), "r0_t0", form), name(&first, "r0_t0", form));
        assert_eq!(snapshot.names().table(form).count(&server("b")), 2);
    }
    // What was let go comes back under the name it had.
    let past = past.unwrap();
    assert!(past.starts_with("mcp_a_r50_t3_"), "{past}");
    assert_eq!(name(snapshot.names(), "r50_t3", NameForm::Full), None);
    assert_eq!(name(list(&snapshot, 50).names(), "r50_t3", NameForm::Full), Some(past));
    // The same while servers start: as if all came at once.
    let renamed = list(&snapshot, 50).renamed(&held).unwrap();
    assert_eq!(renamed.names().table(NameForm::Full).count(&server("a")), 8);
}
