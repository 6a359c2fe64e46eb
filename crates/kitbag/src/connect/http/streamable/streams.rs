//! Streams of events: the answer to one request, what an older server says on its own, and what a newer one was
//! asked to tell.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};

use super::super::super::peer::RequestError;
use super::super::super::reason::{Reason, ReasonClass};
use super::super::events::{Events, TooLong};
use super::super::headers::{About, LAST_EVENT, answers};
use super::super::reason::Trouble;
use super::super::remote::{Kind, kind_of};
use super::{Shared, Via};

/// How a stream ended.
enum Ended {
    /// With the answer that was waited for.
    Answered,
    /// Without.
    Early {
        why: Box<Reason>,
        /// How many messages came.
        heard: usize,
    },
}

impl Shared {
    /// The stream that answers a request. An older server's is taken up again where it broke off.
    pub(super) async fn take_events(
        &self,
        id: u64,
        mut answer: Response,
        about: &About,
        session: Option<HeaderValue>,
    ) -> Result<(), Trouble> {
        let mut events = Events::new(self.remote.limits.line);
        let mut tries = 0;
        loop {
            let ended = self.read(Via::Answer(id), &mut answer, &mut events, |line| {
                let answered = answers(line, id);
                if answered {
                    self.settle(about, session.clone(), line);
                }
                answered
            });
            let Ended::Early { mut why, heard } = ended.await? else {
                self.finish(answer).await;
                return Ok(());
            };
            tries = if 0 < heard { 0 } else { tries + 1 };
            answer = loop {
                let going_on = events.last_id().filter(|_| !about.is_modern);
                let Some(last) = going_on.filter(|_| tries <= self.remote.limits.resumes as u32) else {
                    return Err(Trouble::Broken(why));
                };
                let headers = self.going_on(last);
                tokio::time::sleep(self.pause(events.retry(), tries)).await;
                match self.remote.listen(headers).await {
                    Ok(answer) if answer.status().is_success() && kind_of(&answer) == Kind::Events => {
                        break answer;
                    }
                    Ok(answer) if answer.status().is_server_error() => {}
                    Ok(_) => return Err(Trouble::Broken(why)),
                    Err(Trouble::Unreachable(cause) | Trouble::Broken(cause)) => why = cause,
                    Err(trouble) => return Err(trouble),
                }
                tries += 1;
            };
            events.restart();
        }
    }

    /// Reads a stream to its end, which is mostly there already: only then the connection can be used again.
    async fn finish(&self, mut answer: Response) {
        let rest = async { while let Ok(Some(_)) = self.remote.chunk(&mut answer).await {} };
        let _ = tokio::time::timeout(self.remote.limits.resume / 10, rest).await;
    }

    /// What an older server says on its own: a second stream, if it has one.
    pub(super) async fn overhear(self: Arc<Self>) {
        let listening = async {
            let mut events = Events::new(self.remote.limits.line);
            let mut tries = 0;
            loop {
                let headers =
                    events.last_id().map_or_else(|| self.settled().clone(), |last| self.going_on(last));
                let answer = self.remote.listen(headers).await;
                self.overhears.cancel();
                match answer {
                    Ok(mut answer) if answer.status().is_success() && kind_of(&answer) == Kind::Events => {
                        let ended = self.read(Via::Elsewhere, &mut answer, &mut events, |_| false).await;
                        let heard = matches!(ended, Ok(Ended::Early { heard: 1.., .. }));
                        tries = if heard { 0 } else { tries + 1 };
                    }
                    Ok(answer) if answer.status() == StatusCode::NOT_FOUND && self.in_session() => {
                        let said = format!("answered {}", answer.status());
                        let reason = self.remote.because(ReasonClass::SessionLost, said);
                        return Some(Trouble::SessionGone { reason, maybe_done: false });
                    }
                    Ok(answer) if answer.status().is_server_error() => tries += 1,
                    // It has no such stream, and need not; then it cannot tell of changes either.
                    Ok(_) | Err(Trouble::Said(_)) => {
                        self.hand_on(Via::Elsewhere, TELLS_NOTHING.to_vec()).await;
                        return None;
                    }
                    Err(trouble @ Trouble::Unreachable(_)) => {
                        self.report(None, trouble).await;
                        tries += 1;
                    }
                    Err(Trouble::Broken(_) | Trouble::SessionGone { .. }) => tries += 1,
                }
                tokio::time::sleep(self.pause(events.retry(), tries)).await;
                events.restart();
            }
        };
        let trouble = tokio::select! {
            () = self.stop.cancelled() => return,
            trouble = listening => trouble,
        };
        if let Some(trouble) = trouble {
            self.report(None, trouble).await;
        }
    }

