//! A model that repeats itself after a failed call is asked for something else: more variety, or more thought.

use crate::model::{Effort, Model, ReplyOptions};

/// What changes after calls that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryHeat {
    /// The temperature: `first`, and `step` more for each call of the run that failed, up to `most` in all. Of models that
    /// are known to think first and to take none, the effort instead.
    Temperature {
        /// Before anything failed.
        first: f64,
        /// More with each failure.
        step: f64,
        /// The highest.
        most: f64,
    },
    /// The effort: high after the first failure. For models that think first.
    Effort,
    /// Nothing, and no temperature is sent.
    Off,
}

impl Default for RetryHeat {
    fn default() -> Self {
        Self::Temperature { first: 0.5, step: 0.1, most: 2.0 }
    }
}

impl RetryHeat {
    /// What a model is asked after so many failures.
    pub(super) fn apply(self, failures: usize, model: &dyn Model, options: &mut ReplyOptions) {
        match self {
            Self::Temperature { first, step, most } if !model.is_reasoning() => {
                let failures = u32::try_from(failures).unwrap_or(u32::MAX);
                // To two digits: 0.1 added seven times is no round number.
                let heat = (first + step * f64::from(failures)).min(most.max(first));
                options.temperature = Some((heat * 100.0).round() / 100.0);
            }
            Self::Temperature { .. } | Self::Effort if 0 < failures => options.effort = Some(Effort::High),
            Self::Temperature { .. } | Self::Effort | Self::Off => {}
        }
    }
}
