//! A model behind an API over HTTP: one request, tried again while its host is busy and nothing of a reply was seen, its
//! answer taken apart as it comes in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kitbag::connect::api::{ApiHost, retry_time};
use kitbag::{Env, Limits, Secret};
use kitbag_core::text::{Redactor, one_line};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::error::Said;
use super::frames::Frames;
use super::wire::{Asked, Assembly, Broken};
use super::{Model, ModelAt, ModelError, ModelEvent, ModelId, Prompt, Reply};

/// Where the events of one request go.
type Events = mpsc::Sender<Result<ModelEvent, ModelError>>;

/// Events that wait for their reader.
const AHEAD: usize = 64;
/// What is read of an answer that refuses.
const PAGE: usize = 64 << 10;
/// What is quoted of it.
const QUOTED: usize = 300;

/// A model behind an API over HTTP.
#[derive(Clone)]
pub struct HttpModel(Arc<Inner>);

struct Inner {
    id: ModelId,
    host: ApiHost,
    headers: Vec<(&'static str, HeaderValue)>,
    redactor: Redactor,
    limits: Limits,
}

impl HttpModel {
    /// A model at an address; why it cannot be asked there otherwise. Nothing is connected.
    pub fn new(
        id: ModelId,
        base: &str,
        key: Option<Secret>,
        env: &Env,
        limits: &Limits,
    ) -> Result<Self, String> {
        let host = ApiHost::new(base, env, limits).map_err(|reason| reason.to_string())?;
        let header = |(name, value): (&'static str, String)| {
            let value = HeaderValue::try_from(value);
            let mut value = value.map_err(|_| "the key has characters that no header can have".to_owned())?;
            value.set_sensitive(true);
            Ok((name, value))
        };
        let redactor = Redactor::new(&key);
        let key = key.as_ref().map(Secret::expose);
        let headers =
            id.vendor.row().wire.headers(key).into_iter().map(header).collect::<Result<_, String>>()?;
        Ok(Self(Arc::new(Inner { id, host, headers, redactor, limits: limits.clone() })))
    }

    /// Where it is asked, without secrets.
    pub fn host(&self) -> &str {
        self.0.host.shown()
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("id", &self.0.id)
            .field("host", &self.host())
            .finish_non_exhaustive()
    }
}

impl Model for HttpModel {
    fn id(&self) -> &ModelId {
        &self.0.id
    }

    fn at(&self) -> ModelAt {
        self.0.at()
    }

    fn stream(&self, prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let inner = self.0.clone();
        let asked = Asked { prompt, model: &inner.id, most_tokens: inner.limits.model_tokens };
        let written = inner.id.vendor.row().wire.request(asked);
        let written = match written {
            Ok(written) => written,
            Err(error) => {
                let error = ModelError::Malformed { at: inner.at(), why: error.to_string() };
                return stream::once(std::future::ready(Err(error))).boxed();
            }
        };
        let (sender, mut events) = mpsc::channel(AHEAD);
        // Driven by whoever reads the events: nothing goes on once they are dropped.
        let asking = async move {
            let done = inner.ask(&written.path, written.body, &sender).await;
            let _ = sender.send(done.map(ModelEvent::End)).await;
        };
        let asking = stream::once(asking).filter_map(async |()| None);
        let events = stream::poll_fn(move |context| events.poll_recv(context));
        stream::select(events, asking).boxed()
    }
}

/// How a try ended that came to nothing.
struct Failed {
    error: ModelError,
    /// How long to wait before another try could help; none where it could not.
    again: Option<Option<Duration>>,
}

impl Failed {
    fn for_good(error: ModelError) -> Self {
        Self { error, again: None }
    }
}

impl Inner {
    fn at(&self) -> ModelAt {
        ModelAt { model: self.id.clone(), host: self.host.shown().to_owned() }
    }

    async fn ask(&self, path: &str, body: Vec<u8>, events: &Events) -> Result<Reply, ModelError> {
        let limits = &self.limits;
        let body = Bytes::from(body);
        let mut pause = limits.model_backoff;
        let mut tries = 0;
        loop {
            tries += 1;
            let mut seen = false;
            let failed = match self.try_once(path, body.clone(), events, &mut seen, tries).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let Some(asked) = failed.again.filter(|_| !seen && tries < limits.model_tries) else {
                return Err(failed.error);
            };
            // A little later than others that were sent away at the same moment.
            let wait = asked.unwrap_or_else(|| pause.mul_f64(1.0 + fastrand::f64() / 4.0));
            if limits.model_backoff_most < wait {
                return Err(failed.error);
            }
            let _ = events.send(Ok(ModelEvent::Retrying { error: failed.error })).await;
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(limits.model_backoff_most);
        }
    }

    async fn try_once(
        &self,
        path: &str,
        body: Bytes,
        events: &Events,
        seen: &mut bool,
        tries: usize,
    ) -> Result<Reply, Failed> {
        let mut request = self.host.post(path).header(CONTENT_TYPE, "application/json").body(body);
        for (name, value) in &self.headers {
            request = request.header(*name, value.clone());
        }
        let first = self.limits.model_first;
        let sent = timeout(first, request.send()).await;
        let sent = sent.map_err(|_| Failed::for_good(self.silent(first, "model_first")))?;
        let response = sent.map_err(|error| self.unreachable(&error, tries))?;
        if !response.status().is_success() {
            return Err(self.refused(response, tries).await);
        }
        self.read(response, events, seen).await
    }

