//! Questions of a server in the middle of a call. Older servers do not say which call they belong to, unless they come
//! with the answer to one. Else, while every call in flight is made for one person, and none of another user was given
//! up unanswered, there is no doubt; otherwise nobody is asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::ask::{self, Asked, Question, QuestionKind};
use super::{Caller, Peer, Shared};

impl Peer {
    /// Takes a question in; it is answered later, or refused at once.
    pub(super) fn take_question(
        &self,
        id: &RawValue,
        ask: QuestionKind,
        params: Option<&RawValue>,
        origin: AskedBy,
    ) {
        let refuse = |why: &str| self.answer(id, Err((-32601, &format!("{}{why}", ask.not_offered()))));
        let (asked, calls) = match self.0.waiting(origin) {
            Waiting::One(asked, calls) => (asked, calls),
            Waiting::Nobody => return refuse(""),
            Waiting::Several => return refuse(" while several callers wait"),
        };
        if !asked.answers(ask) {
            return refuse("");
        }
        if self.0.limits.questions <= self.0.questions.fetch_add(1, Ordering::Relaxed) {
            self.0.questions.fetch_sub(1, Ordering::Relaxed);
            return refuse(" while so many others are open");
        }
        self.0.pause(&calls, Pause::Begin);
        let tool = (calls.len() == 1).then(|| asked.tool.clone());
        let params = params.unwrap_or(RawValue::NULL).to_owned();
        let (server, user) = (asked.server.clone(), asked.user.clone());
        let question = Question { server, user, tool, kind: ask, params };
        let (peer, id) = (self.clone(), id.to_owned());
        let withdrawn = CancellationToken::new();
        self.0.lock().questions.insert(id.get().to_owned(), withdrawn.clone());
        self.0.tasks.spawn(async move {
            let answer = tokio::select! {
                answer = ask::put(&asked, question) => Some(answer),
                () = peer.0.stop.cancelled() => return,
                // Whoever asked is no longer waiting.
                () = peer.ended(&calls) => Some(Err("the call is over".to_owned())),
                () = withdrawn.cancelled() => None,
            };
            peer.0.questions.fetch_sub(1, Ordering::Relaxed);
            peer.0.lock().questions.remove(id.get());
            peer.0.pause(&calls, Pause::End);
            match &answer {
                Some(Ok(result)) => peer.answer(&id, Ok(result.get())),
                Some(Err(why)) => peer.answer(&id, Err((-1, why))),
                None => {}
            }
        });
    }

    /// The server takes a question back: it is dropped, and whoever was asked is told.
    pub(super) fn withdraw_question(&self, params: &RawValue) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        let Ok(Cancelled { id }) = serde_json::from_str(params.get()) else { return };
        if let Some(withdrawn) = self.0.lock().questions.get(id.get()) {
            withdrawn.cancel();
        }
    }

    /// Waits until none of these calls is waiting any more.
    async fn ended(&self, calls: &[u64]) {
        loop {
            let ended = self.0.ended.notified();
            tokio::pin!(ended);
            // Registered before looking, so that no end is missed.
            ended.as_mut().enable();
            if calls.iter().all(|call| !self.0.lock().slots.contains_key(call)) {
                return;
            }
            ended.await;
        }
    }
}

/// Which call a question belongs to.
#[derive(Clone, Copy)]
pub(super) enum AskedBy {
    /// It may be any that the server has received.
    Unknown,
    /// This one: it came with its answer.
    Call(u64),
}

enum Waiting {
    Nobody,
    One(Arc<Asked>, Vec<u64>),
    Several,
}

enum Pause {
    Begin,
    End,
}

impl Shared {
    /// Who is waiting for this server.
    fn waiting(&self, origin: AskedBy) -> Waiting {
        let pending = self.lock();
        if let AskedBy::Call(id) = origin {
            return match pending.slots.get(&id).map(|slot| &slot.context.caller) {
                Some(Caller::Person(asked)) => Waiting::One(asked.clone(), vec![id]),
                _ => Waiting::Nobody,
            };
        }
        let mut found: Option<(Arc<Asked>, Vec<u64>)> = None;
        let mut silent = false;
        // What has not been sent cannot have caused a question.
        for (id, slot) in pending.slots.iter().filter(|(_, slot)| slot.sent) {
            match (&slot.context.caller, &mut found) {
                (Caller::Kitbag, _) => {}
                // It may be this call that caused the question, and nobody answers for it.
                (Caller::Silent(_), _) => silent = true,
                (Caller::Person(asked), None) => found = Some((asked.clone(), vec![*id])),
                (Caller::Person(asked), Some((first, calls))) if first.is_same_person(asked) => {
                    calls.push(*id);
                }
                (Caller::Person(_), Some(_)) => return Waiting::Several,
            }
        }
        match found {
            Some((asked, _)) if silent || pending.late.are_others(&asked.user) => Waiting::Several,
            Some((asked, _)) if pending.late.are_another_persons(asked.person(), self.limits.late) => {
                Waiting::Several
            }
            Some((asked, calls)) => Waiting::One(asked, calls),
            None => Waiting::Nobody,
        }
    }

    /// Stops the idle clock of these calls, or lets it run again.
    fn pause(&self, calls: &[u64], pause: Pause) {
        let mut pending = self.lock();
        for call in calls {
            let Some(slot) = pending.slots.get_mut(call) else { continue };
            match pause {
                Pause::Begin => slot.questions += 1,
                Pause::End => {
                    slot.questions -= 1;
                    slot.heard = Instant::now();
                    let deadline = slot.deadline();
                    if pending.alarm.is_none_or(|alarm| deadline < alarm) {
                        pending.alarm = Some(deadline);
                        self.earlier.notify_one();
                    }
                }
            }
        }
    }
}
