//! Answers to inputs that a store keeps, in place of the file that programs without one have.

use kitbag_core::model::Piece;
use kitbag_core::{Secret, ServerSpec};

use super::Setup;
use crate::registry::SecretStore;
use crate::store::{Store, StoreError};

impl Setup {
    /// Takes over the answers that a store keeps for its user; from then on they count, and those of the file do not. What
    /// the file holds, of whichever user, goes into the store first, and the file goes only when the store has all of it.
    pub async fn read_answers(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        if let Some((text, answers)) = SecretStore::in_file(&self.folders) {
            for (key, value) in &answers {
                store.put_input(key, value).await?;
            }
            // Where it cannot be removed, or was written meanwhile, the same is done again next time.
            let _ = SecretStore::remove_file(&self.folders, &text);
        }
        // Before they are read, so that no answer is missed.
        self.stamps.renew(&self.folders.answers());
        self.stamps.renew(&self.folders.answered());
        self.secrets = SecretStore::kept_for(&self.user, store.inputs(&self.user).await?);
        Ok(())
    }

    /// Whether a store has to be asked for answers: a server in use asks for an input, or a file still holds answers.
    pub fn needs_answers(&self) -> bool {
        let asks = |spec: &ServerSpec| {
            let templates = spec.templates();
            templates.iter().flat_map(|(_, text)| text.pieces()).any(|piece| matches!(piece, Piece::Input(_)))
        };
        self.used().any(asks) || self.folders.answers().exists()
    }

    /// The answer its user gave to an input of a server.
    pub fn answer(&self, server: &ServerSpec, id: &str) -> Option<Secret> {
        self.secrets.get(&self.user, server, id)
    }

    /// The same with the answers of an earlier reading, where they cannot be read now.
    pub(crate) fn with_answers_of(self, before: &Self) -> Self {
        Self { secrets: before.secrets.clone(), ..self }
    }
}
