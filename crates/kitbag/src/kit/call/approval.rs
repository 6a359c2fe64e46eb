//! A call that needs a person's approval: asked here and in the store, where another process of the same user may answer.
//! The first answer counts, wherever it came from, and it is for just these bytes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use kitbag_core::shape::ViewTool;
use kitbag_core::{ErrorKind, ServerName, ToolName, UserId};

use super::meaning::Judged;
use super::way::Way;
use crate::execute::{ApprovalAnswer, ApprovalRequest, CallError, OutgoingCall};
use crate::store::{AnswerError, ApprovalAsk, ApprovalId, ApprovalState, Hash256, Store};

/// What was approved until this process ends: by whom, and which definition of which tool.
#[derive(Default)]
pub(in crate::kit) struct SessionGrants(Mutex<HashSet<(UserId, ServerName, ToolName, Hash256)>>);

impl SessionGrants {
    fn has(&self, user: &UserId, shown: &ViewTool) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&key(user, shown))
    }

    fn give(&self, user: &UserId, shown: &ViewTool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key(user, shown));
    }
}

fn key(user: &UserId, shown: &ViewTool) -> (UserId, ServerName, ToolName, Hash256) {
    (user.clone(), shown.tool.server.clone(), shown.tool.name.clone(), hash(shown))
}

fn hash(shown: &ViewTool) -> Hash256 {
    Hash256::from_bytes(shown.tool.definition_hash())
}

fn denied(why: &str) -> CallError {
    CallError::new(ErrorKind::ApprovalDenied, why)
}

impl Way<'_> {
    /// Asks a person for a call with just these arguments.
    pub(in crate::kit) async fn approve(
        &self,
        judged: &Judged,
        outgoing: &OutgoingCall,
        sent: &str,
        why: &str,
    ) -> Result<(), CallError> {
        let (user, shown) = (&outgoing.user, &judged.shown);
        if self.kit.session_grants.has(user, shown) || self.is_granted(user, shown).await {
            return Ok(());
        }
        let Some(approver) = &self.kit.options.approver else {
            return Err(denied("needs a person's approval, and nobody can be asked here"));
        };
        let limit = self.most(judged);
        let asked = Asked::new(self, judged, outgoing, sent, limit).await;
        if let (Err(why), false) = (&asked.waiting, approver.asks_here()) {
            return Err(denied(&format!("needs a person's approval, and nobody can be asked: {why}")));
        }
        let here = self.ask_here(judged, outgoing, why);
        let answered = tokio::time::timeout(limit, async {
            tokio::select! {
                answer = here => answer,
                answer = asked.elsewhere() => Ok(answer),
            }
        });
        let answer = match answered.await {
            Ok(answer) => asked.settle(answer?).await,
            Err(_) => asked
                .give_up()
                .await
                .ok_or_else(|| denied("a person was asked, and did not answer in time"))?,
        };
        match answer {
            ApprovalAnswer::No => return Err(denied("a person was asked, and said no")),
            // What holds for good is in the store, where it can be taken back.
            ApprovalAnswer::Always if self.is_granted(user, shown).await => {}
            ApprovalAnswer::Session | ApprovalAnswer::Always => self.kit.session_grants.give(user, shown),
            ApprovalAnswer::Once => {}
        }
        Ok(())
    }

    /// Whether the user approved this definition of the tool for good.
    async fn is_granted(&self, user: &UserId, shown: &ViewTool) -> bool {
        let Some(store) = &self.kit.options.store else { return false };
        // What cannot be looked up was not granted.
        let grants = store.grants(user).await.unwrap_or_default();
        grants.iter().any(|grant| {
            (&grant.server, &grant.tool, grant.definition)
                == (&shown.tool.server, &shown.tool.name, hash(shown))
        })
    }

    /// Asks whoever the program says is asked.
    async fn ask_here(
        &self,
        judged: &Judged,
        outgoing: &OutgoingCall,
        why: &str,
    ) -> Result<ApprovalAnswer, CallError> {
        let Some(approver) = self.kit.options.approver.clone() else { return Ok(ApprovalAnswer::No) };
        let approval = ApprovalRequest {
            user: outgoing.user.clone(),
            server: judged.shown.tool.server.clone(),
            tool: outgoing.tool.clone(),
            arguments: outgoing.arguments.clone(),
            why: why.to_owned(),
        };
        let work = async move { approver.approve(approval).await };
        self.run("the approver", judged, work).await
    }
}

