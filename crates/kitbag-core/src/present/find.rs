//! Tools by words.

use super::signatures::signature;
use crate::shape::{View, ViewTool};

/// The most that are told at once.
const MOST: usize = 20;
/// Words of a query that are looked for: each is looked for in every description.
const MOST_WORDS: usize = 32;

/// The tools that have all the words in their names or descriptions, a line each.
pub fn find(view: &View, query: &str) -> Vec<String> {
    let words = Words::of(query);
    let fitting = view.tools().iter().filter(|shown| words.fit("", shown));
    fitting.take(MOST).map(|shown| signature(shown)).collect()
}

/// The words of a query, in lower case.
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn of(query: &str) -> Self {
        Self(query.split_whitespace().take(MOST_WORDS).map(str::to_lowercase).collect())
    }

    /// Whether a tool has them all, in its names or description or in what else it is called.
    pub(super) fn fit(&self, label: &str, shown: &ViewTool) -> bool {
        let tool = &shown.tool;
        let text = format!("{label}\n{}\n{}\n{}", shown.name, tool.name, tool.description).to_lowercase();
        self.0.iter().all(|word| text.contains(word.as_str()))
    }
}
