//! Tools that take their time or say something before the answer. None of them blocks the reader.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::{Done, arguments};
use crate::out::Kind;
use crate::server::Server;
use crate::wire::{self, Request, Speech};

#[derive(Deserialize)]
struct Pace {
    n: Option<usize>,
    ms: Option<u64>,
}

pub(super) fn sleep(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let Some(Pace { ms, .. }) = arguments(request) else { return Done::BadArguments };
    let ms = ms.unwrap_or(0);
    let line = wire::text_result(request.id, request.speech, &format!("\"slept {ms} ms\""));
    let id = request.id.to_owned();
    server.state().open.insert(id.clone(), Arc::clone(&server.out));
    let own = Arc::clone(server);
    server.later.after(Duration::from_millis(ms), move || {
        if own.state().open.remove(&id).is_some() {
            own.answer_call(&line);
            own.out.flush();
        }
    });
    Done::Elsewhere
}

pub(super) fn progress(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let Some(Pace { n, ms }) = arguments(request) else { return Done::BadArguments };
    Steps::start(server, request, n.unwrap_or(3), ms.unwrap_or(0))
}

pub(super) fn slow_progress(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let Some(Pace { n, ms }) = arguments(request) else { return Done::BadArguments };
    Steps::start(server, request, n.unwrap_or(20), ms.unwrap_or(250))
}

pub(super) fn log(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let Some(Pace { n, .. }) = arguments(request) else { return Done::BadArguments };
    let n = n.unwrap_or(3);
    // The modern era logs only for requests that ask for it.
    if request.speech == Speech::Legacy || request.params.meta.log_level.is_some() {
        for number in 1..=n {
            let mut line = Vec::new();
            wire::log(&mut line, number);
            server.out.put(Kind::Note, &line);
        }
    }
    Done::Answer(wire::text_result(request.id, request.speech, &format!("\"logged {n}\"")))
}

/// A call that reports progress; its own state between two reports.
struct Steps {
    id: String,
    token: Option<String>,
    speech: Speech,
    done: usize,
    total: usize,
    pause: Duration,
}

impl Steps {
    fn start(server: &Arc<Server>, request: &Request<'_>, total: usize, ms: u64) -> Done {
        let steps = Self {
            id: request.id.to_owned(),
            token: request.params.meta.progress_token.map(|token| token.get().to_owned()),
            speech: request.speech,
            done: 0,
            total,
            pause: Duration::from_millis(ms),
        };
        server.state().open.insert(steps.id.clone(), Arc::clone(&server.out));
        if ms == 0 {
            (0..total).for_each(|done| steps.report(server, done + 1));
            steps.finish(server);
        } else {
            steps.next(Arc::clone(server));
        }
        Done::Elsewhere
    }

    fn next(mut self, server: Arc<Server>) {
        let later = Arc::clone(&server.later);
        later.after(self.pause, move || {
            if !server.state().open.contains_key(&self.id) {
                return;
            }
            self.done += 1;
            if self.done <= self.total {
                self.report(&server, self.done);
                server.out.flush();
                self.next(server);
            } else {
                self.finish(&server);
                server.out.flush();
            }
        });
    }

    fn report(&self, server: &Server, done: usize) {
        let Some(token) = &self.token else { return };
        let mut line = Vec::new();
        wire::progress(&mut line, token, done, self.total);
        server.out.put(Kind::Note, &line);
    }

    fn finish(&self, server: &Server) {
        if server.state().open.remove(&self.id).is_some() {
            let text = format!("\"{} steps\"", self.total);
            server.answer_call(&wire::text_result(&self.id, self.speech, &text));
        }
    }
}