    /// Reads a reply. Nothing is waited for but the host and whoever reads the events.
    async fn read(&self, mut response: Response, events: &Events, seen: &mut bool) -> Result<Reply, Failed> {
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let limits = &self.limits;
        let mut frames = Frames::of(kind, limits.model_reply);
        let mut assembly = self.id.vendor.row().wire.assembly();
        let (mut read, mut wait, mut limit) = (0, limits.model_first, "model_first");
        loop {
            let chunk = timeout(wait, response.chunk()).await;
            let chunk = chunk.map_err(|_| Failed::for_good(self.silent(wait, limit)))?;
            let chunk = chunk.map_err(|error| self.cut(&self.host.reason(&error).root))?;
            let Some(chunk) = chunk else { break };
            (wait, limit) = (limits.model_idle, "model_idle");
            read += chunk.len();
            let too_large =
                || Failed::for_good(ModelError::TooLarge { at: self.at(), limit: limits.model_reply });
            if limits.model_reply < read {
                return Err(too_large());
            }
            for data in frames.take(&chunk).map_err(|_| too_large())? {
                self.piece(&mut *assembly, &data, events, seen).await?;
            }
        }
        if let Some(rest) = frames.end() {
            self.piece(&mut *assembly, &rest, events, seen).await?;
        }
        let whole = assembly.end().map_err(|broken| self.broken(broken))?;
        Ok(Reply { model: self.id.clone(), raw: whole.raw, usage: whole.usage, stop: whole.stop })
    }

    async fn piece(
        &self,
        assembly: &mut dyn Assembly,
        data: &[u8],
        events: &Events,
        seen: &mut bool,
    ) -> Result<(), Failed> {
        let text = std::str::from_utf8(data)
            .map_err(|_| self.broken(Broken::Malformed("it is not UTF-8".into())))?;
        let mut told = Vec::new();
        let taken = assembly.take(text, &mut told);
        for event in told {
            *seen = true;
            // Nobody reads any more, and then this is not driven either.
            let _ = events.send(Ok(event)).await;
        }
        taken.map_err(|broken| self.broken(broken))
    }

    fn silent(&self, after: Duration, limit: &'static str) -> ModelError {
        ModelError::Silent { at: self.at(), after, limit }
    }

    fn cut(&self, why: &str) -> Failed {
        let error = ModelError::Cut { at: self.at(), why: self.said(why) };
        Failed { error, again: Some(None) }
    }

    fn broken(&self, broken: Broken) -> Failed {
        match broken {
            Broken::Cut => self.cut("it ended early"),
            Broken::Malformed(why) => {
                Failed::for_good(ModelError::Malformed { at: self.at(), why: self.said(&why) })
            }
            Broken::Failed { said, is_busy } => {
                let error = ModelError::Failed { at: self.at(), said: Said(Some(self.said(&said))) };
                Failed { error, again: is_busy.then_some(None) }
            }
        }
    }

    fn unreachable(&self, error: &reqwest::Error, tries: usize) -> Failed {
        let reason = self.host.reason(error);
        let variable = self.id.vendor.row().base_from[0];
        let error = ModelError::Unreachable { at: self.at(), why: reason.root, tries, variable };
        Failed { error, again: Some(None) }
    }

    async fn refused(&self, mut response: Response, tries: usize) -> Failed {
        let (status, wait) = (response.status().as_u16(), retry_time(response.headers()));
        let mut page = Vec::new();
        let read = async {
            while page.len() < PAGE
                && let Ok(Some(chunk)) = response.chunk().await
            {
                page.extend_from_slice(&chunk);
            }
        };
        let _ = timeout(self.limits.model_idle, read).await;
        page.truncate(PAGE);
        let wait = wait.or_else(|| retry_delay(&page));
        let said = Said(words(&page).map(|said| self.said(&said)));
        let (at, row) = (self.at(), self.id.vendor.row());
        let variable = row.base_from[0];
        match status {
            401 | 403 => {
                let variable = row.key_from.first().copied().unwrap_or(variable);
                Failed::for_good(ModelError::BadKey { at, status, said, variable })
            }
            404 => Failed::for_good(ModelError::UnknownModel { at, status, said, variable }),
            408 | 425 | 429 | 500.. => {
                let error = ModelError::Busy { at, status, said, tries, wait };
                // What is paid for is used up: it is not there again in a minute.
                let is_spent = has_words(&page, b"insufficient_quota");
                Failed { error, again: (!is_spent).then_some(wait) }
            }
            _ => Failed::for_good(ModelError::Refused { at, status, said }),
        }
    }

    /// What a host says: one line, bounded, without the key.
    fn said(&self, text: &str) -> String {
        let text = one_line(&self.redactor.mask(text));
        match text.char_indices().nth(QUOTED) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

fn has_words(page: &[u8], words: &[u8]) -> bool {
    page.windows(words.len()).any(|window| window == words)
}

/// How long a host asks to be left alone where it says so in its words, as Google does, and not in a header.
fn retry_delay(page: &[u8]) -> Option<Duration> {
    let value: serde_json::Value = serde_json::from_slice(page).ok()?;
    let value = value.get(0).unwrap_or(&value);
    let details = value.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// What an answer that refuses says, as JSON or as it is.
fn words(page: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(page);
    let text = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(value) => {
            let value = value.get(0).unwrap_or(&value);
            super::wire::said(value.get("error").unwrap_or(value))
        }
        Err(_) => text.into_owned(),
    };
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}
