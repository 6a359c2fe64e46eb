//! Calls that nobody waits for any more and that their server may still be working on. What it asks or says without
//! naming a call may be about one of these, and then it is for nobody else to hear.

use std::collections::BTreeMap;
use std::time::Duration;

use kitbag_core::UserId;
use tokio::time::Instant;

#[cfg(test)]
mod tests;

/// A call that was given up.
struct Gone {
    user: UserId,
    /// Who answered for it; none where nobody did.
    person: Option<usize>,
    at: Instant,
}

/// Whose calls were given up and have not been answered.
#[derive(Default)]
pub(super) struct Late {
    calls: BTreeMap<u64, Gone>,
    forgotten: Forgotten,
}

/// Whose calls among them there was no room for.
#[derive(Default)]
enum Forgotten {
    #[default]
    None,
    Of(UserId),
    OfSeveral,
}

impl Late {
    /// A call was given up. The oldest is forgotten where there are too many.
    pub(super) fn add(&mut self, id: u64, user: &UserId, person: Option<usize>, most: usize) {
        self.calls.insert(id, Gone { user: user.clone(), person, at: Instant::now() });
        while most < self.calls.len() {
            let Some((_, Gone { user, .. })) = self.calls.pop_first() else { return };
            self.forgotten = match std::mem::take(&mut self.forgotten) {
                Forgotten::None => Forgotten::Of(user),
                Forgotten::Of(known) if known == user => Forgotten::Of(known),
                _ => Forgotten::OfSeveral,
            };
        }
    }

    /// It was answered after all.
    pub(super) fn answered(&mut self, id: u64) {
        self.calls.remove(&id);
    }

    /// Whether any of them may be another user's.
    pub(super) fn are_others(&self, user: &UserId) -> bool {
        let is_forgotten = match &self.forgotten {
            Forgotten::None => false,
            Forgotten::Of(known) => known != user,
            Forgotten::OfSeveral => true,
        };
        is_forgotten || self.calls.values().any(|gone| gone.user != *user)
    }

    /// Whether any of them may be another person's of the same user, and was given up so short a time ago that the server
    /// may not know it yet. Who ignores that for longer asks the same human being all the same.
    pub(super) fn are_another_persons(&self, person: usize, within: Duration) -> bool {
        let now = Instant::now();
        self.calls.values().any(|gone| gone.person != Some(person) && now < gone.at + within)
    }
}
