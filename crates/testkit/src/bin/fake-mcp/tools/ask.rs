//! The tool that asks the client: by a request of its own in the legacy era, by `input_required` in the
//! modern one.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::interview::{self, Script};
use super::{Done, arguments};
use crate::out::Kind;
use crate::server::{Answer, Server, Waiting};
use crate::wire::{self, Request, Speech};

pub(crate) mod questions {
    //! Methods a server asks with, each with its params.

    pub(crate) const SAMPLING: (&str, &str) = (
        "sampling/createMessage",
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"What is two and two?"}}],"maxTokens":16}"#,
    );
    pub(crate) const FORM: (&str, &str) = (
        "elicitation/create",
        r#"{"mode":"form","message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#,
    );
    pub(crate) const FIELDS: (&str, &str) = (
        "elicitation/create",
        r#"{"mode":"form","message":"Your trip?","requestedSchema":{"type":"object","properties":{"nights":{"type":"integer","title":"Nights","description":"How long you stay","minimum":1},"room":{"type":"string","oneOf":[{"const":"s","title":"Single"},{"const":"d","title":"Double"}],"default":"s"},"late":{"type":"boolean"},"note":{"type":"string"}},"required":["nights"]}}"#,
    );
    pub(crate) const FILE_URL: (&str, &str) = (
        "elicitation/create",
        r#"{"mode":"url","elicitationId":"e1","message":"Please open","url":"file:///etc/passwd"}"#,
    );
    pub(crate) const HTTP_URL: (&str, &str) = (
        "elicitation/create",
        r#"{"mode":"url","elicitationId":"e2","message":"Please open","url":"http://127.0.0.1:9/fake-mcp"}"#,
    );
    pub(crate) const ROOTS: (&str, &str) = ("roots/list", "{}");
    pub(crate) const CALL: (&str, &str) = ("tools/call", r#"{"name":"echo","arguments":{"message":"hi"}}"#);
}

pub(super) fn ask(server: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Ask {
        what: Option<String>,
        ms: Option<u64>,
    }
    if let Some(script) = arguments::<Script>(request).filter(|script| script.token.is_some()) {
        return interview::begin(server, request, script);
    }
    let Some(Ask { what, ms }) = arguments(request) else { return Done::BadArguments };
    let (method, params) = match what.as_deref() {
        Some("sampling") => questions::SAMPLING,
        Some("elicitation") | None => questions::FORM,
        Some("roots") => questions::ROOTS,
        Some("fields") => questions::FIELDS,
        Some("url") => questions::HTTP_URL,
        Some(_) => return Done::BadArguments,
    };
    match (request.speech, request.params.input_responses) {
        (Speech::Legacy, _) => {
            let id = wire::quoted(&format!("ask-{}", wire::bare_text(request.id)));
            let waiting = Waiting { call: request.id.to_owned(), server: Arc::clone(server) };
            server.state().asked.insert(id.clone(), waiting);
            let question = wire::request(&id, method, params);
            match ms {
                None => server.out.put(Kind::Note, &question),
                Some(ms) => ask_later(server, ms, question),
            }
            Done::Elsewhere
        }
        (Speech::Modern, Some(responses)) => {
            let text = wire::quoted(responses.get());
            Done::Answer(wire::text_result(request.id, request.speech, &text))
        }
        // An honest server asks only for what the client says it can answer.
        (Speech::Modern, None) if !is_offered(request, method) => {
            let text = wire::quoted(&format!("the client does not offer {method}"));
            Done::Answer(wire::text_result(request.id, request.speech, &text))
        }
        (Speech::Modern, None) => {
            Done::Answer(wire::input_required(request.id, "question", (method, params), "asked once"))
        }
    }
}

/// Whether the capabilities that came with a request have what a method needs.
pub(super) fn is_offered(request: &Request<'_>, method: &str) -> bool {
    let capability = method.split('/').next().unwrap_or_default();
    let offered =
        request.params.meta.capabilities.map(|raw| serde_json::from_str::<serde_json::Value>(raw.get()));
    offered.and_then(Result::ok).is_some_and(|offered| offered.get(capability).is_some())
}

/// Asks after a while, and says so in its log just before. It does not look whether the client still waits.
fn ask_later(server: &Arc<Server>, ms: u64, question: Vec<u8>) {
    let own = Arc::clone(server);
    server.later.after(Duration::from_millis(ms), move || {
        let mut line = Vec::new();
        wire::log(&mut line, 1);
        own.out.put(Kind::Note, &line);
        own.out.put(Kind::Note, &question);
        own.out.flush();
    });
}

/// The client answered a question of ours: the call that waits for it gets the answer as text.
pub(crate) fn answered(server: &Server, id: &str, answer: Answer<'_>) {
    if interview::answered(server, id, answer) {
        return;
    }
    let Some(Waiting { call, server }) = server.state().asked.remove(id) else { return };
    let (Answer::Result(raw) | Answer::Error(raw)) = answer;
    server.events.note_exactly("told", raw.get());
    server.answer_call(&wire::text_result(&call, Speech::Legacy, &wire::quoted(raw.get())));
    server.out.flush();
}
