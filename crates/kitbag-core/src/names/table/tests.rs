use super::*;
use crate::names::{Naming, assign};

fn pairs(servers: std::ops::Range<usize>, tools: usize) -> Vec<ToolKey> {
    let server = |n| ServerName::parse(&format!("server-{n}")).unwrap();
    let tool = |n| ToolName::parse(&format!("tool_{n}")).unwrap();
    servers.flat_map(|s| (0..tools).map(move |t| (server(s), tool(t)))).collect()
}

fn rows(table: &NameTable) -> Vec<(&str, &str, &str)> {
    table.iter().map(|(server, tool, name)| (server.as_str(), tool.as_str(), name.as_str())).collect()
}

fn shared<A: Ord, B, C>(one: &Leaves<A, B, C>, other: &Leaves<A, B, C>) -> usize {
    let same = |(key, leaf): &(&A, &Arc<BTreeMap<B, C>>)| {
        other.0.get(*key).is_some_and(|other| Arc::ptr_eq(leaf, other))
    };
    one.0.iter().filter(same).count()
}

#[test]
fn a_change_in_one_server_copies_little() {
    let held = assign(&NameTable::default(), pairs(0..100, 20), &Naming::default());
    let copy = held.clone();
    assert!(Arc::ptr_eq(&held.by_pair.0, &copy.by_pair.0) && Arc::ptr_eq(&held.by_name.0, &copy.by_name.0));
    let more = assign(&held, pairs(7..8, 40), &Naming::default());
    assert_eq!(more.len(), held.len() + 20);
    assert_eq!(shared(&held.by_pair, &more.by_pair), 99);
    assert!(256 - 20 <= shared(&held.by_name, &more.by_name));
    let same = assign(&held, pairs(0..100, 20), &Naming::default());
    assert!(Arc::ptr_eq(&held.by_pair.0, &same.by_pair.0));
}

#[test]
fn names_are_spread_over_the_leaves() {
    let table = assign(&NameTable::default(), pairs(0..128, 40), &Naming::default());
    let sizes: Vec<usize> = table.by_name.0.values().map(|leaf| leaf.len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 5120);
    assert!(sizes.len() == 256 && sizes.iter().all(|size| *size < 60), "{sizes:?}");
}

#[test]
fn a_kept_table_is_the_same_again() {
    let table = assign(&NameTable::default(), pairs(0..5, 5), &Naming::default());
    let (again, skipped) = NameTable::from_rows(rows(&table));
    assert_eq!((&again, skipped), (&table, 0));
    let backward: Vec<_> = rows(&table).into_iter().rev().collect();
    assert_eq!(rows(&NameTable::from_rows(backward).0), rows(&table));
    assert!(rows(&table).is_sorted());
}

#[test]
fn damaged_rows_cost_only_themselves() {
    let (table, skipped) = NameTable::from_rows([
        ("a", "b", "mcp_a_b"),
        ("a", "b", "mcp_a_b"),
        ("a", "b", "another"),
        ("a", "c", "mcp_a_b"),
        ("", "c", "mcp_c"),
        ("a", "c\u{200b}", "mcp_c"),
        ("a", "c", "no name"),
        ("a", "c", "mcp_a_c"),
    ]);
    assert_eq!(rows(&table), [("a", "b", "mcp_a_b"), ("a", "c", "mcp_a_c")]);
    assert_eq!((table.len(), table.is_empty(), skipped), (2, false, 5));
    assert!(NameTable::from_rows::<&str>([]).0.is_empty());
}

#[test]
fn f25_a_freed_name_is_free_for_others() {
    let table = assign(&NameTable::default(), pairs(0..3, 3), &Naming::default());
    let check = |is_freed: fn(&str, &str) -> bool, left: usize| {
        let freed = table.without(|server, tool, _| is_freed(server.as_str(), tool.as_str()));
        let kept: Vec<_> =
            rows(&table).into_iter().filter(|(server, tool, _)| !is_freed(server, tool)).collect();
        assert_eq!((rows(&freed), freed.len()), (kept.clone(), left));
        // As if they had never been given, in both directions.
        assert_eq!(freed, NameTable::from_rows(kept).0);
        assert!(table.iter().all(|(server, tool, name)| {
            freed.pair(name).is_none() == is_freed(server.as_str(), tool.as_str())
        }));
        assert_eq!(assign(&freed, pairs(0..3, 3), &Naming::default()), table);
    };
    check(|_, _| false, 9);
    check(|server, _| server == "server-1", 6);
    check(|_, tool| tool == "tool_0", 6);
    check(|server, tool| server == "server-2" && tool == "tool_2", 8);
    check(|_, _| true, 0);
    let pair = |server: &str| (ServerName::parse(server).unwrap(), ToolName::parse("t").unwrap());
    let held = assign(&NameTable::default(), [pair("a_b")], &Naming::default());
    let later = |held: &NameTable| {
        let table = assign(held, [pair("a-b")], &Naming::default());
        table.name(&pair("a-b").0, &pair("a-b").1).unwrap().to_string()
    };
    assert_ne!(later(&held), "mcp_a_b_t");
    assert_eq!(later(&held.without(|server, _, _| server.as_str() == "a_b")), "mcp_a_b_t");
}