/// An approval that waits in the store; taken back when nobody waits for it any more.
struct Asked {
    /// The question in the store, or why there is none.
    waiting: Result<(Arc<dyn Store>, UserId, ApprovalId), String>,
    poll: std::time::Duration,
}

impl Asked {
    /// What cannot be kept in the store is asked here alone.
    async fn new(
        way: &Way<'_>,
        judged: &Judged,
        outgoing: &OutgoingCall,
        sent: &str,
        limit: std::time::Duration,
    ) -> Self {
        let poll = judged.now.world.limits.approval_poll;
        let Some(store) = way.kit.options.store.clone() else {
            return Self { waiting: Err("nothing keeps the question".to_owned()), poll };
        };
        let created = SystemTime::now();
        let server = judged.now.world.servers.get(&judged.shown.tool.server);
        let redactor = server.map(|server| server.plan.redactor().clone()).unwrap_or_default();
        let ask = ApprovalAsk {
            user: outgoing.user.clone(),
            session: way.kit.session.clone(),
            server: judged.shown.tool.server.clone(),
            tool: judged.shown.tool.name.clone(),
            definition: hash(&judged.shown),
            arguments: sent.to_owned(),
            shown: crate::execute::masked_arguments(&outgoing.arguments, &redactor),
            created,
            expires: created + limit,
        };
        let kept = store.ask(&ask).await.map_err(|error| error.to_string());
        Self { waiting: kept.map(|id| (store, outgoing.user.clone(), id)), poll }
    }

    fn take(&mut self) -> Option<(Arc<dyn Store>, UserId, ApprovalId)> {
        std::mem::replace(&mut self.waiting, Err(String::new())).ok()
    }

    /// The answer of another process; never, where there is no store.
    async fn elsewhere(&self) -> ApprovalAnswer {
        let Ok((store, user, id)) = &self.waiting else { return std::future::pending().await };
        loop {
            tokio::time::sleep(self.poll).await;
            match store.answer_of(user, id, SystemTime::now()).await {
                Ok(Some(ApprovalState::Answered { answer, .. })) => return answer,
                // The clock of the call says so as well.
                Ok(Some(ApprovalState::Pending | ApprovalState::Expired)) | Err(_) => {}
                Ok(_) => return ApprovalAnswer::No,
            }
        }
    }

    /// Writes an answer down; the one that counts, where another was faster.
    async fn settle(mut self, answer: ApprovalAnswer) -> ApprovalAnswer {
        let Some((store, user, id)) = self.take() else { return answer };
        match store.answer(&user, &id, answer, SystemTime::now()).await {
            Err(AnswerError::AlreadyAnswered(first)) => first,
            Err(AnswerError::Expired | AnswerError::Withdrawn | AnswerError::Unknown) => ApprovalAnswer::No,
            // It was given here, to this process.
            Ok(()) | Err(AnswerError::Store(_)) => answer,
        }
    }

    /// Takes it back; an answer that came first counts still.
    async fn give_up(mut self) -> Option<ApprovalAnswer> {
        let (store, user, id) = self.take()?;
        match store.withdraw(&user, &id).await {
            Ok(Some(ApprovalState::Answered { answer, .. })) => Some(answer),
            _ => None,
        }
    }
}

impl Drop for Asked {
    /// The call was cancelled, or its caller is gone.
    fn drop(&mut self) {
        let (Some((store, user, id)), Ok(runtime)) = (self.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let withdrawn = async move { drop(store.withdraw(&user, &id).await) };
        tokio_util::task::TaskTracker::new().spawn_on(withdrawn, &runtime);
    }
}
