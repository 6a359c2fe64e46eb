use super::*;

fn pair(server: &str, tool: &str) -> Pair {
    (ServerName::parse(server).unwrap(), ToolName::parse(tool).unwrap())
}

fn name<'a>(table: &'a Table, pair: &Pair) -> &'a str {
    table.name(&pair.0, &pair.1).unwrap().as_str()
}

#[test]
fn plain_names_are_the_seed_s() {
    let pairs = [pair("mem-agent", "store_memory"), pair("filesystem", "read_file")];
    let table = assign(&Table::default(), pairs.clone(), LONGEST);
    assert_eq!(name(&table, &pairs[0]), "mcp_mem_agent_store_memory");
    assert_eq!(name(&table, &pairs[1]), "mcp_filesystem_read_file");
}

#[test]
fn of_two_that_want_one_name_both_get_a_hash() {
    let pairs = [pair("a_b", "c"), pair("a", "b_c"), pair("a-b", "c")];
    let table = assign(&Table::default(), pairs.clone(), LONGEST);
    let names: BTreeSet<&str> = pairs.iter().map(|pair| name(&table, pair)).collect();
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|name| name.starts_with("mcp_a_b_c_")), "{names:?}");
}

#[test]
fn a_held_name_stays_and_is_never_given_again() {
    let (first, later) = (pair("a_b", "c"), pair("a", "b_c"));
    let held = assign(&Table::default(), [first.clone()], LONGEST);
    assert_eq!(name(&held, &first), "mcp_a_b_c");
    let table = assign(&held, [first.clone(), later.clone()], LONGEST);
    assert_eq!(name(&table, &first), "mcp_a_b_c");
    assert_ne!(name(&table, &later), "mcp_a_b_c");
    let without = assign(&held, [later.clone()], LONGEST);
    assert_eq!(name(&without, &later), name(&table, &later));
}

#[test]
fn long_names_are_cut_and_stay_distinct() {
    let long = "x".repeat(100);
    let pairs = [pair(&long, "one"), pair(&long, "two")];
    let table = assign(&Table::default(), pairs.clone(), LONGEST);
    assert_ne!(name(&table, &pairs[0]), name(&table, &pairs[1]));
    assert!(pairs.iter().all(|pair| name(&table, pair).len() == 64));
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let words = ["a", "b", "a_b", "a-b", "b_c", "c", "文", "書", "A"];
    let pairs: Vec<Pair> =
        words.iter().flat_map(|server| words.iter().map(move |tool| pair(server, tool))).collect();
    let forward = assign(&Table::default(), pairs.clone(), LONGEST);
    let backward = assign(&Table::default(), pairs.iter().rev().cloned(), LONGEST);
    assert_eq!(forward, backward);
    assert_eq!(forward.iter().count(), pairs.len());
}
