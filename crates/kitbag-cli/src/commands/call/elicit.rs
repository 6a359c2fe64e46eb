//! What a server asks for in the middle of a call (`elicitation/create`): put to the person at the terminal, field by
//! field; declined where nobody can be asked.

use std::pin::Pin;
use std::sync::Arc;

use kitbag::{Answer, BoxFuture, Limits, Question, QuestionKind, Responder};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::Hide;
use crate::context::Context;
use crate::live;

mod dialog;
mod form;

/// A question, and where its answer goes.
pub(super) struct Pending {
    question: Question,
    reply: oneshot::Sender<Value>,
}

/// Hands questions to whoever holds the other end.
struct Outbox(mpsc::Sender<Pending>);

/// A responder, and the questions it is asked.
pub(super) fn channel(most: usize) -> (Arc<dyn Responder>, mpsc::Receiver<Pending>) {
    let (sender, questions) = mpsc::channel(most.max(1));
    (Arc::new(Outbox(sender)), questions)
}

impl Responder for Outbox {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Elicitation]
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let gone = || "nobody answers any more".to_owned();
            let (reply, answer) = oneshot::channel();
            self.0.send(Pending { question, reply }).await.map_err(|_| gone())?;
            let answer = answer.await.map_err(|_| gone())?;
            to_raw_value(&answer).map_err(|error| error.to_string())
        })
    }
}

/// Puts one question after another.
pub(super) struct Asker {
    /// Whether there is a person to ask.
    is_manned: bool,
    /// Whether it was said that nobody can be asked.
    is_told: bool,
    hide: Hide,
    limits: Arc<Limits>,
    open: Option<Pin<Box<dyn Future<Output = Keys>>>>,
    keys: Keys,
}

/// The keyboard, once it was needed.
type Keys = Option<crate::keyboard::Keyboard>;

impl Asker {
    pub(super) fn new(context: &Context, hide: &Hide, limits: &Arc<Limits>) -> Self {
        let is_manned = live::can_ask(context);
        Self { is_manned, is_told: false, hide: hide.clone(), limits: limits.clone(), open: None, keys: None }
    }

    /// Whether no question is open.
    pub(super) fn is_free(&self) -> bool {
        self.open.is_none()
    }

    /// Begins to ask, or declines at once where nobody can be asked.
    pub(super) fn take(&mut self, context: &mut Context, Pending { question, reply }: Pending) {
        let keys = match self.keys.take() {
            None if self.is_manned => crate::keyboard::Keyboard::listen().ok(),
            keys => keys,
        };
        let Some(mut keys) = keys else {
            let _ = reply.send(json!({"action": "decline"}));
            if !std::mem::replace(&mut self.is_told, true) {
                context.remark(format!(
                    "{} asks for input, which is declined: only at a terminal, without --json and --quiet, is \
                     there somebody to ask",
                    question.server
                ));
            }
            return;
        };
        let (hide, limits) = (self.hide.clone(), self.limits.clone());
        self.open = Some(Box::pin(async move {
            let answer = dialog::ask(&question, &hide, &limits, &mut keys).await;
            let _ = reply.send(answer);
            Some(keys)
        }));
    }

    /// Waits until the open question is answered; for ever where none is.
    pub(super) async fn answered(&mut self) {
        match &mut self.open {
            Some(open) => {
                self.keys = open.await;
                self.open = None;
            }
            None => std::future::pending().await,
        }
    }
}
