//! What a local tool knows of the call it answers.

use std::fmt;
use std::sync::Arc;

use kitbag_core::{ServerName, UserId};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::connect::{Notification, Progress, Question, QuestionKind, Responder};

/// The call that a local tool answers: for whom it is made, and how to tell and ask its caller something.
#[derive(Clone)]
pub struct ToolContext {
    /// For whom the call is made.
    pub user: UserId,
    /// What the caller put into `_meta`.
    pub meta: Map<String, Value>,
    pub(crate) server: ServerName,
    pub(crate) tool: String,
    pub(crate) notifications: Option<mpsc::Sender<Notification>>,
    pub(crate) responder: Option<Arc<dyn Responder>>,
}

impl ToolContext {
    /// Tells the caller how far the call is. Dropped where nobody listens or the channel is full.
    pub fn progress(&self, progress: &Progress) {
        if let Some(listener) = &self.notifications
            && let Some(notification) = Notification::of_progress(progress)
        {
            let _ = listener.try_send(notification);
        }
    }

    /// Asks the caller something, with the parameters the protocol has for it: a model's words
    /// (`sampling/createMessage`), a person's input (`elicitation/create`) or folders (`roots/list`). The answer is the
    /// protocol's result; an error says why there is none.
    pub async fn ask(&self, kind: QuestionKind, params: Value) -> Result<Value, String> {
        let nobody = || format!("{} is not offered", kind.as_str());
        let responder = self.responder.as_ref().ok_or_else(nobody)?;
        if !responder.answers().contains(&kind) {
            return Err(nobody());
        }
        let params = to_raw_value(&params).map_err(|error| error.to_string())?;
        let (server, user, tool) = (self.server.clone(), self.user.clone(), Some(self.tool.clone()));
        let answer = responder.answer(Question { server, user, tool, kind, params }).await?;
        serde_json::from_str(answer.get()).map_err(|error| error.to_string())
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("user", &self.user)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
