//! What holds for every set of names. `KITBAG_FULL_TESTS=1` at build time takes the full sizes.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

const fn size(ci: usize, full: usize) -> usize {
    if option_env!("KITBAG_FULL_TESTS").is_some() { full } else { ci }
}

const PAIRS: usize = size(40_000, 1_000_000);
const SHUFFLED: usize = size(250, 20_000);
const SHUFFLES: usize = 100;
const STEPS: usize = 1_000;
const CASES: u32 = size(200, 20_000) as u32;

/// SplitMix64: small, and the same everywhere.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }

    /// Mostly short, so that many meet; up to 80 characters.
    fn word(&mut self) -> String {
        let longest = [4, 4, 8, 8, 12, 20, 80][self.below(7)];
        let length = 1 + self.below(longest);
        (0..length).map(|_| ['a', 'b', '_', '-'][self.below(4)]).collect()
    }

    /// A pair, or one that looks like an earlier one: cut elsewhere, `-` for `_`.
    fn pair(&mut self, earlier: &[ToolKey]) -> ToolKey {
        let Some(old) = (!earlier.is_empty()).then(|| &earlier[self.below(earlier.len())]) else {
            return pair(&self.word(), &self.word());
        };
        match self.below(3) {
            0 => pair(&self.word(), &self.word()),
            1 => pair(&self.swap(old.0.as_str()), &self.swap(old.1.as_str())),
            _ => {
                let whole = format!("{}_{}", old.0, old.1);
                let cuts: Vec<usize> =
                    (1..whole.len() - 1).filter(|at| matches!(whole.as_bytes()[*at], b'_' | b'-')).collect();
                let at = cuts[self.below(cuts.len())];
                let short = |text: &str| text.chars().take(80).collect::<String>();
                pair(&short(&whole[..at]), &short(&whole[at + 1..]))
            }
        }
    }

    fn swap(&mut self, text: &str) -> String {
        let other = |c, rng: &mut Self| match c {
            '_' | '-' => ['_', '-'][rng.below(2)],
            _ => c,
        };
        text.chars().map(|c| other(c, self)).collect()
    }

    fn pairs(&mut self, count: usize) -> Vec<ToolKey> {
        let (mut seen, mut pairs) = (HashSet::new(), Vec::new());
        while pairs.len() < count {
            let next = self.pair(&pairs);
            if seen.insert(next.clone()) {
                pairs.push(next);
            }
        }
        pairs
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// Every pair has a name of its own that is valid and short enough, and the way back leads to it.
#[track_caller]
fn check(table: &NameTable, pairs: &[ToolKey], longest: usize) {
    let mut names = HashSet::new();
    for pair in pairs {
        let name = table.name(&pair.0, &pair.1).unwrap();
        assert!(ShownName::parse(name.as_str()).is_ok() && name.as_str().len() <= longest, "{name}");
        assert!(names.insert(name), "{name} was given twice");
        assert_eq!(table.pair(name), Some(pair));
    }
}

#[test]
fn t22_names_are_distinct_whatever_they_are_made_of() {
    let pairs = Rng(22).pairs(PAIRS);
    for (form, longest) in [(NameForm::Full, 64), (NameForm::Short, 40), (NameForm::Bare, 16)] {
        let naming = Naming::new(form).within(longest).unwrap();
        let after = pairs.iter().step_by(20).map(|pair| named_after_the_hash_of(pair, &naming));
        let pairs: Vec<ToolKey> = pairs.iter().cloned().chain(after).collect();
        let table = assign(&NameTable::default(), pairs.iter().cloned(), &naming);
        assert_eq!(table.len(), pairs.len());
        check(&table, &pairs, longest);
        let plain = table.iter().filter(|(server, tool, name)| {
            form.plain(&((*server).clone(), (*tool).clone())) == name.as_str()
        });
        // Otherwise the pairs were not drawn to collide, or none could be alone.
        let plain = plain.count();
        assert!(0 < plain && plain < pairs.len() / 2, "{form:?}: {plain} of {} are plain", pairs.len());
    }
}

#[test]
fn s1_17_names_do_not_depend_on_the_order_of_arrival() {
    let mut rng = Rng(17);
    let mut pairs = rng.pairs(SHUFFLED);
    let held = assign(&NameTable::default(), rng.pairs(SHUFFLED / 5), &Naming::default());
    for form in NameForm::ALL {
        let naming = Naming::new(form).within(32).unwrap();
        let first = assign(&held, pairs.iter().cloned(), &naming);
        for _ in 0..SHUFFLES {
            rng.shuffle(&mut pairs);
            assert_eq!(assign(&held, pairs.iter().cloned(), &naming), first);
        }
    }
}

#[test]
fn t22_a_name_once_given_is_never_changed_or_given_again() {
    let mut rng = Rng(2);
    let all = rng.pairs(size(600, 2_000));
    let naming = Naming::default().within(24).unwrap();
    let mut table = NameTable::default();
    let mut given: BTreeMap<ShownName, ToolKey> = BTreeMap::new();
    let mut present: HashSet<ToolKey> = HashSet::new();
    for _ in 0..STEPS {
        // One server goes, or some pairs come.
        if rng.below(2) == 0 {
            let gone = &all[rng.below(all.len())].0;
            present.retain(|(server, _)| server != gone);
        }
        let some: Vec<ToolKey> = (0..rng.below(4)).map(|_| all[rng.below(all.len())].clone()).collect();
        present.extend(some.iter().cloned());
        let next = assign(&table, present.iter().cloned(), &naming);
        assert_eq!(assign(&table, some, &naming), next, "what changed is enough");
        assert!(
            given.iter().all(
                |(name, pair)| next.pair(name) == Some(pair) && next.name(&pair.0, &pair.1) == Some(name)
            )
        );
        given =
            next.iter().map(|(server, tool, name)| (name.clone(), (server.clone(), tool.clone()))).collect();
        assert_eq!(given.len(), next.len());
        assert!(present.iter().all(|(server, tool)| next.name(server, tool).is_some()));
        table = next;
    }
    assert!(400 < table.len(), "most were added at some time");
}

fn names() -> impl Strategy<Value = String> {
    let any = proptest::string::string_regex("[a-c0-2_. /文書é\\-]{1,12}|\\PC{1,130}").unwrap();
    // Made a name rather than refused when it is none: too many refusals end a test.
    any.prop_map(|text| {
        let seen: String = text.chars().filter(|c| !crate::text::is_hidden(*c)).take(128).collect();
        Some(seen.trim()).filter(|name| !name.is_empty()).unwrap_or("x").to_owned()
    })
}

fn config() -> ProptestConfig {
    let rng_seed =
        if option_env!("KITBAG_FULL_TESTS").is_some() { RngSeed::Random } else { RngSeed::Fixed(20_261_115) };
    ProptestConfig { cases: CASES, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn t22_any_names_at_all(
        words in proptest::collection::btree_set((names(), names()), 1..30),
        held in 0_usize..30,
        longest in crate::names::SHORTEST_SHOWN..=64,
        form in proptest::sample::select(&NameForm::ALL),
    ) {
        let pairs: Vec<ToolKey> = words.iter().map(|(server, tool)| pair(server, tool)).collect();
        let naming = Naming::new(form).within(longest).unwrap();
        let held = assign(&NameTable::default(), pairs.iter().take(held).cloned(), &naming);
        let table = assign(&held, pairs.iter().cloned(), &naming);
        prop_assert_eq!(&assign(&held, pairs.iter().rev().cloned(), &naming), &table);
        check(&table, &pairs, longest);
        let rows = table.iter().map(|(server, tool, name)| (server.as_str(), tool.as_str(), name.as_str()));
        prop_assert_eq!(NameTable::from_rows(rows), (table.clone(), 0));
    }
}
