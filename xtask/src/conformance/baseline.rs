//! What is known to fail. The list is exact: one that passes must leave it, and nothing else may fail. Only over a pipe to a
//! server of the older era does chance decide about some: it does not say which call it asks about.

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
    /// The same over a pipe. Under this head stand those of which chance decides; the others are as for any older server.
    OlderPipe,
}

/// Each list, by the head it stands under.
const HEADS: [(&str, Side); 4] = [
    ("client:", Side::Client),
    ("server:", Side::Server),
    ("older-server:", Side::OlderServer),
    ("older-pipe:", Side::OlderPipe),
];

impl Side {
    /// Under which head stands what always fails there.
    fn exact(self) -> Self {
        if self == Self::OlderPipe { Self::OlderServer } else { self }
    }
}

/// The scenarios that are known to fail, in the form the suite itself reads.
#[derive(Debug)]
pub(super) struct Baseline(BTreeSet<(Side, String)>);

impl Baseline {
    /// Reads the heads and the lists below them; no more of YAML is needed. Of these the suite knows the first two.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim_end());
        let (mut known, mut side) = (BTreeSet::new(), None);
        for line in lines.filter(|line| !line.is_empty()) {
            let head = HEADS.into_iter().find(|(head, _)| *head == line).map(|(_, side)| side);
            side = match (head, side) {
                (Some(head), _) => Some(head),
                (None, None) => bail!("it must begin with {}", HEADS.map(|(head, _)| head).join(" or ")),
                (None, Some(side)) => {
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

    /// Whether it may fail.
    pub(super) fn has(&self, side: Side, scenario: &str) -> bool {
        self.is_listed(side.exact(), scenario) || self.is_by_chance(side, scenario)
    }

    fn is_by_chance(&self, side: Side, scenario: &str) -> bool {
        side == Side::OlderPipe && self.is_listed(side, scenario)
    }

    fn is_listed(&self, side: Side, scenario: &str) -> bool {
        self.0.contains(&(side, scenario.to_owned()))
    }

    /// What is not as it says, a line each.
    pub(super) fn compare(&self, table: &Table, side: Side) -> Vec<String> {
        let mut wrong = Vec::new();
        for (scenario, revision, outcome) in table.cells() {
            if self.is_by_chance(side, scenario) {
                continue;
            }
            match (self.has(side, scenario), outcome.is_good()) {
                (false, false) => wrong.push(format!("{scenario} fails at {revision}")),
                (true, true) => wrong.push(format!("{scenario} passes at {revision}: take it off the list")),
                (false, true) | (true, false) => {}
            }
        }
        let ran = |name: &str| table.cells().any(|(scenario, ..)| scenario == name);
        let known = self.0.iter().filter(|(of, name)| (*of == side || *of == side.exact()) && !ran(name));
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
    fn over_an_older_pipe_chance_decides_about_some() {
        let list = "older-server:\n  - bad\nolder-pipe:\n  - luck\n";
        for failed in [0, 1] {
            let mut table = Table::default();
            table.add("new", vec![outcome("bad", 1, 1), outcome("luck", 1, failed), outcome("good", 1, 0)]);
            let compare = |side| Baseline::parse(list).unwrap().compare(&table, side);
            assert_eq!(compare(Side::OlderPipe), [""; 0], "{failed}");
            assert_eq!(compare(Side::OlderServer).len(), failed, "elsewhere it fails or not");
        }
        let mut table = Table::default();
        table.add("new", vec![outcome("bad", 2, 0), outcome("good", 1, 1)]);
        let wrong = Baseline::parse(list).unwrap().compare(&table, Side::OlderPipe);
        let expected = ["bad passes at new: take it off the list", "good fails at new", "luck was not run"];
        assert_eq!(wrong, expected);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused() {
        for list in ["  - a\n", "both:\n  - a\n", "client:\n- a\n", "client:\n  - a\n  - a\n"] {
            assert!(Baseline::parse(list).is_err(), "{list:?}");
        }
    }
}
