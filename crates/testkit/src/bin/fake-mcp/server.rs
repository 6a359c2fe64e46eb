//! What every message goes through, whatever brought it: events, cuts, faults, era, method.

use std::collections::HashMap;
use std::ops::Deref;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use crate::cut::Step;
use crate::era::{self, Verdict};
use crate::faults::{Fault, Take};
use crate::house::House;
use crate::out::{Kind, Out};
use crate::tools::Interview;
use crate::wire::{self, Message, Request, Speech, code};
use crate::{list, offered, tools};

/// One conversation, as one request of it sees it.
pub(crate) struct Server {
    house: Arc<House>,
    /// Where the answers to what is read go.
    pub(crate) out: Arc<Out>,
    state: Talk,
    /// The `Authorization` of the HTTP request that brought it.
    pub(crate) credential: Option<String>,
}

/// The state of a conversation, for all who take part in it.
pub(crate) type Talk = Arc<Mutex<State>>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) initialized: bool,
    pub(crate) discovered: bool,
    /// Calls that will be answered later, by id, each with where its answer goes.
    pub(crate) open: HashMap<String, Arc<Out>>,
    /// Our requests to the client, each with the call that waits for it.
    pub(crate) asked: HashMap<String, Waiting>,
    /// The same for calls that ask more than once.
    pub(crate) interviews: HashMap<String, Arc<Mutex<Interview>>>,
}

/// A call that waits for an answer of the client.
pub(crate) struct Waiting {
    pub(crate) call: String,
    pub(crate) server: Arc<Server>,
}

/// What the client answered to a request of ours.
#[derive(Clone, Copy)]
pub(crate) enum Answer<'a> {
    Result(&'a RawValue),
    Error(&'a RawValue),
}

impl Deref for Server {
    type Target = House;

    fn deref(&self) -> &House {
        &self.house
    }
}

impl Server {
    pub(crate) fn new(house: Arc<House>, out: Arc<Out>, state: Talk) -> Self {
        Self { house, out, state, credential: None }
    }

    pub(crate) fn with_credential(self, credential: Option<&str>) -> Self {
        Self { credential: credential.map(str::to_owned), ..self }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the answer to a call.
    pub(crate) fn answer_call(&self, line: &[u8]) {
        if let Some(how) = self.cut.due(Step::Head) {
            return self.out.tear(Kind::CallAnswer, line, 0, how);
        }
        if let Some(how) = self.cut.due(Step::Half) {
            return self.out.tear(Kind::CallAnswer, line, line.len() / 2, how);
        }
        match self.cut.due(Step::Answer) {
            None => self.out.put(Kind::CallAnswer, line),
            Some(how) => self.out.put_and_sever(Kind::CallAnswer, line, how),
        }
    }

    pub(crate) fn answer(&self, line: &[u8]) {
        self.out.put(Kind::Answer, line);
    }

    /// Deals with one message; what it gives rise to may come later.
    pub(crate) fn take(self: &Arc<Self>, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else {
            return self.out.refuse(400, &wire::unreadable(line));
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

    /// The client no longer waits for this answer.
    pub(crate) fn cancelled(&self, id: &str) {
        let interviews = self.state().interviews.clone();
        for (question, _) in interviews.iter().filter(|(_, interview)| tools::is_of(interview, id)) {
            self.state().interviews.remove(question);
        }
        let open = self.state().open.remove(id);
        self.house.unsubscribe(id, &self.out);
        self.events.note(&["cancelled", &wire::bare_text(id)]);
        if let Some(out) = open {
            out.finish();
        }
    }

    fn request(self: &Arc<Self>, request: &Request<'_>) {
        self.note(request);
        if let Some(how) = step(request.method).and_then(|step| self.cut.due(step)) {
            return self.out.sever(how);
        }
        if let Some(fault) = &self.fault
            && fault.request(self, request) == Take::Mine
        {
            return;
        }
        match era::verdict(self, request) {
            Verdict::Served => {}
            Verdict::Refused(line) => return self.out.refuse(era::status(request.speech, 400), &line),
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
            ("subscriptions/listen", Speech::Modern) if self.options.tells_changes => self.listen(id),
            ("ping" | "logging/setLevel", Speech::Legacy) => self.answer(&wire::result(id, speech, |_| ())),
            _ if offered::serve(self, request) => {}
            _ => {
                let line = wire::error(id, code::NO_METHOD, "method not found", "");
                self.out.refuse(era::status(speech, 404), &line);
            }
        }
    }

    fn note(&self, request: &Request<'_>) {
        if !self.events.are_kept() {
            return;
        }
        match request.method {
            "initialize" => {
                self.events.note(&["initialize"]);
                self.events.note_exactly("greeted", request.raw_params());
            }
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
        self.cancelled(id.get());
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
        self.house.subscribe(id, &self.out);
        let more = match self.options.offers {
            Some(_) => ",\"resourcesListChanged\":true,\"promptsListChanged\":true",
            None => "",
        };
        let params = format!(
            "{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\
             \"notifications\":{{\"toolsListChanged\":true{more}}}}}"
        );
        self.out.put(Kind::Note, &wire::note("notifications/subscriptions/acknowledged", &params));
        if let Some(how) = self.cut.due(Step::Listen) {
            self.out.sever(how);
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
