//! Calls that need approval in the middle of a chat: the one who types is asked, by the same lines that messages come in.

use std::sync::Arc;

use kitbag::{ApprovalAnswer, ApprovalRequest, Approver, BoxFuture};
use tokio::sync::{mpsc, oneshot};

use crate::context::Context;
use crate::keyboard::Keyboard;
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
    /// Asks it, and gives the answer to the call. The end of the input is a no.
    pub(super) async fn ask(self, context: &mut Context, keyboard: &mut Keyboard) {
        // The call was given up meanwhile.
        if self.says.is_closed() {
            return;
        }
        context.remark(question(&self.approval).trim_end());
        let line = keyboard.line().await;
        let _ = self.says.send(answer(line.as_deref()));
    }
}
