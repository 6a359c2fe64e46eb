//! The part of a conversation that the model is sent: a call and its result are in it together, or not at all.

use super::{ChatItem, Conversation};

/// How much of a conversation a model is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// All that is remembered.
    #[default]
    All,
    /// This many messages at most, and never less than the question with the last calls made for it.
    Last(usize),
}

impl Conversation {
    /// The items a model is sent. They begin with something a user said.
    pub(crate) fn window(&self, memory: Memory) -> Vec<&ChatItem> {
        let all: Vec<&ChatItem> = self.items.iter().collect();
        let Memory::Last(most) = memory else { return all };
        let is_user = |item: &&ChatItem| matches!(item, ChatItem::User(_));
        let starts: Vec<usize> = (0..all.len()).filter(|at| is_user(&all[*at])).collect();
        if let Some(start) = starts.iter().find(|start| all.len() - **start <= most) {
            return all[*start..].to_vec();
        }
        // Not even the last turn fits: its question, and as many of its last steps as there is room for.
        let Some(&question) = starts.last() else { return all };
        let steps: Vec<usize> =
            (question + 1..all.len()).filter(|at| matches!(all[*at], ChatItem::Reply(_))).collect();
        let fits = |start: &&usize| 1 + all.len() - **start <= most;
        let start = steps.iter().find(fits).or(steps.last()).copied().unwrap_or(question + 1);
        std::iter::once(all[question]).chain(all[start..].iter().copied()).collect()
    }
}