    /// Waits for the second stream, which some servers ask on in the middle of a call: what they ask before it
    /// stands is lost, and the call with it. One that does not come is not waited for longer than one that broke off.
    pub(super) async fn until_it_overhears(&self) {
        if !self.overhears.is_cancelled() {
            let _ = tokio::time::timeout(self.remote.limits.resume, self.overhears.cancelled()).await;
            // Once is enough.
            self.overhears.cancel();
        }
    }

    /// What a newer server was asked to tell. A stream that ends is asked for anew, under another id; what was
    /// missed meanwhile is found by listing again. One that ends again and again without having told anything is
    /// asked for ever more rarely.
    pub(super) async fn subscribe(self: Arc<Self>, line: Vec<u8>, about: About) {
        let telling = async {
            let mut tries = 0;
            for round in 0_u64.. {
                let Some(line) = renamed(&line, round) else { break };
                match self.remote.post(&self.remote.address.url, self.headers(&about), line).await {
                    Ok(mut answer) if answer.status().is_success() && kind_of(&answer) == Kind::Events => {
                        if 0 < round {
                            self.hand_on(Via::Elsewhere, LIST_CHANGED.to_vec()).await;
                        }
                        let mut events = Events::new(self.remote.limits.line);
                        let ended = self.read(Via::Elsewhere, &mut answer, &mut events, |_| false).await;
                        // The first message acknowledges the subscription.
                        let told = matches!(ended, Ok(Ended::Early { heard: 2.., .. }));
                        tries = if told { 0 } else { tries + 1 };
                    }
                    Ok(answer) if answer.status().is_server_error() => {
                        self.hand_on(Via::Elsewhere, TELLS_NOTHING.to_vec()).await;
                        tries += 1;
                    }
                    // It cannot tell, or says so in one answer.
                    Ok(_) | Err(Trouble::Said(_)) => break,
                    Err(trouble @ Trouble::Unreachable(_)) => {
                        self.report(None, trouble).await;
                        tries += 1;
                    }
                    Err(_) => tries += 1,
                }
                tokio::time::sleep(self.pause(None, tries)).await;
            }
            self.hand_on(Via::Elsewhere, TELLS_NOTHING.to_vec()).await;
        };
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = telling => {}
        }
    }

    fn in_session(&self) -> bool {
        self.settled().contains_key(super::SESSION)
    }

    /// The headers that take a stream up where it broke off.
    fn going_on(&self, last: &str) -> HeaderMap {
        let mut headers = self.settled().clone();
        if let Ok(last) = HeaderValue::from_str(last) {
            headers.insert(LAST_EVENT, last);
        }
        headers
    }

    /// Hands every message of a stream on, until one is the last or the stream ends.
    async fn read(
        &self,
        from: Via,
        answer: &mut Response,
        events: &mut Events,
        is_last: impl Fn(&[u8]) -> bool,
    ) -> Result<Ended, Trouble> {
        let mut heard = 0;
        loop {
            let chunk = match self.remote.chunk(answer).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => {
                    let why = self.remote.because(ReasonClass::Closed, "ended without an answer".to_owned());
                    return Ok(Ended::Early { why, heard });
                }
                Err(Trouble::Broken(why)) => return Ok(Ended::Early { why, heard }),
                Err(trouble) => return Err(trouble),
            };
            let mut bytes = &chunk[..];
            loop {
                let limit = self.remote.limits.line;
                let too_long = |TooLong(_)| Trouble::Said(RequestError::TooLarge { limit });
                let Some(event) = events.take(&mut bytes).map_err(too_long)? else { break };
                if !event.is_message() {
                    continue;
                }
                heard += 1;
                let last = is_last(event.data.trim_ascii());
                self.hand_on(from, event.data).await;
                if last {
                    return Ok(Ended::Answered);
                }
            }
        }
    }
}

const LIST_CHANGED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// What stands for a subscription that is none: nothing will be told.
const TELLS_NOTHING: &[u8] =
    br#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}"#;

/// The same request under an id of its own. The first keeps the one it has.
fn renamed(line: &[u8], round: u64) -> Option<Vec<u8>> {
    if round == 0 {
        return Some(line.to_vec());
    }
    let mut request: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line).ok()?;
    request.insert("id".to_owned(), format!("again-{round}").into());
    serde_json::to_vec(&request).ok()
}
