//! The reader loop and what every request goes through: events, cuts, faults, era, method.

use std::collections::{HashMap, HashSet};
use std::process::{self, ExitCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::value::RawValue;

use crate::corpus::Corpus;
use crate::cut::{self, Cut, Step};
use crate::era::{self, Verdict};
use crate::events::Events;
use crate::faults::{Fault, Take};
use crate::later::Later;
use crate::options::Options;
use crate::out::{Kind, Out};
use crate::signals::{self, Obedience};
use crate::stdin::Lines;
use crate::wire::{self, IdOnly, Message, Request, Speech, code};
use crate::{list, tools};

pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) out: Out,
    pub(crate) events: Arc<Events>,
    pub(crate) later: Arc<Later>,
    /// The file descriptors that were open at start, and what they are.
    pub(crate) inherited: Vec<(u32, String)>,
    /// The definitions of `--tools FILE`, in place of our own.
    pub(crate) corpus: Option<Corpus>,
    pub(crate) fault: Option<Arc<dyn Fault>>,
    cut: Cut,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) initialized: bool,
    pub(crate) discovered: bool,
    /// Tools that `grow` added.
    pub(crate) grown: usize,
    /// Calls that will be answered later, by id.
    pub(crate) open: HashSet<String>,
    /// Our requests to the client, each with the call that waits for it.
    pub(crate) asked: HashMap<String, String>,
    /// Subscriptions of the modern era, by the id of their request.
    listens: Vec<String>,
}

