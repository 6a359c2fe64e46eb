//! What was measured, as tables and plots.

use std::fmt::Write as _;
use std::time::Duration;

/// What is known of one side. What was not measured is `None`.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// One call after the other, pinned to one core: µs.
    pub p50: Option<f64>,
    /// The same, of the slowest in a hundred.
    pub p99: Option<f64>,
    /// Of its own processes, for each of these calls: µs.
    pub cpu: Option<f64>,
    /// Calls a second with many in flight.
    pub rate: Option<f64>,
    /// After its first call: kB.
    pub idle: Option<f64>,
    /// After many calls: kB.
    pub loaded: Option<f64>,
    /// From its start until the tool was listed: ms.
    pub cold: Option<f64>,
}

/// Keeps the lesser of what was measured before and now.
pub fn less(known: &mut Option<f64>, now: f64) {
    *known = Some(known.map_or(now, |known| known.min(now)));
}

/// Keeps the greater.
pub fn more(known: &mut Option<f64>, now: f64) {
    *known = Some(known.map_or(now, |known| known.max(now)));
}

/// The middle one, and the slowest in a hundred, in µs.
pub fn quantiles(mut all: Vec<Duration>) -> (f64, f64) {
    all.sort_unstable();
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    (us(all[all.len() / 2]), us(all[all.len() * 99 / 100]))
}

impl Row {
    /// Nothing is known of it yet.
    pub fn new(name: impl Into<String>) -> Self {
        let (p50, p99, cpu, rate, idle, loaded, cold) = (None, None, None, None, None, None, None);
        Self { name: name.into(), p50, p99, cpu, rate, idle, loaded, cold }
    }
}

impl Row {
    /// As many calls as can be made within this time, and no more than asked for.
    pub fn fitting(&self, calls: usize, within: Duration) -> usize {
        let fit = self.p50.map_or(f64::MAX, |p50| within.as_secs_f64() * 1e6 / p50);
        if fit < calls as f64 { (fit as usize).max(128) } else { calls }
    }
}

/// What was measured of all sides.
pub fn table(rows: &[Row]) -> String {
    let mut text = "| | p50 µs | p99 µs | CPU µs/call | calls/s, 64 in flight | idle MB | loaded MB | to the first list ms |\n|---|---:|---:|---:|---:|---:|---:|---:|\n".to_owned();
    for row in rows {
        let mb = |kb: Option<f64>| kb.map(|kb| kb / 1024.0);
        let cells = [
            shown(row.p50, 1),
            shown(row.p99, 1),
            shown(row.cpu, 1),
            shown(row.rate, 0),
            shown(mb(row.idle), 1),
            shown(mb(row.loaded), 1),
            shown(row.cold, 1),
        ];
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} | {} |", row.name, cells.join(" | "));
    }
    text
}

fn shown(figure: Option<f64>, digits: usize) -> String {
    figure.map_or("-".to_owned(), |figure| format!("{figure:.digits$}"))
}

/// One ratio, and what it may be.
pub struct Bound {
    /// Of what.
    pub what: String,
    /// What came out.
    pub found: f64,
    /// What it may be.
    pub most: Most,
}

/// What a ratio may be.
#[derive(Clone, Copy)]
pub enum Most {
    /// No more.
    AtMost(f64),
    /// No less.
    AtLeast(f64),
}

impl Bound {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        match self.most {
            Most::AtMost(most) => self.found <= most,
            Most::AtLeast(least) => least <= self.found,
        }
    }
}

/// All bounds, and whether they hold.
pub fn bounds(all: &[Bound]) -> String {
    let mut text = "| | found | bound | |\n|---|---:|---:|---|\n".to_owned();
    for bound in all {
        let (word, limit) = match bound.most {
            Most::AtMost(most) => ("at most", most),
            Most::AtLeast(least) => ("at least", least),
        };
        let held = if bound.holds() { "" } else { "**broken**" };
        let _ = writeln!(text, "| {} | {:.2} | {word} {limit} | {held} |", bound.what, bound.found);
    }
    text
}

/// A plot with one bar for each row of which the figure is known.
pub fn plot(title: &str, rows: &[Row], figure: impl Fn(&Row) -> Option<f64>) -> String {
    let known: Vec<(&str, f64)> =
        rows.iter().filter_map(|row| Some((row.name.as_str(), figure(row)?))).collect();
    let most = known.iter().map(|(_, figure)| *figure).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let (left, width, step) = (190.0, 400.0, 24.0);
    let height = 40.0 + step * known.len() as f64;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="700" height="{height}" font-family="sans-serif" font-size="13">
<rect width="700" height="{height}" fill="#fff"/>
<text x="10" y="20" font-weight="bold">{title}</text>
"##
    );
    for (number, (name, figure)) in known.iter().enumerate() {
        let top = 34.0 + step * number as f64;
        let colour = if name.starts_with("Kitbag") { "#1f6feb" } else { "#9aa4b2" };
        let long = (width * figure / most).max(1.0);
        let (text, end) = (top + 13.0, left + long + 6.0);
        let _ = writeln!(
            svg,
            r##"<text x="10" y="{text}">{name}</text><rect x="{left}" y="{top}" width="{long:.0}" height="17" fill="{colour}"/><text x="{end:.0}" y="{text}">{figure:.1}</text>"##
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_broken_is_told() {
        let bound = |found, most| Bound { what: "p50".to_owned(), found, most };
        assert!(bound(1.6, Most::AtMost(1.6)).holds());
        assert!(!bound(0.4, Most::AtLeast(0.5)).holds());
        assert!(bounds(&[bound(2.0, Most::AtMost(1.6))]).contains("**broken**"));
    }

    #[test]
    fn what_was_not_measured_is_not_shown_as_a_figure() {
        let row = Row { p50: Some(1.25), ..Row::new("relay") };
        assert!(table(std::slice::from_ref(&row)).ends_with("| relay | 1.2 | - | - | - | - | - | - |\n"));
        assert!(!plot("p99", &[row], |row| row.p99).contains("relay"));
    }
}
