//! The ways a call can end without a result, and the exit codes of the command line: closed lists that callers, scripts
//! and models rely on. Everything that is said about them elsewhere, docs included, is made from these two tables.

/// Whether the server got a call that has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Certainly not: calling again does no harm.
    No,
    /// It may have.
    Maybe,
    /// It has, and answered.
    Yes,
}

impl Delivery {
    /// The word used in JSON output and documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Maybe => "maybe",
            Self::Yes => "yes",
        }
    }
}

macro_rules! kinds {
    ($($name:ident = $word:literal, exit $exit:literal, $delivery:ident, $sentence:literal;)*) => {
        /// How a call went wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorKind { $(#[doc = $sentence] $name),* }

        impl ErrorKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word used in JSON output and documentation.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// What a command that ends this way exits with.
            pub fn exit_code(self) -> u8 {
                match self { $(Self::$name => $exit),* }
            }

            /// Whether the server got the call.
            pub fn delivery(self) -> Delivery {
                match self { $(Self::$name => Delivery::$delivery),* }
            }

            /// What it means, in one sentence.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }
        }
    };
}

kinds! {
    NotFound = "not_found", exit 5, No, "No server has a tool of this name.";
    Ambiguous = "ambiguous", exit 5, No, "Several tools have this name.";
    Denied = "denied", exit 6, No, "The call is not allowed.";
    ApprovalDenied = "approval_denied", exit 6, No, "A person has to approve the call, and did not.";
    Held = "held", exit 6, No, "The server or the tool waits for approval.";
    InvalidArguments = "invalid_arguments", exit 7, No, "The arguments do not match the tool's schema.";
    Unavailable = "unavailable", exit 4, No, "The server cannot be reached.";
    Timeout = "timeout", exit 8, No, "The call could not be sent in time.";
    OutcomeUnknown = "outcome_unknown", exit 9, Maybe, "The call was sent, and no answer came: it may have been carried out.";
    Cancelled = "cancelled", exit 130, Maybe, "The caller gave up.";
    TooLarge = "too_large", exit 13, Yes, "The answer is larger than the limit.";
    BadAnswer = "bad_answer", exit 13, Yes, "The server's answer breaks the protocol.";
    ServerError = "server_error", exit 13, Yes, "The server answered with an error of the protocol, or does not allow the call (403).";
    ToolError = "tool_error", exit 1, Yes, "The tool says that it failed.";
    RateLimited = "rate_limited", exit 14, No, "The server gets too many calls (429).";
    AuthRequired = "auth_required", exit 12, No, "The server wants credentials (401, or 403 with a challenge).";
    Internal = "internal", exit 70, Maybe, "A bug in Kitbag.";
}

/// Every exit code of the command line, and what it stands for.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (0, "done"),
    (1, "the tool answered with an error"),
    (2, "usage"),
    (3, "config fault"),
    (4, "server unavailable"),
    (5, "not found or ambiguous"),
    (6, "denied or held"),
    (7, "invalid arguments"),
    (8, "timeout"),
    (9, "outcome unknown"),
    (10, "a definition or the audit log is not as it was"),
    (11, "the model gave no answer"),
    (12, "sign-in needed"),
    (13, "the server's answer could not be used"),
    (14, "rate limited"),
    (70, "a bug of ours"),
    (130, "interrupted"),
];

#[cfg(test)]
mod tests;
