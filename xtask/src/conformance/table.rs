//! What every scenario came to, one column for each revision of the protocol.

use super::baseline::{Baseline, Side};
use super::suite::Outcome;

/// The outcomes of all revisions, in the order they were run.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<(&'static str, Vec<Outcome>)>);

impl Table {
    pub(super) fn add(&mut self, revision: &'static str, outcomes: Vec<Outcome>) {
        self.0.push((revision, outcomes));
    }

    /// Scenario, revision and what it came to.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&str, &str, &Outcome)> {
        let all =
            self.0.iter().flat_map(|(revision, outcomes)| outcomes.iter().map(move |one| (revision, one)));
        all.map(|(revision, outcome)| (outcome.scenario.as_str(), *revision, outcome))
    }

    /// What fails of what its revision requires, a line each.
    pub(super) fn failing_scored(&self) -> Vec<String> {
        let failing = self.cells().filter(|(.., outcome)| outcome.is_scored && !outcome.is_good());
        failing.map(|(scenario, revision, _)| format!("{scenario} fails at {revision}")).collect()
    }

    /// A line for each scenario and one for each revision.
    pub(super) fn shown(&self, baseline: &Baseline, side: Side) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (name, ..) in self.cells() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut text = self.line("scenario", |revision| revision.to_owned());
        for name in names {
            text += &self.line(name, |revision| {
                let mut cells = self.cells().filter(|(scenario, at, _)| (*scenario, *at) == (name, revision));
                cells.next().map_or_else(String::new, |(.., outcome)| word(outcome, baseline, side))
            });
        }
        let sums = self.0.iter().map(|(revision, outcomes)| {
            let scored = outcomes.iter().filter(|outcome| outcome.is_scored);
            let good = scored.clone().filter(|outcome| outcome.is_good()).count();
            format!("{revision}: {good} of {} scored scenarios pass\n", scored.count())
        });
        text + "* not required by its revision\n" + &sums.collect::<String>()
    }

    fn line(&self, name: &str, cell: impl Fn(&str) -> String) -> String {
        let cells: String = self.0.iter().map(|(revision, _)| format!(" {:<28}", cell(revision))).collect();
        format!("{name:<40}{cells}").trim_end().to_owned() + "\n"
    }
}

fn word(outcome: &Outcome, baseline: &Baseline, side: Side) -> String {
    let (bad, all) = (outcome.failed + outcome.warnings, outcome.passed + outcome.failed + outcome.warnings);
    let word = match (outcome.is_good(), baseline.has(side, &outcome.scenario)) {
        (true, _) => format!("pass ({all})"),
        (false, true) => format!("known failure ({bad} of {all})"),
        (false, false) => format!("FAIL ({bad} of {all})"),
    };
    if outcome.is_scored { word } else { word + " *" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_has_a_line() {
        let outcome = |scenario: &str, failed, is_scored| Outcome {
            scenario: scenario.to_owned(),
            passed: 2,
            failed,
            warnings: 0,
            is_scored,
        };
        let mut table = Table::default();
        table.add("2025-11-25", vec![outcome("initialize", 0, true), outcome("auth/dpop", 1, false)]);
        table.add("2026-07-28", vec![outcome("auth/dpop", 1, false), outcome("tools_call", 1, true)]);
        let baseline = Baseline::parse("client:\n  - auth/dpop\n").unwrap();
        let lines: Vec<String> = table
            .shown(&baseline, Side::Client)
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "scenario 2025-11-25 2026-07-28",
                "initialize pass (2)",
                "auth/dpop known failure (1 of 3) * known failure (1 of 3) *",
                "tools_call FAIL (1 of 3)",
                "* not required by its revision",
                "2025-11-25: 1 of 1 scored scenarios pass",
                "2026-07-28: 0 of 1 scored scenarios pass",
            ]
        );
        assert_eq!(table.failing_scored(), ["tools_call fails at 2026-07-28"]);
    }
}
