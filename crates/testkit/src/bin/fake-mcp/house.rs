//! What all conversations of one process share. Over stdio there is one conversation; over HTTP one per
//! session in the legacy era and one per request in the modern one.

use std::process;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::corpus::Corpus;
use crate::cut::{Cut, Step};
use crate::events::Events;
use crate::faults::Fault;
use crate::http::HttpFault;
use crate::later::Later;
use crate::options::Options;
use crate::out::{Kind, Out};
use crate::signals::{self, Obedience};
use crate::wire;

pub(crate) struct House {
    pub(crate) options: Options,
    pub(crate) events: Arc<Events>,
    pub(crate) later: Arc<Later>,
    /// The file descriptors that were open at start, and what they are.
    pub(crate) inherited: Vec<(u32, String)>,
    /// The definitions of `--tools FILE`, in place of our own.
    pub(crate) corpus: Option<Corpus>,
    pub(crate) fault: Option<Arc<dyn Fault>>,
    pub(crate) cut: Cut,
    /// Tools that `grow` added.
    pub(crate) grown: AtomicUsize,
    audience: Mutex<Vec<Listener>>,
}

/// One who is told of changes.
struct Listener {
    /// The JSON-RPC id of a modern subscription.
    subscription: Option<String>,
    out: Arc<Out>,
}

impl House {
    /// Everything up to the first byte: events, signals, the greeting, the delay, the first cut.
    pub(crate) fn open(
        options: Options,
        corpus: Option<Corpus>,
        fault: Option<Arc<dyn Fault>>,
        inherited: Vec<(u32, String)>,
    ) -> Arc<Self> {
        let events = Arc::new(Events::open(options.events.as_deref()));
        let obedience = fault.as_ref().map_or(Obedience::Dies, |fault| fault.obedience());
        signals::watch(Arc::clone(&events), obedience);
        events.note(&["start", &process::id().to_string()]);
        if let Some(text) = &options.stderr {
            eprintln!("{text}");
        }
        thread::sleep(options.start_delay);
        let house = Arc::new(Self {
            cut: Cut::new(options.cut, options.once.clone()),
            later: Arc::default(),
            grown: AtomicUsize::new(0),
            audience: Mutex::default(),
            options,
            corpus,
            events,
            inherited,
            fault,
        });
        if !house.cut.spares_the_process() {
            house.cut.at(Step::Start);
        }
        house
    }

    /// The fault, if it is one of HTTP.
    pub(crate) fn http_fault(&self) -> Option<&dyn HttpFault> {
        self.fault.as_ref()?.http()
    }

    /// The definition of a tool that is not one of the good server's own.
    pub(crate) fn definition(&self, name: &str) -> Option<&str> {
        let recorded = self.corpus.as_ref().and_then(|corpus| corpus.named(name));
        recorded.or_else(|| self.fault.as_ref()?.definition(name))
    }

    /// From now on `out` is told of changes, untagged.
    pub(crate) fn tell(&self, out: &Arc<Out>) {
        self.add(None, out);
    }

    /// The same, tagged with the id of a subscription.
    pub(crate) fn subscribe(&self, id: &str, out: &Arc<Out>) {
        self.add(Some(id.to_owned()), out);
    }

    pub(crate) fn unsubscribe(&self, id: &str, out: &Arc<Out>) {
        let other = |listener: &Listener| {
            !Arc::ptr_eq(&listener.out, out) || listener.subscription.as_deref() != Some(id)
        };
        self.audience.lock().unwrap_or_else(PoisonError::into_inner).retain(other);
    }

    /// Says that the tools are others now, and whatever else it has.
    pub(crate) fn tools_changed(&self) {
        let nothing = serde_json::json!({});
        self.say("notifications/tools/list_changed", &nothing);
        if self.options.offers.is_some() {
            self.say("notifications/resources/list_changed", &nothing);
            self.say("notifications/prompts/list_changed", &nothing);
        }
    }

    /// Says something to each subscription, and untagged to who has none.
    pub(crate) fn say(&self, method: &str, params: &serde_json::Value) {
        let mut audience = self.audience.lock().unwrap_or_else(PoisonError::into_inner);
        audience.retain(|listener| !listener.out.is_gone());
        for Listener { subscription, out } in &*audience {
            let tagged = |other: &Listener| other.subscription.is_some() && Arc::ptr_eq(&other.out, out);
            let mut params = params.clone();
            match subscription {
                Some(id) => {
                    let id = serde_json::from_str(id).unwrap_or(serde_json::Value::Null);
                    params["_meta"] = serde_json::json!({"io.modelcontextprotocol/subscriptionId": id});
                }
                None if audience.iter().any(tagged) => continue,
                None => {}
            }
            out.put(Kind::Note, &wire::note(method, &params.to_string()));
        }
    }

    fn add(&self, subscription: Option<String>, out: &Arc<Out>) {
        let listener = Listener { subscription, out: Arc::clone(out) };
        self.audience.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    }
}
