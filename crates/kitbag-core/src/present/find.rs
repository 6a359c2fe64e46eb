//! Tools by words.

use super::signatures::signature;
use crate::shape::View;

/// The most that are told at once.
const MOST: usize = 20;

/// The tools that have all the words in their names or descriptions, a line each.
pub fn find(view: &View, query: &str) -> Vec<String> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let fits = |line: &str| words.iter().all(|word| line.contains(word.as_str()));
    let fitting = view.tools().iter().filter(|shown| {
        fits(&format!("{}\n{}\n{}", shown.name, shown.tool.name, shown.tool.description).to_lowercase())
    });
    fitting.take(MOST).map(|shown| signature(shown)).collect()
}
