use std::collections::BTreeSet;

use super::*;
use crate::names::{NameForm, ServerName, ToolName};

mod generated;

fn pair(server: &str, tool: &str) -> ToolKey {
    (ServerName::parse(server).unwrap(), ToolName::parse(tool).unwrap())
}

fn name<'a>(table: &'a NameTable, pair: &ToolKey) -> &'a str {
    table.name(&pair.0, &pair.1).unwrap().as_str()
}

#[test]
fn s2_2_plain_names_are_the_seed_s() {
    let pairs = [pair("mem-agent", "store_memory"), pair("filesystem", "read_file")];
    let table = assign(&NameTable::default(), pairs.clone(), &Naming::default());
    assert_eq!(name(&table, &pairs[0]), "mcp_mem_agent_store_memory");
    assert_eq!(name(&table, &pairs[1]), "mcp_filesystem_read_file");
}

#[test]
fn s1_17_of_two_that_want_one_name_both_get_a_hash() {
    let pairs = [pair("a_b", "c"), pair("a", "b_c"), pair("a-b", "c")];
    let table = assign(&NameTable::default(), pairs.clone(), &Naming::default());
    let names: BTreeSet<&str> = pairs.iter().map(|pair| name(&table, pair)).collect();
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|name| name.starts_with("mcp_a_b_c_")), "{names:?}");
}

#[test]
fn a_held_name_stays_and_is_never_given_again() {
    let (first, later) = (pair("a_b", "c"), pair("a", "b_c"));
    let held = assign(&NameTable::default(), [first.clone()], &Naming::default());
    assert_eq!(name(&held, &first), "mcp_a_b_c");
    let table = assign(&held, [first.clone(), later.clone()], &Naming::default());
    assert_eq!(name(&table, &first), "mcp_a_b_c");
    assert_ne!(name(&table, &later), "mcp_a_b_c");
    let without = assign(&held, [later.clone()], &Naming::default());
    assert_eq!(name(&without, &later), name(&table, &later));
}

#[test]
fn long_names_are_cut_and_stay_distinct() {
    let long = "x".repeat(100);
    let pairs = [pair(&long, "one"), pair(&long, "two")];
    let table = assign(&NameTable::default(), pairs.clone(), &Naming::default());
    assert_ne!(name(&table, &pairs[0]), name(&table, &pairs[1]));
    assert!(pairs.iter().all(|pair| name(&table, pair).len() == 64));
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let words = ["a", "b", "a_b", "a-b", "b_c", "c", "文", "書", "A"];
    let pairs: Vec<ToolKey> =
        words.iter().flat_map(|server| words.iter().map(move |tool| pair(server, tool))).collect();
    let forward = assign(&NameTable::default(), pairs.clone(), &Naming::default());
    let backward = assign(&NameTable::default(), pairs.iter().rev().cloned(), &Naming::default());
    assert_eq!(forward, backward);
    assert_eq!(forward.iter().count(), pairs.len());
}

#[test]
fn t22_names_that_differ_only_in_where_they_are_cut() {
    let pairs = [pair("acme_", "status"), pair("acme", "_status"), pair("acme-", "status")];
    for form in [NameForm::Full, NameForm::Short] {
        let table = assign(&NameTable::default(), pairs.clone(), &Naming::new(form));
        let names: BTreeSet<&str> = pairs.iter().map(|pair| name(&table, pair)).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        for pair in &pairs {
            assert_eq!(table.pair(table.name(&pair.0, &pair.1).unwrap()), Some(pair));
        }
    }
}

/// A pair whose plain form is what `other` is called with its hash.
fn named_after_the_hash_of(other: &ToolKey, naming: &Naming) -> ToolKey {
    let form = naming.form();
    let hashed = hashed(&form.plain(other), other, naming, &NameTable::default());
    let (readable, hash) = hashed.as_str().rsplit_once('_').unwrap();
    let after = match form {
        NameForm::Full => pair(readable.strip_prefix("mcp_").unwrap(), hash),
        NameForm::Short => pair(readable, hash),
        NameForm::Bare => pair("x", hashed.as_str()),
    };
    assert_eq!(form.plain(&after), hashed.as_str());
    after
}

