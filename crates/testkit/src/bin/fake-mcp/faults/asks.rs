//! A server that asks the client what it may not ask, or will not stop asking.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::{Entry, Fault, N, Take, spoils};
use crate::out::Kind;
use crate::server::{Answer, Server};
use crate::tools::questions::{CALL, FILE_URL, FORM, HTTP_URL, ROOTS, SAMPLING};
use crate::wire::{self, Request, Speech};

type Question = (&'static str, &'static str);

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s26",
        modes: &[N],
        about: "N (200) requests nobody asked for at start, four more in every call; notes the answers",
        make: |modes| Arc::new(Unasked { count: modes.number(200), sent: Mutex::default() }),
    },
    Entry {
        label: "s27",
        modes: &["form", "url"],
        about: "asks for input for ever within a call: forms, a file: URL, an http: URL, or only one kind",
        make: |modes| {
            let questions: &'static [Question] = match modes.0.first().copied() {
                Some("form") => &[FORM],
                Some("url") => &[FILE_URL, HTTP_URL],
                _ => &[FORM, FILE_URL, HTTP_URL],
            };
            Arc::new(Again { questions, round: AtomicUsize::new(0), caller: Mutex::default() })
        },
    },
];

const ALL: [Question; 4] = [SAMPLING, FORM, ROOTS, CALL];

struct Unasked {
    count: usize,
    /// Method by id.
    sent: Mutex<HashMap<String, &'static str>>,
}

impl Unasked {
    fn send(&self, server: &Server, count: usize) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..count {
            let (method, params) = ALL[sent.len() % ALL.len()];
            let id = format!("\"unasked-{}\"", sent.len());
            server.out.put(Kind::Note, &wire::request(&id, method, params));
            sent.insert(id, method);
        }
    }
}

impl Fault for Unasked {
    fn start(&self, server: &Arc<Server>) {
        self.send(server, self.count);
    }

    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if request.method == "tools/call" {
            self.send(server, ALL.len());
        }
        Take::Leave
    }

    fn response(&self, server: &Arc<Server>, id: &str, answer: Answer<'_>) -> Take {
        #[derive(Deserialize)]
        struct Code {
            code: i64,
        }
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(method) = sent.get(id) else { return Take::Leave };
        match answer {
            Answer::Result(_) => server.events.note(&["answered", method, "result"]),
            Answer::Error(raw) => {
                let code = serde_json::from_str::<Code>(raw.get()).map_or(0, |error| error.code);
                server.events.note(&["answered", method, "error", &code.to_string()]);
            }
        }
        Take::Mine
    }
}

struct Again {
    questions: &'static [Question],
    round: AtomicUsize,
    /// The call that all this is about: the client's answers may come on another way.
    caller: Mutex<Option<Arc<Server>>>,
}

impl Again {
    fn next(&self) -> (usize, Question) {
        let round = self.round.fetch_add(1, Ordering::Relaxed);
        (round, self.questions[round % self.questions.len()])
    }

    fn ask(&self, server: &Server) {
        let (round, (method, params)) = self.next();
        server.events.note(&["asked", &round.to_string()]);
        server.out.put(Kind::Note, &wire::request(&format!("\"again-{round}\""), method, params));
    }
}

impl Fault for Again {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        if request.speech == Speech::Legacy {
            *self.caller.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(server));
            self.ask(server);
        } else {
            let (round, question) = self.next();
            server.events.note(&["asked", &round.to_string()]);
            let key = format!("question-{round}");
            server.answer_call(&wire::input_required(request.id, &key, question, &key));
        }
        Take::Mine
    }

    /// Whatever the answer was, it was not the right one.
    fn response(&self, server: &Arc<Server>, id: &str, _: Answer<'_>) -> Take {
        if !id.starts_with("\"again-") {
            return Take::Leave;
        }
        std::thread::sleep(Duration::from_millis(1));
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.ask(caller.as_ref().unwrap_or(server));
        Take::Mine
    }
}
