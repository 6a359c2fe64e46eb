//! What is counted, for Prometheus. Handles are fetched once for each server; a call adds to numbers and formats nothing.
//! Labels are servers, kinds and reasons, never users, tools or anything a client says: there are only so many.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use kitbag::{ErrorKind, ServerName};
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder as _};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::access::Refused;
use crate::load::Overload;

/// More servers than this are counted together.
const SERVERS: usize = 1_000;
/// What they are called then.
const OTHERS: &str = "(others)";

/// Seconds that calls take.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];

const META: Metadata<'static> = Metadata::new("kitbag", Level::INFO, None);

/// Every number of one endpoint.
pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    servers: RwLock<HashMap<ServerName, Arc<OfServer>>>,
    /// Calls that mean no server.
    nobody: OfServer,
    others: OnceLock<Arc<OfServer>>,
    refused: [Counter; Refused::ALL.len()],
    limited: [Counter; Overload::ALL.len()],
    streams: Gauge,
}

/// The numbers of one server's calls.
struct OfServer {
    name: String,
    /// By how they ended: well, or with a kind of error. Made when there is one.
    calls: [OnceLock<Counter>; ErrorKind::ALL.len() + 1],
    durations: Histogram,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let builder = PrometheusBuilder::new().set_buckets(&BUCKETS);
        // The buckets are ours and not empty; without them there would be quantiles.
        let recorder = builder.unwrap_or_else(|_| PrometheusBuilder::new()).build_recorder();
        describe(&recorder);
        let refused = Refused::ALL
            .map(|refused| counter(&recorder, "kitbag_refused_total", &[("reason", refused.as_str())]));
        let limited =
            Overload::ALL.map(|what| counter(&recorder, "kitbag_limited_total", &[("what", what.as_str())]));
        Self {
            handle: recorder.handle(),
            nobody: OfServer::new(&recorder, ""),
            servers: RwLock::default(),
            others: OnceLock::new(),
            refused,
            limited,
            streams: recorder.register_gauge(&Key::from_name("kitbag_streams"), &META),
            recorder,
        }
    }

    /// A call ended, so, after this long.
    pub(crate) fn called(&self, server: Option<&ServerName>, kind: Option<ErrorKind>, took: Duration) {
        match server {
            None => self.nobody.called(&self.recorder, kind, took),
            Some(server) => self.of(server).called(&self.recorder, kind, took),
        }
    }

    /// Somebody was not let in.
    pub(crate) fn refused(&self, refused: Refused) {
        if let Some(at) = Refused::ALL.iter().position(|known| *known == refused) {
            self.refused[at].increment(1);
        }
    }

    /// Somebody asked for more than they may.
    pub(crate) fn limited(&self, what: Overload) {
        if let Some(at) = Overload::ALL.iter().position(|known| *known == what) {
            self.limited[at].increment(1);
        }
    }

    /// A stream was opened; it is closed when this is dropped.
    pub(crate) fn stream(&self) -> OpenStream {
        self.streams.increment(1.0);
        OpenStream(self.streams.clone())
    }

    /// The page, as Prometheus reads it.
    pub(crate) fn page(&self) -> String {
        self.handle.render()
    }

    /// Takes together what was measured since the last time; without it every call would be kept.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    fn of(&self, server: &ServerName) -> Arc<OfServer> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = servers.get(server) {
            return known.clone();
        }
        drop(servers);
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        if SERVERS <= servers.len() && !servers.contains_key(server) {
            return self.others.get_or_init(|| OfServer::new(&self.recorder, OTHERS).into()).clone();
        }
        let new = || Arc::new(OfServer::new(&self.recorder, server.as_str()));
        servers.entry(server.clone()).or_insert_with(new).clone()
    }
}

impl OfServer {
    fn new(recorder: &PrometheusRecorder, name: &str) -> Self {
        let key =
            Key::from_parts("kitbag_call_duration_seconds", vec![Label::new("server", name.to_owned())]);
        let durations = recorder.register_histogram(&key, &META);
        Self { name: name.to_owned(), calls: [const { OnceLock::new() }; _], durations }
    }

    fn called(&self, recorder: &PrometheusRecorder, kind: Option<ErrorKind>, took: Duration) {
        let at = kind.and_then(|kind| ErrorKind::ALL.iter().position(|known| *known == kind));
        let word = kind.map_or("ok", ErrorKind::as_str);
        let new = || counter(recorder, "kitbag_calls_total", &[("server", &self.name), ("kind", word)]);
        self.calls[at.map_or(0, |at| at + 1)].get_or_init(new).increment(1);
        self.durations.record(took.as_secs_f64());
    }
}

/// A stream that is open.
pub(crate) struct OpenStream(Gauge);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

fn counter(recorder: &PrometheusRecorder, name: &'static str, labels: &[(&'static str, &str)]) -> Counter {
    let labels: Vec<Label> =
        labels.iter().map(|(key, value)| Label::new(*key, (*value).to_owned())).collect();
    recorder.register_counter(&Key::from_parts(name, labels), &META)
}

fn describe(recorder: &PrometheusRecorder) {
    let counters = [
        ("kitbag_calls_total", "Calls of tools, by server and how they ended."),
        ("kitbag_refused_total", "Requests that were not let in, by reason."),
        ("kitbag_limited_total", "Requests and calls beyond the limits of their user."),
    ];
    for (name, what) in counters {
        recorder.describe_counter(name.into(), None, what.into());
    }
    recorder.describe_gauge("kitbag_streams".into(), None, "Streams of events that are open.".into());
    let what = "How long calls of tools took.";
    recorder.describe_histogram("kitbag_call_duration_seconds".into(), None, what.into());
}

#[cfg(test)]
mod tests;
