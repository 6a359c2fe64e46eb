//! Approvals: calls that wait for a person's yes, and the permissions a person has given for good.

use std::fmt;
use std::time::SystemTime;

use kitbag_core::{ServerName, ToolName, UserId};

use super::{Hash256, StoreError, StoreFuture};

/// A call that needs a person's yes.
#[derive(Clone, PartialEq, Eq)]
pub struct ApprovalAsk {
    /// Who is asked.
    pub user: UserId,
    /// The process that waits for the answer.
    pub session: String,
    /// The server.
    pub server: ServerName,
    /// The tool, by the server's own name for it.
    pub tool: ToolName,
    /// The hash of the tool's definition: another definition needs another yes.
    pub definition: Hash256,
    /// The arguments exactly as they would be sent. Forgotten as soon as the approval is no longer pending.
    pub arguments: String,
    /// The arguments as they may be shown, without secrets.
    pub shown: String,
    /// When it was asked.
    pub created: SystemTime,
    /// From when on an answer is too late.
    pub expires: SystemTime,
}

impl fmt::Debug for ApprovalAsk {
    /// Without the arguments: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ApprovalAsk");
        out.field("user", &self.user).field("server", &self.server).field("tool", &self.tool);
        out.field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Names one approval; it cannot be guessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// A new one, of 128 random bits.
    pub fn random() -> Result<Self, StoreError> {
        super::hash::random_word().map(Self)
    }

    /// As a person or a program gave it; one that is not known is found nowhere.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An approval that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingApproval {
    /// Its id.
    pub id: ApprovalId,
    /// What is asked.
    pub ask: ApprovalAsk,
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApprovalAnswer {
    /// Yes, for this call.
    Once,
    /// Yes, also for later calls of this tool by the process that asks.
    Session,
    /// Yes, for good: it becomes a [`Grant`].
    Always,
    /// No.
    No,
}

impl ApprovalAnswer {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Once, Self::Session, Self::Always, Self::No];

    /// The word used in output and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::No => "no",
        }
    }

    /// By its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == word)
    }
}

/// What has become of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// It waits for an answer.
    Pending,
    /// A person answered.
    Answered {
        /// What.
        answer: ApprovalAnswer,
        /// When.
        at: SystemTime,
    },
    /// Nobody answered in time.
    Expired,
    /// The call ended before anybody answered.
    Withdrawn,
}

/// Why an answer was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// This user has no such approval.
    #[error("there is no such approval")]
    Unknown,
    /// Somebody was faster.
    #[error("this approval was answered already: {}", .0.as_str())]
    AlreadyAnswered(ApprovalAnswer),
    /// It is too late.
    #[error("this approval has expired")]
    Expired,
    /// The call is over.
    #[error("the call ended before the answer")]
    Withdrawn,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A permission for good: this user, this tool, this definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Who gave it, and for whom it holds.
    pub user: UserId,
    /// The server.
    pub server: ServerName,
    /// The tool.
    pub tool: ToolName,
    /// The hash of the definition it was given for.
    pub definition: Hash256,
    /// When it was given.
    pub at: SystemTime,
}

/// Keeps approvals. Of an answer, an expiry and a withdrawal exactly one happens, whoever and wherever they come from.
pub trait ApprovalStore {
    /// Asks. At most [`Limits::approvals`](kitbag_core::Limits::approvals) of one user are pending at once.
    fn ask<'a>(&'a self, ask: &'a ApprovalAsk) -> StoreFuture<'a, ApprovalId>;

    /// What this user is asked at the moment, the oldest first.
    fn pending<'a>(&'a self, user: &'a UserId, now: SystemTime) -> StoreFuture<'a, Vec<PendingApproval>>;

    /// Answers an approval of this user. `Always` becomes a grant in the same step.
    fn answer<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
        answer: ApprovalAnswer,
        now: SystemTime,
    ) -> StoreFuture<'a, (), AnswerError>;

    /// What has become of an approval of this user; none where there is none. One whose time is over has expired for
    /// everybody from then on.
    fn answer_of<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
        now: SystemTime,
    ) -> StoreFuture<'a, Option<ApprovalState>>;

    /// Takes an approval back, because its call was cancelled or ran out of time. What has become of it:
    /// [`ApprovalState::Withdrawn`], or what came first; none where there is none.
    fn withdraw<'a>(&'a self, user: &'a UserId, id: &'a ApprovalId)
    -> StoreFuture<'a, Option<ApprovalState>>;

    /// Forgets approvals, of all users, whose time was over before this one; how many.
    fn sweep_approvals(&self, before: SystemTime) -> StoreFuture<'_, usize>;

    /// What this user has allowed for good, sorted by server and tool.
    fn grants<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<Grant>>;

    /// Takes a grant back; whether there was one.
    fn revoke_grant<'a>(&'a self, grant: &'a Grant) -> StoreFuture<'a, bool>;
}
