//! The latencies of one side, best of several rounds.

use std::time::Duration;

/// Latencies in microseconds.
pub(crate) struct Figures {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Default for Figures {
    fn default() -> Self {
        Self { p50: f64::INFINITY, p99: f64::INFINITY }
    }
}

impl Figures {
    /// Takes over what is better than before.
    pub(crate) fn better(&mut self, mut times: Vec<Duration>) {
        times.sort();
        let at = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e6;
        self.p50 = self.p50.min(at(50));
        self.p99 = self.p99.min(at(99));
    }
}
