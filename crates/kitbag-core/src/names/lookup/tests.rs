use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::names::{Form, Naming, Pair, Table, assign};

fn view(form: Form, pairs: &[(&str, &str)]) -> Lookup {
    let pairs: Vec<Pair> = pairs
        .iter()
        .map(|(server, tool)| (ServerName::parse(server).unwrap(), ToolName::parse(tool).unwrap()))
        .collect();
    let [shown, full, short] = [form, Form::Full, Form::Short]
        .map(|form| assign(&Table::default(), pairs.iter().cloned(), &Naming::new(form)));
    Lookup::new(pairs.iter().map(|(server, tool)| Row {
        shown: shown.name(server, tool).unwrap().clone(),
        full: full.name(server, tool).unwrap().clone(),
        short: short.name(server, tool).unwrap().clone(),
        server: server.clone(),
        tool: tool.clone(),
    }))
}

const PAIRS: [(&str, &str); 8] = [
    ("mem-agent", "store_memory"),
    ("filesystem", "read-file"),
    ("filesystem", "Write_File"),
    ("a/b", "c"),
    ("a", "b/c"),
    ("one", "status"),
    ("two", "status"),
    ("Two", "Status"),
];

#[track_caller]
fn check(view: &Lookup, text: &str, want: Found) {
    let shown = |row: &usize| view.rows()[*row].shown.to_string();
    let found = view.find(text);
    let named = match &found {
        Found::One(row) => vec![shown(row)],
        Found::Ambiguous(rows) | Found::None { near: rows } => rows.iter().map(shown).collect(),
    };
    assert_eq!(found, want, "{text:?} led to {named:?}");
}

#[track_caller]
fn check_by(view: &Lookup, text: &str, want: Found, by: By) {
    check(view, text, want);
    assert_eq!(view.find_by(text).1, by, "{text:?}");
}

fn none<const N: usize>(near: [usize; N]) -> Found {
    Found::None { near: near.into() }
}

#[test]
fn s2_2_a_name_in_any_form_reaches_its_tool() {
    let view = view(Form::Full, &PAIRS);
    for (text, row) in [
        ("mcp_mem_agent_store_memory", 0),
        ("mem-agent/store_memory", 0),
        ("mcp_mem-agent_store-memory", 0),
        ("MCP_MEM_AGENT_STORE_MEMORY", 0),
        ("store_memory", 0),
        ("Store-Memory", 0),
        ("read-file", 1),
        ("read_file", 1),
        ("mcp_filesystem_write_file", 2),
        ("two/status", 6),
        ("Two/Status", 7),
        ("Status", 7),
    ] {
        check(&view, text, Found::One(row));
    }
}

#[test]
fn s2_2_the_full_name_works_in_every_view() {
    for form in Form::ALL {
        let view = view(form, &PAIRS);
        for (row, names) in view.rows().iter().enumerate() {
            check(&view, names.shown.as_str(), Found::One(row));
            check(&view, names.full.as_str(), Found::One(row));
        }
        check(&view, "MCP-mem-agent-store-memory", Found::One(0));
    }
}

#[test]
fn what_is_not_sure_is_not_guessed() {
    let view = view(Form::Full, &PAIRS);
    // `mcp_Two_Status` before `mcp_one_status`: in order of the names shown.
    check(&view, "STATUS", Found::Ambiguous(vec![7, 5, 6]));
    check(&view, "status", Found::Ambiguous(vec![5, 6]));
    check(&view, "mcp-two-status", Found::Ambiguous(vec![7, 6]));
    // Names are not split: both are called so.
    let mut rows = vec![3, 4];
    rows.sort_by_key(|row| &view.rows()[*row].shown);
    check(&view, "a/b/c", Found::Ambiguous(rows));
}

#[test]
fn a_view_knows_only_its_own() {
    let view = view(Form::Full, &PAIRS[1..6]);
    check(&view, "mcp_mem_agent_store_memory", none([]));
    check(&view, "mem-agent/store_memory", none([]));
    check(&view, "status", Found::One(4));
    assert_eq!(Lookup::new([]).find("status"), none([]));
    assert_eq!(Lookup::new([]).find(""), none([]));
}

#[test]
fn t22_the_own_name_of_a_tool_takes_nobody_else_s() {
    for form in Form::ALL {
        let view = view(
            form,
            &[("bank", "pay"), ("evil", "mcp_bank_pay"), ("evil", "bank_pay"), ("evil", "bank/pay")],
        );
        check(&view, "mcp_bank_pay", Found::One(0));
        check(&view, "bank/pay", Found::One(0));
        let shown = view.rows()[0].shown.clone();
        check(&view, shown.as_str(), Found::One(0));
    }
}

#[test]
fn f74_a_short_name_does_not_reach_another_server_s_tool_of_that_name() {
    const GOOD: [(&str, &str); 2] = [("good", "echo"), ("other", "good_echo")];
    let full = view(Form::Full, &GOOD);
    check_by(&full, "good_echo", Found::Ambiguous(vec![0, 1]), By::Own);
    check_by(&full, "Good-Echo", Found::Ambiguous(vec![0, 1]), By::Own);
    check_by(&full, "good/echo", Found::One(0), By::Name);
    check_by(&full, "other_good_echo", Found::One(1), By::Own);
    // In a view of short names it is the name the model was given.
    check_by(&view(Form::Short, &GOOD), "good_echo", Found::One(0), By::Name);
    // One tool called so in both ways is one tool.
    let mut other = full.rows()[0].clone();
    other.short = ShownName::parse("g_o").unwrap();
    other.tool = ToolName::parse("g-o").unwrap();
    check_by(&Lookup::new([other]), "G_O", Found::One(0), By::Own);
}

