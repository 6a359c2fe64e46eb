//! The HTTP+SSE transport of 2024-11-05: one stream says where to post, and carries every answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Site;
use super::connection::{Connection, Reply};
use super::deliver::{Delivery, EventStyle, Failed, Ids};
use super::request::HttpRequest;
use super::shape::Shape;
use crate::cut::Step;
use crate::options::Form;
use crate::server::Server;
use crate::wire::Message;

impl Site {
    pub(super) fn old_sse(
        self: &Arc<Self>,
        connection: &mut Connection<'_>,
        request: &HttpRequest,
    ) -> Result<(), Failed> {
        match (&*request.method, &*request.path) {
            ("GET", "/sse" | "/moved") => self.old_stream(connection),
            ("POST", "/messages") => self.old_post(connection, request),
            (_, "/sse" | "/messages") => Ok(connection.reply(&Reply::new(405))?),
            _ => Ok(connection.reply(&Reply::new(404).body("text/plain", "not found"))?),
        }
    }

    /// The session lives as long as its stream.
    fn old_stream(&self, connection: &mut Connection<'_>) -> Result<(), Failed> {
        let session = self.sessions.open(&self.house, self.stream(Form::Sse));
        self.house.events.note(&["session", &session.id]);
        let own = format!("/messages?sessionId={}", session.id);
        let fault = self.house.http_fault();
        let elsewhere = self.house.options.http.elsewhere.as_deref();
        let endpoint = fault.and_then(|fault| fault.endpoint(&self.origin, elsewhere)).unwrap_or(own);
        let (reader, from) = session.standalone.attach();
        let cut = self.house.cut.due(Step::Listen);
        let delivery = Delivery {
            stream: &session.standalone,
            headers: Vec::new(),
            events: EventStyle { ids: Ids::None, retry: self.retry() },
            shape: cut.map_or(Shape::Good, Shape::Torn),
            preface: format!("event: endpoint\ndata: {endpoint}\n\n").into_bytes(),
        };
        let delivered = delivery.events(connection, reader, from);
        self.sessions.end(&session.id);
        delivered
    }

    fn old_post(&self, connection: &mut Connection<'_>, request: &HttpRequest) -> Result<(), Failed> {
        let session = request.asked("sessionId").and_then(|id| self.living(id));
        let Some(session) = session else {
            if let Some(refusal) = self.house.http_fault().and_then(|fault| fault.session_refusal()) {
                return Ok(connection.reply(&refusal)?);
            }
            return Ok(connection.reply(&Reply::new(404).body("text/plain", "Could not find session"))?);
        };
        if serde_json::from_slice::<Message<'_>>(&request.body).is_ok_and(|it| it.method == "tools/call") {
            session.calls.fetch_add(1, Ordering::Relaxed);
        }
        connection.reply(&Reply::new(202).body("text/plain", "Accepted"))?;
        let (out, talk) = (Arc::clone(&session.out), Arc::clone(&session.talk));
        let server = Server::new(Arc::clone(&self.house), out, talk);
        Arc::new(server.with_credential(request.header("authorization"))).take(&request.body);
        Ok(())
    }
}
