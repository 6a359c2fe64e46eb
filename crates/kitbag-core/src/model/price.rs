//! What the tokens of a model cost, as an operator wrote it down. Prices change, so none is built in.

/// No price is as high as this many US dollars.
const HIGHEST: f64 = 1e6;

/// The price of a million tokens, in millionths of a US dollar: sums of it are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MillionTokens(u64);

impl MillionTokens {
    /// So many US dollars; nothing for what cannot be a price.
    pub fn of_dollars(dollars: f64) -> Option<Self> {
        (0.0..HIGHEST).contains(&dollars).then(|| Self((dollars * 1e6).round() as u64))
    }

    fn times(self, tokens: u64) -> u128 {
        u128::from(self.0) * u128::from(tokens)
    }
}

/// What one model costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPrice {
    /// What it reads.
    pub input: MillionTokens,
    /// What it reads from the provider's cache.
    pub cached: MillionTokens,
    /// What it writes.
    pub output: MillionTokens,
}

impl ModelPrice {
    /// What these tokens cost, in US dollars; `input` counts those of the cache as well.
    pub fn dollars(&self, input: u64, cached: u64, output: u64) -> f64 {
        let cached = cached.min(input);
        let sum = self.input.times(input - cached) + self.cached.times(cached) + self.output.times(output);
        sum as f64 / 1e12
    }
}

#[cfg(test)]
mod tests {
    use super::{MillionTokens, ModelPrice};

    #[test]
    fn tokens_cost_what_was_written() {
        let of = |dollars| MillionTokens::of_dollars(dollars).unwrap();
        let price = ModelPrice { input: of(0.25), cached: of(0.025), output: of(2.0) };
        for ((input, cached, output), dollars) in [
            ((0, 0, 0), 0.0),
            ((1_000_000, 0, 0), 0.25),
            ((1_000_000, 1_000_000, 0), 0.025),
            ((1_000, 400, 500), 0.001_16),
            // A provider that counts the cache apart from the rest is not charged for less than nothing.
            ((0, 1_000_000, 1), 0.000_002),
        ] {
            assert_eq!(price.dollars(input, cached, output), dollars, "{input} {cached} {output}");
        }
        for dollars in [-0.1, f64::NAN, f64::INFINITY, 1e6] {
            assert_eq!(MillionTokens::of_dollars(dollars), None, "{dollars}");
        }
    }
}
