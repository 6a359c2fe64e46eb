//! The ways a call can end without a result: a closed list that callers, scripts and models rely on.

/// How a call went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Nobody has a tool of this name.
    NotFound,
    /// Several have.
    Ambiguous,
    /// Not allowed.
    Denied,
    /// A person said no.
    ApprovalDenied,
    /// Waits for approval: its server or its definition changed.
    Held,
    /// The arguments do not fit.
    InvalidArguments,
    /// The server cannot be reached; nothing was delivered.
    Unavailable,
    /// It took too long; nothing was delivered.
    Timeout,
    /// It was delivered and no answer came: it may have happened.
    OutcomeUnknown,
    /// The caller gave up.
    Cancelled,
    /// The answer is larger than allowed.
    TooLarge,
    /// The server broke the protocol.
    BadAnswer,
    /// The server answered with an error.
    ServerError,
    /// The tool says it failed.
    ToolError,
    /// Too many calls.
    RateLimited,
    /// The server wants to know who we are.
    AuthRequired,
    /// A bug of ours.
    Internal,
}

impl ErrorKind {
    /// The word used in JSON output and documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Denied => "denied",
            Self::ApprovalDenied => "approval_denied",
            Self::Held => "held",
            Self::InvalidArguments => "invalid_arguments",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "too_large",
            Self::BadAnswer => "bad_answer",
            Self::ServerError => "server_error",
            Self::ToolError => "tool_error",
            Self::RateLimited => "rate_limited",
            Self::AuthRequired => "auth_required",
            Self::Internal => "internal",
        }
    }
}
