//! A call as its caller writes it down: which tool, with what, and how.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kitbag_core::Secret;
use kitbag_core::model::Activity;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call_id::CallId;
use super::guarded_now;
use crate::connect::{CallerInput, LogLevel, Notification, Responder};

/// One call of one tool.
///
/// ```
/// use std::time::Duration;
///
/// use kitbag::{CallOptions, ToolCall};
///
/// let call = ToolCall::new("mcp_time_get_current_time", r#"{"timezone": "UTC"}"#)
///     .with(CallOptions { timeout: Some(Duration::from_secs(5)), ..CallOptions::default() });
/// assert_eq!(call.tool, "mcp_time_get_current_time");
/// ```
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool: the name it is listed under, `server/tool`, or its own name when only one server has it.
    pub tool: String,
    /// Its arguments: the text of a JSON object. An empty string means no arguments.
    pub arguments: String,
    /// Timeout, `_meta`, who answers questions, where progress goes.
    pub options: CallOptions,
}

impl ToolCall {
    /// A call with arguments as JSON text and default options.
    pub fn new(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { tool: tool.into(), arguments: arguments.into(), options: CallOptions::default() }
    }

    /// The same call with these options.
    #[must_use]
    pub fn with(self, options: CallOptions) -> Self {
        Self { options, ..self }
    }

    pub(crate) fn parts(&self) -> CallParts<'_> {
        CallParts { tool: &self.tool, arguments: &self.arguments, options: &self.options }
    }
}

/// How one call is made. Everything is optional.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// What the call is called in logs; the next free name otherwise.
    pub id: Option<CallId>,
    /// How long the call may take, within the limits; otherwise as long as the server's configuration says.
    pub timeout: Option<Duration>,
    /// What goes into the request's `_meta`.
    pub meta: Map<String, Value>,
    /// HTTP headers of this call alone, such as a trace id. They take the place of configured headers of the same name;
    /// those of the protocol itself are refused. Servers that are not reached over HTTP get none.
    pub headers: Vec<(String, Secret)>,
    /// Where progress and log notifications go while the call runs. What finds no room in the channel is dropped.
    pub notifications: Option<mpsc::Sender<Notification>>,
    /// Answers what the server asks during this call (sampling, elicitation, roots). Servers of the 2026-07-28
    /// protocol are told with the call what that is; older ones are told when they connect, by
    /// [`crate::OpenOptions::answers`], and ask for nothing else.
    pub responder: Option<Arc<dyn Responder>>,
    /// Set by callers that speak for a client of the 2026-07-28 protocol: a result that asks for input is handed on in
    /// [`CallResult::raw`](crate::CallResult::raw), and what the client answers comes with its next call. The responder is
    /// then asked by servers of the older protocol only.
    pub input: Option<CallerInput>,
    /// Cancels the call, also at the server. Dropping the call's future does the same.
    pub cancel: Option<CancellationToken>,
    /// How much of the result is handed over at once.
    pub size: ResultSize,
    /// The least severe log messages the server shall send while this runs, to [`Self::notifications`]. An older server
    /// is told once, and sends as much to whoever calls it next.
    pub log_level: Option<LogLevel>,
    /// Is told before each step that may take time: connecting, listing, executing.
    pub on_activity: Option<Arc<dyn Fn(Activity) + Send + Sync>>,
}

impl CallOptions {
    pub(crate) fn say(&self, activity: impl FnOnce() -> Activity) {
        if let Some(listener) = &self.on_activity {
            let activity = activity();
            guarded_now(|| listener(activity));
        }
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of `_meta` may be private.
        f.debug_struct("CallOptions")
            .field("id", &self.id)
            .field("timeout", &self.timeout)
            .field("meta", &self.meta.keys().collect::<Vec<_>>())
            .field("headers", &self.headers)
            .field("notifications", &self.notifications.is_some())
            .field("responder", &self.responder.is_some())
            .field("input", &self.input.is_some())
            .field("cancel", &self.cancel.is_some())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// How much of a result is handed over at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultSize {
    /// As much as the limits say; the rest can be read page by page.
    #[default]
    Bounded,
    /// Text is bounded; images, audio and embedded files are handed over whole.
    Texts,
    /// All of it.
    Whole,
    /// All of it, in [`CallResult::raw`](crate::CallResult::raw), and nothing taken apart. Where a hook looks at results,
    /// or the server's are masked, it is as [`ResultSize::Whole`].
    AsReceived,
}

/// A call while it is made, borrowed from whoever made it.
#[derive(Clone, Copy)]
pub(crate) struct CallParts<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) options: &'a CallOptions,
}
