//! What is known to fail. The list is exact: one that passes must leave it, and nothing else may fail.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};

use super::table::Table;

/// Which of our two halves is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Client,
    Server,
    /// A server that speaks only the older era, behind the endpoint: what a client of the newer one asks of it cannot all be.
    OlderServer,
}

/// The scenarios that are known to fail, in the form the suite itself reads.
#[derive(Debug)]
pub(super) struct Baseline(BTreeSet<(Side, String)>);

impl Baseline {
    /// Reads `client:`, `server:` and `older-server:` and the lists below them; no more of YAML is needed. Of these the suite
    /// knows the first two.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim_end());
        let (mut known, mut side) = (BTreeSet::new(), None);
        for line in lines.filter(|line| !line.is_empty()) {
            side = match (line, side) {
                ("client:", _) => Some(Side::Client),
                ("server:", _) => Some(Side::Server),
                ("older-server:", _) => Some(Side::OlderServer),
                (_, None) => bail!("it must begin with `client:`, `server:` or `older-server:`"),
                (line, Some(side)) => {
                    let Some(name) = line.strip_prefix("  - ") else {
                        bail!("{line:?} is no `  - scenario`")
                    };
                    ensure!(known.insert((side, name.to_owned())), "{name} is listed twice");
                    Some(side)
                }
            };
        }
        Ok(Self(known))
    }

    pub(super) fn has(&self, side: Side, scenario: &str) -> bool {
        self.0.contains(&(side, scenario.to_owned()))
    }

    /// What is not as it says, a line each.
    pub(super) fn compare(&self, table: &Table, side: Side) -> Vec<String> {
        let mut wrong = Vec::new();
        for (scenario, revision, outcome) in table.cells() {
            match (self.has(side, scenario), outcome.is_good()) {
                (false, false) => wrong.push(format!("{scenario} fails at {revision}")),
                (true, true) => wrong.push(format!("{scenario} passes at {revision}: take it off the list")),
                (false, true) | (true, false) => {}
            }
        }
        let ran = |name: &str| table.cells().any(|(scenario, ..)| scenario == name);
        let known = self.0.iter().filter(|(of, name)| *of == side && !ran(name));
        wrong.extend(known.map(|(_, name)| format!("{name} was not run")));
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::super::suite::Outcome;
    use super::*;

    fn outcome(scenario: &str, passed: usize, failed: usize) -> Outcome {
        Outcome { scenario: scenario.to_owned(), passed, failed, warnings: 0, is_scored: true }
    }

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let mut table = Table::default();
        table.add("old", vec![outcome("good", 1, 0), outcome("bad", 1, 1)]);
        table.add("new", vec![outcome("good", 2, 0), outcome("empty", 0, 0)]);
        assert_eq!(Baseline::parse(list).unwrap().compare(&table, Side::Client), expected, "{list}");
    }

    #[test]
    fn the_list_is_exact() {
        check("client:\n  - bad\n  - empty\n", &[]);
        check("# why\n\nclient: # all\n  - bad # why\n", &["empty fails at new"]);
        check("client:\n  - empty\n", &["bad fails at old"]);
        check(
            "client:\n  - bad\n  - empty\n  - good\n",
            &["good passes at old: take it off the list", "good passes at new: take it off the list"],
        );
        check("client:\n  - bad\n  - empty\n  - gone\n", &["gone was not run"]);
    }

    #[test]
    fn each_side_has_its_own() {
        let all = Baseline::parse("client:\n  - a\nserver:\n  - a\n  - b\nolder-server:\n  - b\n").unwrap();
        let has = |side| ["a", "b"].map(|name| all.has(side, name));
        let sides = [Side::Client, Side::Server, Side::OlderServer].map(has);
        assert_eq!(sides, [[true, false], [true, true], [false, true]]);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused() {
        for list in ["  - a\n", "both:\n  - a\n", "client:\n- a\n", "client:\n  - a\n  - a\n"] {
            assert!(Baseline::parse(list).is_err(), "{list:?}");
        }
    }
}
