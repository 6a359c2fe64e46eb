use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn config() -> ProptestConfig {
    let (cases, rng_seed) = match option_env!("KITBAG_FULL_TESTS") {
        Some(_) => (500_000, RngSeed::Random),
        None => (5_000, RngSeed::Fixed(20_261_115)),
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// What saves measuring never changes what is measured.
    #[test]
    fn slips_are_those_of_the_whole_words(
        front in "[a-c]{0,6}", one in "[a-cé]{0,3}", other in "[a-cé]{0,3}", back in "[a-c文]{0,6}",
    ) {
        let (one, other) = (format!("{front}{one}{back}"), format!("{front}{other}{back}"));
        let slips = strsim::damerau_levenshtein(&one, &other);
        let room = (one.len().min(other.len()) / 3).min(2);
        prop_assert_eq!(Asked::new(&one).slips(&other), Some(slips).filter(|slips| *slips <= room));
    }
}

#[test]
fn distances() {
    for (word, candidate, want) in [
        ("read_file", "ReadFile", Some(0)),
        ("raed_file", "read_file", Some(1)),
        ("read_file", "mcp_fs_read_file", Some(2 + 5)),
        ("mcp_fs_read_file", "read_file", Some(2 + 5)),
        ("get", "mcp_fs_get", None),
        ("read_file", "query", None),
        ("ﬃİ", "ﬃİ", Some(0)),
    ] {
        assert_eq!(Asked::new(word).distance(candidate), want, "{word} {candidate}");
    }
    let wide = "İ".repeat(200);
    assert_eq!(Asked::new(&wide).distance(&wide), Some(0));
}

#[test]
fn f4_of_a_word_of_a_megabyte_only_the_beginning_is_compared() {
    let work = || {
        let (word, other) = ("ab".repeat(1 << 19), "ba".repeat(1 << 19));
        let near = all_nearest(&word, (0..1_000).map(|_| other.as_str()));
        (near.len(), Asked::new(&word).folded.len())
    };
    // On a thread of its own, so that one without end fails instead of hanging.
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    let found = ended.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
    assert_eq!(found, (1_000, LONGEST));
}