#[test]
fn t22_a_hashed_name_that_another_wants_plain() {
    let rivals = [pair("x", "y_z"), pair("x", "y-z")];
    for form in NameForm::ALL {
        let naming = Naming::new(form);
        let after = named_after_the_hash_of(&rivals[0], &naming);
        let [a, b, c] = [rivals[0].clone(), rivals[1].clone(), after.clone()];
        let at_once = assign(&NameTable::default(), [a.clone(), b.clone(), c.clone()], &naming);
        assert_eq!(name(&at_once, &c), form.plain(&c));
        let names: BTreeSet<&str> = [&a, &b, &c].map(|pair| name(&at_once, pair)).into();
        assert_eq!(names.len(), 3, "{form:?} {names:?}");
        for order in [[&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]] {
            assert_eq!(assign(&NameTable::default(), order.map(ToolKey::clone), &naming), at_once);
        }
        // In several calls the first keeps what it got, whichever it was.
        for order in [[&[&a, &b][..], &[&c]], [&[&c], &[&a, &b]], [&[&a], &[&b, &c]], [&[&a, &c], &[&b]]] {
            let first = assign(&NameTable::default(), order[0].iter().copied().cloned(), &naming);
            let both = assign(&first, order[1].iter().copied().cloned(), &naming);
            let names: BTreeSet<&str> = [&a, &b, &c].map(|pair| name(&both, pair)).into();
            assert_eq!(names.len(), 3, "{form:?} {order:?} {names:?}");
            assert!(first.iter().all(|(server, tool, name)| both.name(server, tool) == Some(name)));
        }
    }
}

#[test]
fn t22_nobody_takes_all_the_names_of_another() {
    let victim = pair("x", "y-z");
    let mut table = assign(&NameTable::default(), [pair("x", "y_z")], &Naming::default());
    for _ in 0..300 {
        let next = hashed("mcp_x_y_z", &victim, &Naming::default(), &table);
        let thief = pair("x", next.as_str().strip_prefix("mcp_x_").unwrap());
        table = assign(&table, [thief.clone()], &Naming::default());
        assert_eq!(name(&table, &thief), next.as_str());
    }
    let table = assign(&table, [victim.clone()], &Naming::default());
    assert!(name(&table, &victim).starts_with("mcp_x_y_z_"));
}

#[test]
fn t22_no_other_form_shadows_a_full_name() {
    let (honest, hostile, server) =
        (pair("bank", "pay"), pair("evil", "mcp_bank_pay"), pair("mcp", "bank_pay"));
    for (form, shadow) in [(NameForm::Bare, hostile), (NameForm::Short, server)] {
        let table = assign(&NameTable::default(), [honest.clone(), shadow.clone()], &Naming::new(form));
        assert_ne!(name(&table, &shadow), "mcp_bank_pay");
    }
}

#[test]
fn a_reserved_name_is_given_to_no_new_pair() {
    let (one, two) = (pair("fs", "read"), pair("fs", "write"));
    let plain = ShownName::parse("mcp_fs_read").unwrap();
    let hash = hashed("mcp_fs_read", &one, &Naming::default(), &NameTable::default());
    let naming = Naming::default().reserving([plain.clone(), hash.clone()].into());
    let table = assign(&NameTable::default(), [one.clone(), two.clone()], &naming);
    assert!(name(&table, &one).starts_with("mcp_fs_read_"));
    assert!(table.pair(&plain).is_none() && table.pair(&hash).is_none());
    assert_eq!(name(&table, &two), "mcp_fs_write");
    let held = assign(&NameTable::default(), [one.clone()], &Naming::default());
    assert_eq!(name(&assign(&held, [one.clone(), two], &naming), &one), "mcp_fs_read");
}

#[test]
fn a_smaller_budget_cuts_with_the_same_hash() {
    let pair = pair("filesystem", "read_multiple_files");
    let wide = assign(&NameTable::default(), [pair.clone()], &Naming::default());
    assert_eq!(name(&wide, &pair), "mcp_filesystem_read_multiple_files");
    let hash = |longest: usize| {
        let naming = Naming::default().within(longest).unwrap();
        let table = assign(&NameTable::default(), [pair.clone()], &naming);
        let name = name(&table, &pair).to_owned();
        assert_eq!(name.len(), longest, "{name}");
        name.rsplit_once('_').unwrap().1.to_owned()
    };
    assert_eq!(hash(16), hash(33));
}
