//! Notices a model that makes the same calls again and again and gets the same results: it is told so, and when that does
//! not help the run ends.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use kitbag::{Intent, ModelRequest};
use kitbag_core::present::native::ToolAnswer;
use serde_json::json;

/// The steps in a row that were the same.
#[derive(Debug)]
pub(super) struct Repeats {
    /// The run ends by so many.
    most: usize,
    count: usize,
    calls: u64,
    /// What came of each call of the last step, by its place.
    results: Vec<Option<u64>>,
}

impl Repeats {
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(2), count: 0, calls: 0, results: Vec::new() }
    }

    /// A step with these calls begins.
    pub(super) fn begin(&mut self, requests: &[(usize, ModelRequest)]) {
        let mut hasher = DefaultHasher::new();
        for (_, request) in requests {
            request.tool.hash(&mut hasher);
            match &request.intent {
                Intent::Call { tool, arguments } => (tool, arguments.trim()).hash(&mut hasher),
                other => format!("{other:?}").hash(&mut hasher),
            }
        }
        let calls = hasher.finish();
        if self.count == 0 || self.calls != calls {
            self.results = vec![None; requests.len()];
            self.count = 0;
        }
        self.calls = calls;
        self.count += 1;
    }

    /// What came of one of them; where that is what came of it before, again and again, the model is told.
    pub(super) fn result(&mut self, place: usize, answer: &mut ToolAnswer) {
        let mut hasher = DefaultHasher::new();
        answer.is_error.hash(&mut hasher);
        answer.blocks.iter().for_each(|block| block.to_string().hash(&mut hasher));
        let result = hasher.finish();
        let Some(last) = self.results.get_mut(place) else { return };
        if last.replace(result) != Some(result) {
            self.count = 1;
        } else if self.most.div_ceil(2).max(2) <= self.count {
            let count = self.count;
            let text = format!(
                "Note: this same call was made {count} times in a row with this same result. Making it again will not \
                 help. Do something else, or answer with what is known."
            );
            answer.blocks.push(json!({"type": "text", "text": text}));
        }
    }

    /// Whether it goes on like this for too long.
    pub(super) fn is_too_long(&self) -> bool {
        self.most <= self.count
    }
}
