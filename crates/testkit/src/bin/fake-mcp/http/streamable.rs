//! The streamable HTTP transport in both eras: one path, POST for messages; in the legacy era also sessions,
//! GET for a stream of notifications and for what was missed, DELETE for the end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use super::connection::{Connection, Reply};
use super::deliver::{Delivery, EventStyle, Failed, Ids};
use super::request::HttpRequest;
use super::sessions::Session;
use super::shape::Shape;
use super::stream::{Answers, Last, Stream};
use super::{Asked, Site, headers, sse};
use crate::cut::Step;
use crate::era::{LEGACY, MODERN, NEWEST_LEGACY};
use crate::options::{Era, Form, Sessions};
use crate::out::Out;
use crate::server::{Server, Talk};
use crate::wire::{self, Message, Speech, code};

/// `/moved` is where redirects within the same origin lead.
const PATHS: [&str; 2] = ["/mcp", "/moved"];

/// Who takes part in the answer to one POST.
struct Exchange {
    talk: Talk,
    session: Option<Arc<Session>>,
    speech: Speech,
}

impl Site {
    pub(super) fn streamable(
        self: &Arc<Self>,
        connection: &mut Connection<'_>,
        asked: &Asked<'_>,
    ) -> Result<(), Failed> {
        let request = asked.http;
        let refusal = match &*request.method {
            _ if !PATHS.contains(&&*request.path) => Reply::new(404).body("text/plain", "not found"),
            "POST" => match self.posted(request) {
                Ok(exchange) => return self.post(connection, asked, exchange),
                Err(refusal) => refusal,
            },
            "GET" | "DELETE" if self.keeps_no_sessions() => not_allowed("POST"),
            "GET" if !request.accepts("text/event-stream") => below(406, "Not Acceptable"),
            "GET" => match self.session(request) {
                Ok(session) => return self.get(connection, request, &session),
                Err(refusal) => refusal,
            },
            "DELETE" => match self.session(request) {
                Ok(session) => {
                    self.sessions.end(&session.id);
                    self.house.events.note(&["session-end", &session.id]);
                    Reply::new(204)
                }
                Err(refusal) => refusal,
            },
            _ => not_allowed("GET, POST, DELETE"),
        };
        Ok(connection.reply(&refusal)?)
    }

    fn keeps_no_sessions(&self) -> bool {
        let options = &self.house.options;
        options.era == Era::Modern || options.http.sessions == Sessions::None
    }

    /// Whether a POST may be answered, and who answers.
    fn posted(&self, request: &HttpRequest) -> Result<Exchange, Reply> {
        if !request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
            return Err(below(415, "Unsupported Media Type: Content-Type must be application/json"));
        }
        if !request.accepts("application/json") || !request.accepts("text/event-stream") {
            return Err(below(
                406,
                "Not Acceptable: Client must accept both application/json and text/event-stream",
            ));
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(&request.body) else {
            return Err(Reply::new(400).json(wire::unreadable(&request.body)));
        };
        let speech = self.speech(request, &message);
        if speech == Speech::Modern {
            headers::check(&self.house, request, &message)?;
            let talk = Talk::default();
            // It speaks modern without having been asked by anybody before.
            talk.lock().unwrap_or_else(std::sync::PoisonError::into_inner).discovered = true;
            return Ok(Exchange { talk, session: None, speech });
        }
        let session = match (&*message.method, self.house.options.http.sessions) {
            (_, Sessions::None) => None,
            ("initialize", Sessions::Kept) => {
                let session = self.sessions.open(&self.house, self.stream(Form::Sse));
                self.house.events.note(&["session", &session.id]);
                Some(session)
            }
            (method, Sessions::Kept) => {
                let session = self.session(request)?;
                if method == "tools/call" {
                    session.calls.fetch_add(1, Ordering::Relaxed);
                }
                Some(session)
            }
        };
        let talk = session.as_ref().map(|session| Arc::clone(&session.talk)).unwrap_or_default();
        Ok(Exchange { talk, session, speech })
    }

    /// A request says for itself which era it belongs to; a server of one era hears only that.
    fn speech(&self, request: &HttpRequest, message: &Message<'_>) -> Speech {
        let modern = request.header("mcp-protocol-version") == Some(MODERN)
            || message.params.meta.version.is_some()
            || message.method == "server/discover";
        match self.house.options.era {
            Era::Legacy => Speech::Legacy,
            Era::Modern => Speech::Modern,
            Era::Both if modern && message.method != "initialize" => Speech::Modern,
            Era::Both => Speech::Legacy,
        }
    }

    /// The session that a request names, or why it has none.
    fn session(&self, request: &HttpRequest) -> Result<Arc<Session>, Reply> {
        if let Some(version) = request.header("mcp-protocol-version")
            && !LEGACY.contains(&version)
        {
            let known = LEGACY.join(", ");
            let text = format!("Bad Request: Unsupported protocol version (supported versions: {known})");
            return Err(below(400, &text));
        }
        let Some(id) = request.header("mcp-session-id") else {
            return Err(below(400, "Bad Request: Mcp-Session-Id header is required"));
        };
        self.living(id).ok_or_else(|| {
            let refusal = self.house.http_fault().and_then(|fault| fault.session_refusal());
            refusal.unwrap_or_else(|| {
                Reply::new(404).json(wire::error("null", code::NO_SESSION, "Session not found", ""))
            })
        })
    }

