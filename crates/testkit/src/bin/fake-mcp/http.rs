//! The fake over HTTP: a listener, a thread per connection, and what each request goes through before it
//! reaches the protocol.

mod connection;
mod deliver;
mod door;
mod fault;
mod gzip;
mod headers;
mod old_sse;
mod request;
mod sessions;
mod shape;
mod sse;
mod stream;
mod streamable;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use connection::Connection;
use deliver::Failed;
use request::{HttpRequest, Reader};
use sessions::{Session, Sessions};
use stream::Stream;

pub(crate) use connection::Reply;
pub(crate) use fault::{Asked, HttpFault};
pub(crate) use shape::{Lie, Shape};

use crate::cut::{How, Step};
use crate::house::House;
use crate::options::{Form, Style};
use crate::out::{Out, Sink};
use crate::server::Server;
use crate::wire::Message;

/// What all connections share.
struct Site {
    house: Arc<House>,
    sessions: Sessions,
    /// `http://127.0.0.1:PORT`.
    origin: String,
    streams: AtomicU64,
}

/// Serves until stdin ends.
pub(crate) fn run(house: &Arc<House>, port: u16) -> ExitCode {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = match bound {
        Ok(bound) => bound,
        Err(error) => {
            eprintln!("fake-mcp: cannot listen on port {port}: {error}");
            return ExitCode::from(2);
        }
    };
    if let Some(fault) = &house.fault {
        let out = Arc::new(Out::new(Nowhere, None));
        fault.start(&Arc::new(Server::new(Arc::clone(house), out, Arc::default())));
    }
    let origin = format!("http://{address}");
    let path = if house.options.http.style == Style::OldSse { "sse" } else { "mcp" };
    println!("{origin}/{path}");
    let _ = io::stdout().flush();
    let streams = AtomicU64::new(0);
    let site = Arc::new(Site { house: Arc::clone(house), sessions: Sessions::default(), origin, streams });
    let serve = move |stream: TcpStream| {
        let site = Arc::clone(&site);
        thread::spawn(move || site.serve(&stream));
    };
    let door = house.options.http.door.clone();
    thread::spawn(move || match door {
        Some(file) => door::accept(listener, &file, serve),
        None => listener.incoming().flatten().for_each(serve),
    });
    let _ = io::stdin().read_to_end(&mut Vec::new());
    house.events.note(&["stdin-eof"]);
    ExitCode::SUCCESS
}

/// For what is said before anybody listens.
struct Nowhere;

impl Sink for Nowhere {
    fn write(&mut self, _: &[u8]) {}

    fn sever(&mut self, _: How) {}
}

impl Site {
    /// All requests of one connection.
    fn serve(self: &Arc<Self>, stream: &TcpStream) {
        let _ = stream.set_nodelay(true);
        if let Some(how) = self.house.cut.due(Step::Start) {
            let _ = Connection::new(stream).sever(how);
            return;
        }
        let mut reader = Reader::new(stream);
        loop {
            let mut connection = Connection::new(stream);
            if let Some(idle) = self.house.options.http.idle
                && !reader.is_spoken_to(idle)
            {
                self.house.events.note(&["idle-close"]);
                thread::sleep(idle / 2);
                return;
            }
            let request = match reader.next() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(_) => {
                    let _ = connection.reply(&Reply::new(400).header("Connection", "close"));
                    return;
                }
            };
            self.note(&request);
            let kept = self.answer(&mut connection, &request);
            let last = request.header("connection").is_some_and(|text| text.eq_ignore_ascii_case("close"));
            if kept.is_err() || last {
                return;
            }
        }
    }

    fn answer(
        self: &Arc<Self>,
        connection: &mut Connection<'_>,
        request: &HttpRequest,
    ) -> Result<(), Failed> {
        if self.house.options.http.style == Style::Canary {
            return Ok(connection.reply(&Reply::new(200).json("{}"))?);
        }
        if let Some(refusal) = self.unauthorized(request) {
            return Ok(connection.reply(&refusal)?);
        }
        let message = serde_json::from_slice::<Message<'_>>(&request.body).unwrap_or_default();
        let asked = Asked { http: request, method: &message.method, tool: &message.params.name };
        if let Some(fault) = self.house.http_fault()
            && let Some(reply) = fault.intercept(&asked, self.house.options.http.elsewhere.as_deref())
        {
            return Ok(connection.reply(&reply)?);
        }
        match self.house.options.http.style {
            Style::OldSse => self.old_sse(connection, request),
            _ => self.streamable(connection, &asked),
        }
    }

    /// Every request with all its headers, so that a test sees what was told to whom.
    fn note(&self, request: &HttpRequest) {
        if !self.house.events.are_kept() {
            return;
        }
        let pairs = request.headers.iter().map(|(name, value)| format!("{name}={value}"));
        let pairs: Vec<_> = pairs.collect();
        let mut words = vec!["http", &*request.method, &*request.path];
        words.extend(pairs.iter().map(|pair| &**pair));
        self.house.events.note(&words);
    }

    fn unauthorized(&self, request: &HttpRequest) -> Option<Reply> {
        let options = &self.house.options.http;
        let bearer = options.bearer.as_ref().map(|token| format!("Bearer {token}"));
        let refuse = || Reply::new(401).json("{\"error\":\"unauthorized\"}");
        if bearer.is_some() && request.header("authorization") != bearer.as_deref() {
            return Some(refuse().header("WWW-Authenticate", "Bearer realm=\"fake-mcp\""));
        }
        let missing =
            |(name, value): &(String, String)| request.header(&name.to_ascii_lowercase()) != Some(value);
        options.headers.iter().any(missing).then(refuse)
    }

    /// The session of this id, unless it has served as many calls as a fault lets it live.
    fn living(&self, id: &str) -> Option<Arc<Session>> {
        let life = self.house.http_fault().and_then(|fault| fault.session_life());
        let session = self.sessions.get(id)?;
        if session.is_over(life) {
            self.sessions.end(id);
            self.house.events.note(&["session-lost", id]);
            return None;
        }
        Some(session)
    }

    /// When clients are told to come back to a stream.
    fn retry(&self) -> Option<u64> {
        let bait = self.house.http_fault().and_then(|fault| fault.retry());
        bait.or(self.house.options.http.retry)
    }

    fn stream(&self, form: Form) -> Arc<Stream> {
        Stream::new(self.streams.fetch_add(1, Ordering::Relaxed) + 1, form)
    }
}