/// What the client answered to a request of ours.
#[derive(Clone, Copy)]
pub(crate) enum Answer<'a> {
    Result(&'a RawValue),
    Error(&'a RawValue),
}

/// Serves until stdin ends.
pub(crate) fn run(
    options: Options,
    corpus: Option<Corpus>,
    fault: Option<Arc<dyn Fault>>,
    inherited: Vec<(u32, String)>,
) -> ExitCode {
    let events = Arc::new(Events::open(options.events.as_deref()));
    let obedience = fault.as_ref().map_or(Obedience::Dies, |fault| fault.obedience());
    signals::watch(Arc::clone(&events), obedience);
    events.note(&["start", &process::id().to_string()]);
    if let Some(text) = &options.stderr {
        eprintln!("{text}");
    }
    thread::sleep(options.start_delay);
    let server = Arc::new(Server {
        cut: Cut::new(options.cut, options.once.clone()),
        out: Out::new(fault.clone()),
        later: Arc::default(),
        state: Mutex::default(),
        options,
        corpus,
        events,
        inherited,
        fault,
    });
    server.cut.at(Step::Start);
    if let Some(fault) = &server.fault {
        fault.start(&server);
        server.out.flush();
    }
    server.read();
    server.events.note(&["stdin-eof"]);
    ExitCode::SUCCESS
}

impl Server {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the answer to a call.
    pub(crate) fn answer_call(&self, line: &[u8]) {
        if let Some(how) = self.cut.due(Step::Half) {
            self.out.raw(&line[..line.len() / 2]);
            cut::end(how);
        }
        self.out.put(Kind::CallAnswer, line);
        self.cut_at(Step::Answer);
    }

    pub(crate) fn answer(&self, line: &[u8]) {
        self.out.put(Kind::Answer, line);
    }

    /// Says that the tools are others now: to each subscription, or to all if there is none.
    pub(crate) fn tools_changed(&self) {
        const CHANGED: &str = "notifications/tools/list_changed";
        let listens = self.state().listens.clone();
        if listens.is_empty() {
            self.out.put(Kind::Note, &wire::note(CHANGED, "{}"));
        }
        for id in listens {
            let params = format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}");
            self.out.put(Kind::Note, &wire::note(CHANGED, &params));
        }
    }

    fn read(self: &Arc<Self>) {
        let mut lines = Lines::new();
        let mut line = Vec::new();
        while lines.next_into(&mut line) {
            if !line.is_empty() {
                self.take(&line);
            }
            if !lines.has_more() {
                self.out.flush();
            }
        }
    }

    fn take(self: &Arc<Self>, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else {
            let known = serde_json::from_slice::<IdOnly<'_>>(line).ok().and_then(|known| known.id);
            let answer = match known {
                Some(id) => wire::error(id.get(), code::BAD_PARAMS, "invalid params", ""),
                None => wire::error("null", code::PARSE, "parse error", ""),
            };
            return self.answer(&answer);
        };
        match (&*message.method, message.id) {
            ("", Some(id)) => self.answered(id.get(), &message),
            ("", None) => {}
            (method, None) => self.notified(method, &message),
            (method, Some(id)) => {
                let speech = era::speech(self, method, &message.params);
                let params = &message.params;
                self.request(&Request { id: id.get(), method, params, speech, line });
            }
        }
    }

    fn request(self: &Arc<Self>, request: &Request<'_>) {
        self.note(request);
        if let Some(step) = step(request.method) {
            self.cut_at(step);
        }
        if let Some(fault) = &self.fault
            && fault.request(self, request) == Take::Mine
        {
            return;
        }
        match era::verdict(self, request) {
            Verdict::Served => {}
            Verdict::Refused(line) => return self.answer(&line),
            Verdict::Silence => return,
            Verdict::Exit => process::exit(1),
        }
        self.serve(request);
        if let Some(fault) = &self.fault {
            fault.after(self, request);
        }
    }

    fn serve(self: &Arc<Self>, request: &Request<'_>) {
        let Request { id, method, speech, .. } = *request;
        match (method, speech) {
            ("tools/call", _) => tools::call(self, request),
            ("tools/list", _) => self.answer(&list::answer(self, request)),
            ("initialize", _) => era::initialize(self, request),
            ("server/discover", _) => era::discover(self, request),
            ("subscriptions/listen", Speech::Modern) => self.listen(id),
            ("ping" | "logging/setLevel", Speech::Legacy) => self.answer(&wire::result(id, speech, |_| ())),
            _ => self.answer(&wire::error(id, code::NO_METHOD, "method not found", "")),
        }
    }

    fn note(&self, request: &Request<'_>) {
        if !self.events.are_kept() {
            return;
        }
        match request.method {
            "initialize" => self.events.note(&["initialize"]),
            "server/discover" => self.events.note(&["discover"]),
            "subscriptions/listen" => self.events.note(&["listen"]),
            "tools/list" => self.events.note(&["list"]),
            "tools/call" => self.events.note(&["call", &request.params.name, &tools::token(request)]),
            _ => {}
        }
    }

    fn notified(&self, method: &str, message: &Message<'_>) {
        if method != "notifications/cancelled" {
            return;
        }
        let Some(id) = message.params.request_id else { return };
        let mut state = self.state();
        state.open.remove(id.get());
        state.listens.retain(|listen| listen != id.get());
        drop(state);
        self.events.note(&["cancelled", &wire::bare(id)]);
    }

    fn answered(self: &Arc<Self>, id: &str, message: &Message<'_>) {
        let answer = match (message.result, message.error) {
            (_, Some(error)) => Answer::Error(error),
            (Some(result), None) => Answer::Result(result),
            (None, None) => return,
        };
        let mine = |fault: &Arc<dyn Fault>| fault.response(self, id, answer) == Take::Mine;
        if !self.fault.as_ref().is_some_and(mine) {
            tools::answered(self, id, answer);
        }
    }

    /// The request stays open: the acknowledgement is all it gets.
    fn listen(&self, id: &str) {
        self.state().listens.push(id.to_owned());
        let params = format!(
            "{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\
             \"notifications\":{{\"toolsListChanged\":true}}}}"
        );
        self.out.put(Kind::Note, &wire::note("notifications/subscriptions/acknowledged", &params));
    }

    fn cut_at(&self, step: Step) {
        if let Some(how) = self.cut.due(step) {
            self.out.flush();
            cut::end(how);
        }
    }
}

fn step(method: &str) -> Option<Step> {
    match method {
        "initialize" | "server/discover" => Some(Step::Handshake),
        "tools/list" => Some(Step::List),
        "tools/call" => Some(Step::Request),
        _ => None,
    }
}
