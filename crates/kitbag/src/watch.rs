//! Files that change while servers run: read again, and only what changed is touched.
//!
//! Looked at by the clock, not by the system's own messages: those do not come over network folders, and a few
//! dozen looks every other second cost nothing that could be measured.

use kitbag_core::Fault;

use crate::Kitbag;

impl Kitbag {
    /// Reads the files again whenever one of them no longer looks as it did when it was read, for as long as it is
    /// awaited. What was wrong the last time is handed to `told`.
    pub async fn follow_files(&self, mut told: impl FnMut(Vec<Fault>)) {
        loop {
            tokio::time::sleep(self.limits().watch).await;
            if !self.setup().is_stale() {
                continue;
            }
            // Whoever writes a file may not be done yet.
            tokio::time::sleep(self.limits().watch / 4).await;
            // A folder or program that is gone for a moment is no reason to lose what runs.
            if let Ok(faults) = self.reload().await {
                told(faults);
            }
        }
    }
}
