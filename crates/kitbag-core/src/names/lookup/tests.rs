use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::names::{NameForm, NameTable, Naming, ToolKey, assign};

fn view(form: NameForm, pairs: &[(&str, &str)]) -> NameIndex {
    let pairs: Vec<ToolKey> = pairs
        .iter()
        .map(|(server, tool)| (ServerName::parse(server).unwrap(), ToolName::parse(tool).unwrap()))
        .collect();
    let [shown, full, short] = [form, NameForm::Full, NameForm::Short]
        .map(|form| assign(&NameTable::default(), pairs.iter().cloned(), &Naming::new(form)));
    NameIndex::new(pairs.iter().map(|(server, tool)| NameRow {
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
fn check(view: &NameIndex, text: &str, want: NameMatch) {
    let shown = |row: &usize| view.rows()[*row].shown.to_string();
    let found = view.find(text);
    let named = match &found {
        NameMatch::One(row) => vec![shown(row)],
        NameMatch::Ambiguous(rows) | NameMatch::None { near: rows } => rows.iter().map(shown).collect(),
    };
    assert_eq!(found, want, "{text:?} led to {named:?}");
}

#[track_caller]
fn check_by(view: &NameIndex, text: &str, want: NameMatch, by: MatchedBy) {
    check(view, text, want);
    assert_eq!(view.find_by(text).1, by, "{text:?}");
}

fn none<const N: usize>(near: [usize; N]) -> NameMatch {
    NameMatch::None { near: near.into() }
}

#[test]
fn s2_2_a_name_in_any_form_reaches_its_tool() {
    let view = view(NameForm::Full, &PAIRS);
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
        check(&view, text, NameMatch::One(row));
    }
}

#[test]
fn f60_spellings_of_other_programs_reach_their_tool() {
    for form in NameForm::ALL {
        let view = view(form, &PAIRS);
        for (text, row) in [
            ("filesystem/read_file", 1),
            ("FileSystem/Read-File", 1),
            ("filesystem.read_file", 1),
            ("filesystem__write-file", 2),
            ("mcp__mem_agent__store_memory", 0),
            ("MCP__filesystem__Read_File", 1),
        ] {
            check(&view, text, NameMatch::One(row));
        }
        check_by(&view, "filesystem.read_file", NameMatch::One(1), MatchedBy::Own);
        check(&view, "two.status", view.find("TWO/STATUS"));
        assert!(matches!(view.find("two__status"), NameMatch::Ambiguous(rows) if rows.len() == 2));
        check(&view, "mcp__two__nothing", none([]));
    }
    // A tool that is called like another server's, spelled so, does not take its place.
    let view = view(NameForm::Full, &[("bank", "pay"), ("evil", "bank__pay"), ("evil", "mcp__bank__pay")]);
    for (text, taker) in [("bank__pay", 1), ("mcp__bank__pay", 2)] {
        assert_eq!(view.find(text), NameMatch::Ambiguous(view.in_order([0, taker].into_iter())), "{text}");
    }
    check(&view, "bank.pay", NameMatch::One(0));
}

#[test]
fn s2_2_the_full_name_works_in_every_view() {
    for form in NameForm::ALL {
        let view = view(form, &PAIRS);
        for (row, names) in view.rows().iter().enumerate() {
            check(&view, names.shown.as_str(), NameMatch::One(row));
            check(&view, names.full.as_str(), NameMatch::One(row));
        }
        check(&view, "MCP-mem-agent-store-memory", NameMatch::One(0));
    }
}

#[test]
fn what_is_not_sure_is_not_guessed() {
    let view = view(NameForm::Full, &PAIRS);
    // `mcp_Two_Status` before `mcp_one_status`: in order of the names shown.
    check(&view, "STATUS", NameMatch::Ambiguous(vec![7, 5, 6]));
    check(&view, "status", NameMatch::Ambiguous(vec![5, 6]));
    check(&view, "mcp-two-status", NameMatch::Ambiguous(vec![7, 6]));
    // Names are not split: both are called so.
    let mut rows = vec![3, 4];
    rows.sort_by_key(|row| &view.rows()[*row].shown);
    check(&view, "a/b/c", NameMatch::Ambiguous(rows));
}

#[test]
fn a_view_knows_only_its_own() {
    let view = view(NameForm::Full, &PAIRS[1..6]);
    check(&view, "mcp_mem_agent_store_memory", none([]));
    check(&view, "mem-agent/store_memory", none([]));
    check(&view, "status", NameMatch::One(4));
    assert_eq!(NameIndex::new([]).find("status"), none([]));
    assert_eq!(NameIndex::new([]).find(""), none([]));
}

#[test]
fn t22_the_own_name_of_a_tool_takes_nobody_else_s() {
    for form in NameForm::ALL {
        let view = view(
            form,
            &[("bank", "pay"), ("evil", "mcp_bank_pay"), ("evil", "bank_pay"), ("evil", "bank/pay")],
        );
        check(&view, "mcp_bank_pay", NameMatch::One(0));
        check(&view, "bank/pay", NameMatch::One(0));
        let shown = view.rows()[0].shown.clone();
        check(&view, shown.as_str(), NameMatch::One(0));
    }
}

#[test]
fn f74_a_short_name_does_not_reach_another_server_s_tool_of_that_name() {
    const GOOD: [(&str, &str); 2] = [("good", "echo"), ("other", "good_echo")];
    let full = view(NameForm::Full, &GOOD);
    check_by(&full, "good_echo", NameMatch::Ambiguous(vec![0, 1]), MatchedBy::Own);
    check_by(&full, "Good-Echo", NameMatch::Ambiguous(vec![0, 1]), MatchedBy::Own);
    check_by(&full, "good/echo", NameMatch::One(0), MatchedBy::Name);
    check_by(&full, "other_good_echo", NameMatch::One(1), MatchedBy::Own);
    // In a view of short names it is the name the model was given.
    check_by(&view(NameForm::Short, &GOOD), "good_echo", NameMatch::One(0), MatchedBy::Name);
    // One tool called so in both ways is one tool.
    let mut other = full.rows()[0].clone();
    other.short = ShownName::parse("g_o").unwrap();
    other.tool = ToolName::parse("g-o").unwrap();
    check_by(&NameIndex::new([other]), "G_O", NameMatch::One(0), MatchedBy::Own);
}

#[test]
fn f74_by_which_name_a_tool_was_found() {
    let full = view(NameForm::Full, &[("everything", "get-sum"), ("one", "get"), ("fs", "Read")]);
    for (text, row, by) in [
        ("mcp_everything_get_sum", 0, MatchedBy::Name),
        ("everything/get-sum", 0, MatchedBy::Name),
        ("everything/get_sum", 0, MatchedBy::Name),
        ("MCP_Everything_Get-Sum", 0, MatchedBy::Name),
        ("everything_get_sum", 0, MatchedBy::Own),
        ("Everything-Get-Sum", 0, MatchedBy::Own),
        ("get-sum", 0, MatchedBy::Own),
        ("get_sum", 0, MatchedBy::Own),
        ("one/GET", 1, MatchedBy::Name),
        // `One` may be another server, which has not listed yet.
        ("One/get", 1, MatchedBy::Own),
        ("read", 2, MatchedBy::Own),
    ] {
        check_by(&full, text, NameMatch::One(row), by);
    }
    check_by(&full, "nothing_like_it", none([]), MatchedBy::Name);
    let bare = view(NameForm::Bare, &[("everything", "get-sum"), ("one", "get")]);
    check_by(&bare, "get_sum", NameMatch::One(0), MatchedBy::Name);
    check_by(&bare, "Get_Sum", NameMatch::One(0), MatchedBy::Name);
}

#[test]
fn near_names_are_suggested_the_nearest_first() {
    let view = view(
        NameForm::Full,
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
    let view = view(NameForm::Full, &PAIRS);
    check(&view, "", none([]));
    check(&view, "\u{0}", none([]));
    check(&view, &"/".repeat(1 << 20), none([]));
    let long = "x".repeat(128);
    let longest = format!("{}/{}", "文".repeat(128), long);
    let view = self::view(NameForm::Full, &[(&"文".repeat(128), &long)]);
    check(&view, &longest, NameMatch::One(0));
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
        form in proptest::sample::select(&NameForm::ALL),
    ) {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let view = view(form, &pairs);
        let loose = |text: &str| text.replace('-', "_").to_ascii_lowercase();
        let spellings = |row: &NameRow| {
            let (server, tool) = (&row.server, &row.tool);
            [format!("{server}.{tool}"), format!("{server}__{tool}"), format!("mcp__{server}__{tool}")]
        };
        let spelled = |row: &NameRow, text: &str| {
            let is = |(name, sign): (&String, &str)| text.contains(sign) && loose(name) == loose(text);
            spellings(row).iter().zip([".", "__", "__"]).any(is)
        };
        let fits = |way: usize, row: &NameRow, text: &str| match way {
            0 => row.shown.as_str() == text,
            1 => row.full.as_str() == text,
            2 => format!("{}/{}", row.server, row.tool) == text,
            3 => loose(&format!("{}/{}", row.server, row.tool)) == loose(text),
            4 => loose(row.shown.as_str()) == loose(text),
            5 => loose(row.full.as_str()) == loose(text),
            6 => row.short.as_str() == text || row.tool.as_str() == text || spelled(row, text),
            _ => loose(row.short.as_str()) == loose(text) || loose(row.tool.as_str()) == loose(text),
        };
        let texts = view.rows().iter().flat_map(|row| {
            let pair = format!("{}/{}", row.server, row.tool);
            [row.shown.to_string(), row.full.to_string(), row.short.to_string(), row.tool.to_string(), pair]
        });
        for text in texts.chain(view.rows().iter().flat_map(spellings)).chain([asked]) {
            let rows = |way| (0..pairs.len()).filter(|row| fits(way, &view.rows()[*row], &text)).collect();
            let mut first: Vec<usize> = (0..8).map(rows).find(|rows: &Vec<usize>| !rows.is_empty()).unwrap_or_default();
            first.sort_by_key(|row| &view.rows()[*row].shown);
            match (view.find(&text), first.as_slice()) {
                (NameMatch::One(row), [one]) => prop_assert_eq!(row, *one),
                (NameMatch::Ambiguous(rows), [_, _, ..]) => prop_assert_eq!(rows, first),
                (NameMatch::None { near }, []) => prop_assert!(near.len() <= NEAR),
                (found, _) => prop_assert!(false, "{:?} led to {:?}, not to {:?}", text, found, first),
            }
        }
        for (row, names) in view.rows().iter().enumerate() {
            prop_assert_eq!(view.find(names.shown.as_str()), NameMatch::One(row));
            prop_assert_eq!(view.find(names.full.as_str()), NameMatch::One(row));
        }
    }
}

#[test]
fn f4_a_name_of_a_megabyte_is_compared_with_no_other() {
    let lookup = view(NameForm::Full, &PAIRS);
    let near = |text: String| lookup.find(&text);
    assert!(matches!(near("store_memory_x".to_owned()), NameMatch::None { near } if !near.is_empty()));
    // As far as it would be compared, this is the name of a tool.
    let long = format!("store_memory{}", "-".repeat(1 << 20));
    assert_eq!(near(long), NameMatch::None { near: Vec::new() });
}
