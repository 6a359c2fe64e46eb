//! What answers cost: the tokens as the provider counts them, and money where the operator wrote prices down. None are built
//! in, because they change.

use kitbag::Setup;
use kitbag_agent::{ModelId, Usage};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use crate::terminal::{DIM, cell, lines, table};

/// What one message and its answer cost.
#[derive(Clone, Debug)]
pub(crate) struct Spent {
    model: ModelId,
    usage: Usage,
}

/// What a chat cost so far, message by message.
#[derive(Debug, Default)]
pub(crate) struct Tally(Vec<Spent>);

impl Spent {
    pub(crate) fn new(model: &ModelId, usage: Usage) -> Self {
        Self { model: model.clone(), usage }
    }

    /// One more reply to the same message.
    pub(crate) fn add(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// Whether no reply came to its end: only then a provider tells what it counts.
    pub(crate) fn is_unknown(&self) -> bool {
        self.usage == Usage::default()
    }

    /// In US dollars, where there is a price.
    pub(crate) fn dollars(&self, setup: &Setup) -> Option<f64> {
        let price = setup.price(&self.model.to_string())?;
        Some(price.dollars(self.usage.input, self.usage.cached, self.usage.output))
    }

    /// In one line.
    pub(crate) fn line(&self, setup: &Setup) -> String {
        let Usage { input, cached, output } = self.usage;
        let cost = self.dollars(setup).map(|dollars| format!(", {}", money(dollars))).unwrap_or_default();
        format!("tokens: {input} in ({cached} cached), {output} out{cost}")
    }

    fn as_json(&self, setup: &Setup) -> Value {
        json!({
            "model": self.model.to_string(), "input": self.usage.input, "cached": self.usage.cached,
            "output": self.usage.output, "cost_usd": self.dollars(setup),
        })
    }
}

impl Tally {
    pub(crate) fn push(&mut self, spent: Spent) {
        self.0.push(spent);
    }

    pub(crate) fn as_json(&self, setup: &Setup) -> Value {
        self.0.iter().map(|spent| spent.as_json(setup)).collect()
    }

    /// As a table, with a sum below it, and which prices are missing.
    pub(crate) fn as_table(&self, setup: &Setup) -> String {
        let mut rows = table();
        rows.set_header(["MESSAGE", "MODEL", "INPUT", "CACHED", "OUTPUT", "COST"]);
        let (mut sum, mut cost, mut unpriced) = (Usage::default(), Some(0.0), Vec::new());
        for (at, spent) in self.0.iter().enumerate() {
            let dollars = spent.dollars(setup);
            let model = spent.model.to_string();
            rows.add_row(row((at + 1).to_string(), &model, spent.usage, dollars));
            sum += spent.usage;
            cost = cost.zip(dollars).map(|(all, one)| all + one);
            if dollars.is_none() && !unpriced.contains(&model) {
                unpriced.push(model);
            }
        }
        rows.add_row(row("all".to_owned(), "", sum, cost));
        let mut text = lines(&rows);
        for model in unpriced {
            text += &format!(
                " no price is known for {0}: write input and output, in US dollars per million tokens,\n \
                 into [prices.\"{0}\"] of kitbag.toml\n",
                visible(&model)
            );
        }
        text
    }
}

fn row(name: String, model: &str, usage: Usage, dollars: Option<f64>) -> [comfy_table::Cell; 6] {
    let number = |tokens: u64| cell_of(tokens.to_string());
    [
        cell_of(name),
        cell(DIM, visible(model)),
        number(usage.input),
        number(usage.cached),
        number(usage.output),
        cell_of(dollars.map_or_else(|| "-".to_owned(), money)),
    ]
}

fn cell_of(text: String) -> comfy_table::Cell {
    comfy_table::Cell::new(text)
}

/// An amount with as many digits as tell something: a single answer costs little.
fn money(dollars: f64) -> String {
    let text = format!("{dollars:.6}");
    let (whole, digits) = text.split_once('.').unwrap_or((&text, ""));
    let kept = digits.trim_end_matches('0').len().max(2);
    format!("${whole}.{}", &digits[..kept.min(digits.len())])
}

#[cfg(test)]
mod tests {
    use super::money;

    #[test]
    fn amounts() {
        for (dollars, text) in [
            (0.0, "$0.00"),
            (0.001_16, "$0.00116"),
            (0.25, "$0.25"),
            (12.5, "$12.50"),
            (0.000_000_1, "$0.00"),
        ] {
            assert_eq!(money(dollars), text);
        }
    }
}