#[test]
fn f74_by_which_name_a_tool_was_found() {
    let full = view(Form::Full, &[("everything", "get-sum"), ("one", "get"), ("fs", "Read")]);
    for (text, row, by) in [
        ("mcp_everything_get_sum", 0, By::Name),
        ("everything/get-sum", 0, By::Name),
        ("everything/get_sum", 0, By::Name),
        ("MCP_Everything_Get-Sum", 0, By::Name),
        ("everything_get_sum", 0, By::Own),
        ("Everything-Get-Sum", 0, By::Own),
        ("get-sum", 0, By::Own),
        ("get_sum", 0, By::Own),
        ("one/GET", 1, By::Name),
        // `One` may be another server, which has not listed yet.
        ("One/get", 1, By::Own),
        ("read", 2, By::Own),
    ] {
        check_by(&full, text, Found::One(row), by);
    }
    check_by(&full, "nothing_like_it", none([]), By::Name);
    let bare = view(Form::Bare, &[("everything", "get-sum"), ("one", "get")]);
    check_by(&bare, "get_sum", Found::One(0), By::Name);
    check_by(&bare, "Get_Sum", Found::One(0), By::Name);
}

#[test]
fn near_names_are_suggested_the_nearest_first() {
    let view = view(
        Form::Full,
        &[
            ("fs", "read_file"),
            ("fs", "read_files"),
            ("fs", "write_file"),
            ("db", "read_file_stats"),
            ("db", "query"),
            ("x", "go"),
        ],
    );
    check(&view, "mcp_fs_raed_file", none([0, 1]));
    check(&view, "read_fil", none([0, 1, 3]));
    check(&view, "other.read_file", none([0]));
    check(&view, "mcp_db_qeury", none([4]));
    check(&view, "db/querys", none([4]));
    check(&view, "db/qeury", none([4]));
    // Too short to say anything, or merely different.
    check(&view, "g", none([]));
    check(&view, "delete_everything", none([]));
}

#[test]
fn hostile_texts_end_quickly() {
    let view = view(Form::Full, &PAIRS);
    check(&view, "", none([]));
    check(&view, "\u{0}", none([]));
    check(&view, &"/".repeat(1 << 20), none([]));
    let long = "x".repeat(128);
    let longest = format!("{}/{}", "文".repeat(128), long);
    let view = self::view(Form::Full, &[(&"文".repeat(128), &long)]);
    check(&view, &longest, Found::One(0));
}

fn words() -> impl Strategy<Value = String> {
    proptest::string::string_regex("(mcp_)?[abAB_/\\-]{1,4}").unwrap()
}

fn config() -> ProptestConfig {
    let (cases, rng_seed) = match option_env!("KITBAG_FULL_TESTS") {
        Some(_) => (50_000, RngSeed::Random),
        None => (300, RngSeed::Fixed(20_261_115)),
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// The indices say what looking at every row says.
    #[test]
    fn t22_a_text_leads_where_its_names_say(
        pairs in proptest::collection::btree_set((words(), words()), 0..20),
        asked in words(),
        form in proptest::sample::select(&Form::ALL),
    ) {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let view = view(form, &pairs);
        let loose = |text: &str| text.replace('-', "_").to_ascii_lowercase();
        let fits = |way: usize, row: &Row, text: &str| match way {
            0 => row.shown.as_str() == text,
            1 => row.full.as_str() == text,
            2 => format!("{}/{}", row.server, row.tool) == text,
            3 => loose(&format!("{}/{}", row.server, row.tool)) == loose(text),
            4 => loose(row.shown.as_str()) == loose(text),
            5 => loose(row.full.as_str()) == loose(text),
            6 => row.short.as_str() == text || row.tool.as_str() == text,
            _ => loose(row.short.as_str()) == loose(text) || loose(row.tool.as_str()) == loose(text),
        };
        let texts = view.rows().iter().flat_map(|row| {
            let pair = format!("{}/{}", row.server, row.tool);
            [row.shown.to_string(), row.full.to_string(), row.short.to_string(), row.tool.to_string(), pair]
        });
        for text in texts.chain([asked]) {
            let rows = |way| (0..pairs.len()).filter(|row| fits(way, &view.rows()[*row], &text)).collect();
            let mut first: Vec<usize> = (0..8).map(rows).find(|rows: &Vec<usize>| !rows.is_empty()).unwrap_or_default();
            first.sort_by_key(|row| &view.rows()[*row].shown);
            match (view.find(&text), first.as_slice()) {
                (Found::One(row), [one]) => prop_assert_eq!(row, *one),
                (Found::Ambiguous(rows), [_, _, ..]) => prop_assert_eq!(rows, first),
                (Found::None { near }, []) => prop_assert!(near.len() <= NEAR),
                (found, _) => prop_assert!(false, "{:?} led to {:?}, not to {:?}", text, found, first),
            }
        }
        for (row, names) in view.rows().iter().enumerate() {
            prop_assert_eq!(view.find(names.shown.as_str()), Found::One(row));
            prop_assert_eq!(view.find(names.full.as_str()), Found::One(row));
        }
    }
}

#[test]
fn f4_a_name_of_a_megabyte_is_compared_with_no_other() {
    let lookup = view(Form::Full, &PAIRS);
    let near = |text: String| lookup.find(&text);
    assert!(matches!(near("store_memory_x".to_owned()), Found::None { near } if !near.is_empty()));
    // As far as it would be compared, this is the name of a tool.
    let long = format!("store_memory{}", "-".repeat(1 << 20));
    assert_eq!(near(long), Found::None { near: Vec::new() });
}