    fn post(
        self: &Arc<Self>,
        connection: &mut Connection<'_>,
        asked: &Asked<'_>,
        exchange: Exchange,
    ) -> Result<(), Failed> {
        let Exchange { talk, session, speech } = exchange;
        let request = asked.http;
        let fault = self.house.http_fault();
        let form = match asked.method {
            // Nothing else can be told as it happens.
            "subscriptions/listen" => Form::Sse,
            _ => fault.and_then(|fault| fault.form()).unwrap_or(self.house.options.http.answer),
        };
        let stream = self.stream(form);
        let aside = session.as_ref().map(|session| Arc::clone(&session.standalone));
        let server = |out: Arc<Out>, talk| {
            let server = Server::new(Arc::clone(&self.house), out, talk);
            Arc::new(server.with_credential(request.header("authorization")))
        };
        let message = serde_json::from_slice::<Message<'_>>(&request.body).unwrap_or_default();
        let Some(id) = message.id.filter(|_| !message.method.is_empty()) else {
            // What an answer of the client gives rise to belongs to no request of this kind.
            let out = session.as_ref().map_or_else(|| self.unheard(), |session| Arc::clone(&session.out));
            connection.reply(&Reply::new(202))?;
            server(out, talk).take(&request.body);
            return Ok(());
        };
        let sink = Answers::new(Arc::clone(&stream), aside, Last::Answer);
        let server = server(Arc::new(Out::new(sink, self.house.fault.clone())), talk);
        if let Some(session) = &session {
            session.keep(&stream);
        }
        let delivery = Delivery {
            stream: &stream,
            headers: session_header(&message.method, session.as_deref()),
            events: self.event_style(request, session.as_deref()),
            shape: fault.map_or(Shape::Good, |fault| fault.shape(asked)),
            preface: Vec::new(),
        };
        let (reader, _) = stream.attach();
        work(&server, &stream, request.body.clone());
        let delivered = delivery.answer(connection, reader);
        stream.detach(reader);
        // In the modern era, and without a session, there is no coming back for the rest.
        if delivered.is_err() && (speech == Speech::Modern || session.is_none()) {
            stream.abandon();
        }
        match delivered {
            Err(Failed::HungUp) if speech == Speech::Modern => server.cancelled(id.get()),
            Err(Failed::HungUp) => self.house.events.note(&["hung-up", &wire::bare(id)]),
            _ => {}
        }
        delivered
    }

    /// Where what nobody asked for goes, without a session.
    fn unheard(&self) -> Arc<Out> {
        Arc::new(Out::new(Answers::new(self.stream(Form::Sse), None, Last::Never), None))
    }

    fn event_style(&self, request: &HttpRequest, session: Option<&Session>) -> EventStyle {
        let ids = match session {
            None => Ids::None,
            Some(_) if request.header("mcp-protocol-version") == Some(NEWEST_LEGACY) => Ids::Primed,
            Some(_) => Ids::Messages,
        };
        EventStyle { ids, retry: self.retry() }
    }

    /// The stream of a session, or the rest of the one that broke.
    fn get(
        &self,
        connection: &mut Connection<'_>,
        request: &HttpRequest,
        session: &Session,
    ) -> Result<(), Failed> {
        let missed = request.header("last-event-id").and_then(sse::position);
        let missed = missed.and_then(|(stream, line)| Some((session.kept(stream)?, line)));
        let (stream, line) = match missed {
            Some((stream, line)) => (stream, Some(line)),
            None => (Arc::clone(&session.standalone), None),
        };
        let (reader, taken) = stream.attach();
        let from = line.map_or(taken, |line| stream.behind(line));
        let shape = match (self.house.cut.due(Step::Listen), self.house.http_fault()) {
            (Some(how), _) => Shape::Torn(how),
            (None, Some(fault)) => fault.shape(&Asked { http: request, method: "", tool: "" }),
            (None, None) => Shape::Good,
        };
        let events = self.event_style(request, Some(session));
        let headers = vec![("Mcp-Session-Id".into(), session.id.clone())];
        let delivery = Delivery { stream: &stream, headers, events, shape, preface: Vec::new() };
        let delivered = delivery.events(connection, reader, from);
        stream.detach(reader);
        delivered
    }
}

/// Deals with the message beside the connection, which goes on to look after its client.
fn work(server: &Arc<Server>, stream: &Arc<Stream>, body: Vec<u8>) {
    let (server, stream) = (Arc::clone(server), Arc::clone(stream));
    thread::spawn(move || {
        server.take(&body);
        server.out.flush();
        stream.accepted();
    });
}

fn session_header(method: &str, session: Option<&Session>) -> Vec<(String, String)> {
    let opened = session.filter(|_| method == "initialize");
    opened.map(|session| ("Mcp-Session-Id".into(), session.id.clone())).into_iter().collect()
}

fn not_allowed(allowed: &str) -> Reply {
    below(405, "Method not allowed.").header("Allow", allowed)
}

/// An error below the protocol, in the words of the older servers.
fn below(status: u16, text: &str) -> Reply {
    Reply::new(status).json(wire::error("null", code::TRANSPORT, text, ""))
}
