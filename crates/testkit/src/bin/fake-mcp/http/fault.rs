//! What a fault can do wrong only over HTTP.

use super::connection::Reply;
use super::request::HttpRequest;
use super::shape::Shape;
use crate::options::Form;

/// A request as a fault sees it.
pub(crate) struct Asked<'a> {
    pub(crate) http: &'a HttpRequest,
    /// The method and the tool of the JSON-RPC message, empty without one.
    pub(crate) method: &'a str,
    pub(crate) tool: &'a str,
}

impl Asked<'_> {
    /// Calls of these tools stay good, to show that the server can still be used.
    pub(crate) fn is_spoilt(&self) -> bool {
        self.method == "tools/call" && !matches!(self.tool, "add" | "pid")
    }
}

pub(crate) trait HttpFault {
    /// An answer of its own, before the protocol sees the request. `elsewhere` is the URL of another server.
    fn intercept(&self, _: &Asked<'_>, _elsewhere: Option<&str>) -> Option<Reply> {
        None
    }

    /// How the good answer is delivered.
    fn shape(&self, _: &Asked<'_>) -> Shape {
        Shape::Good
    }

    /// The form of all answers, whatever the options say.
    fn form(&self) -> Option<Form> {
        None
    }

    /// How many calls a session lives.
    fn session_life(&self) -> Option<usize> {
        None
    }

    /// What the owner of a lost session hears.
    fn session_refusal(&self) -> Option<Reply> {
        None
    }

    /// The milliseconds after which clients are told to come back.
    fn retry(&self) -> Option<u64> {
        None
    }

    /// Where the old SSE transport sends its clients.
    fn endpoint(&self, _own: &str, _elsewhere: Option<&str>) -> Option<String> {
        None
    }
}
