//! Calls that need approval in the middle of a chat: the one who types is asked, by the same lines that messages come in.

use std::sync::Arc;

use kitbag::{ApprovalAnswer, ApprovalRequest, Approver, BoxFuture};
use tokio::sync::{mpsc, oneshot};

use super::input::Typed;
use crate::context::Context;
use crate::live::{answer, can_ask, question};

/// Questions that wait for the one before them.
const WAITING: usize = 16;

/// A call that waits, and where the answer goes.
pub(super) struct WaitingCall {
    approval: ApprovalRequest,
    says: oneshot::Sender<ApprovalAnswer>,
}

/// The questions of a chat, in the order they came.
pub(super) struct Questions(mpsc::Receiver<WaitingCall>);

struct AtKeyboard(mpsc::Sender<WaitingCall>);

/// Who is asked before a call that needs approval; nobody where nobody sits there.
pub(super) fn at_keyboard(context: &Context) -> (Option<Arc<dyn Approver>>, Questions) {
    let (sender, questions) = mpsc::channel(WAITING);
    let approver = can_ask(context).then(|| Arc::new(AtKeyboard(sender)) as Arc<dyn Approver>);
    (approver, Questions(questions))
}

impl Approver for AtKeyboard {
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async move {
            let (says, said) = oneshot::channel();
            let asked = self.0.send(WaitingCall { approval, says }).await;
            match asked {
                Ok(()) => said.await.unwrap_or(ApprovalAnswer::No),
                Err(_) => ApprovalAnswer::No,
            }
        })
    }
}

impl Questions {
    /// The next question; never, where nobody is asked.
    pub(super) async fn next(&mut self) -> WaitingCall {
        match self.0.recv().await {
            Some(question) => question,
            None => std::future::pending().await,
        }
    }
}

impl WaitingCall {
    /// Whether the call was given up meanwhile.
    pub(super) fn is_over(&self) -> bool {
        self.says.is_closed()
    }

    /// What there is to ask: what is told before, and the line that is answered.
    pub(super) fn words(&self) -> (String, String) {
        let text = question(&self.approval);
        match text.rsplit_once('\n') {
            Some((told, asked)) => (told.to_owned(), asked.to_owned()),
            None => (String::new(), text),
        }
    }

    /// Gives the answer to the call. Whatever is not a yes is a no.
    pub(super) fn answer(self, context: &mut Context, typed: &Typed) {
        let line = if let Typed::Line(line) = typed { Some(line.as_str()) } else { None };
        if self.says.send(answer(line)).is_err() {
            context.remark("the call was given up meanwhile");
        }
    }
}
