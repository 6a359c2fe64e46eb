//! What is known to fail. The list is exact: one that passes must leave it, and nothing else may fail.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};

use super::table::Table;

/// The scenarios that are known to fail, in the form the suite itself reads.
#[derive(Debug)]
pub(super) struct Baseline(BTreeSet<String>);

impl Baseline {
    /// Reads `client:` and the list below it; no more of YAML is needed.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim_end());
        let first = lines.find(|line| !line.is_empty());
        ensure!(first == Some("client:"), "it must begin with `client:`");
        let mut known = BTreeSet::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let Some(name) = line.strip_prefix("  - ") else { bail!("{line:?} is no `  - scenario`") };
            ensure!(known.insert(name.to_owned()), "{name} is listed twice");
        }
        Ok(Self(known))
    }

    pub(super) fn has(&self, scenario: &str) -> bool {
        self.0.contains(scenario)
    }

    /// What is not as it says, a line each.
    pub(super) fn compare(&self, table: &Table) -> Vec<String> {
        let mut wrong = Vec::new();
        for (scenario, revision, outcome) in table.cells() {
            match (self.has(scenario), outcome.is_good()) {
                (false, false) => wrong.push(format!("{scenario} fails at {revision}")),
                (true, true) => wrong.push(format!("{scenario} passes at {revision}: take it off the list")),
                (false, true) | (true, false) => {}
            }
        }
        let ran = |name: &String| table.cells().any(|(scenario, ..)| scenario == name);
        wrong.extend(self.0.iter().filter(|name| !ran(name)).map(|name| format!("{name} was not run")));
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
        assert_eq!(Baseline::parse(list).unwrap().compare(&table), expected, "{list}");
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
    fn a_list_that_cannot_be_read_is_refused() {
        for list in ["", "server:\n  - a\n", "client:\n- a\n", "client:\n  - a\n  - a\n"] {
            assert!(Baseline::parse(list).is_err(), "{list:?}");
        }
    }
}
