//! One run: something is said, the model answers and makes calls, until it has no more to call. The work is driven by whoever
//! reads the events, so dropping them ends it; what was written down by then is a conversation that can go on.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt as _};
use kitbag::{BoxFuture, Presentation, View};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::repeats::Repeats;
use super::report::{Ended, Report};
use super::{Agent, AgentError, AgentEvent, prompt};
use crate::conversation::{ChatItem, Masks, calls, said};
use crate::model::{ModelError, ModelEvent, Prompt, Reply, ReplyOptions, Stop};

/// Events that wait for their reader.
const AHEAD: usize = 64;

/// Where the events of a run go.
pub(super) type Events = mpsc::Sender<AgentEvent>;

/// One run of an agent, as a stream of its events.
#[must_use = "nothing happens until the events are read"]
pub struct Run<'a> {
    events: mpsc::Receiver<AgentEvent>,
    work: Option<BoxFuture<'a, Result<(), AgentError>>>,
    failed: Option<AgentError>,
}

impl<'a> Run<'a> {
    pub(super) fn new(agent: &'a mut Agent, text: String) -> Self {
        let (sender, events) = mpsc::channel(AHEAD);
        Self { events, work: Some(Box::pin(agent.work(text, sender))), failed: None }
    }

    /// The next event; none after the last one.
    pub async fn next(&mut self) -> Option<Result<AgentEvent, AgentError>> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// Waits for the end, and gives what it came to.
    pub async fn finish(mut self) -> Result<Report, AgentError> {
        let mut report = Report::default();
        while let Some(event) = self.next().await {
            if let AgentEvent::Done(done) = event? {
                report = done;
            }
        }
        Ok(report)
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AgentEvent, AgentError>>> {
        loop {
            if let Poll::Ready(Some(event)) = self.events.poll_recv(context) {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(self.failed.take().map(Err)) };
            match work.as_mut().poll(context) {
                // What it told last is read first.
                Poll::Ready(done) => {
                    self.work = None;
                    self.failed = done.err();
                }
                Poll::Pending => {
                    return match self.events.poll_recv(context) {
                        Poll::Ready(Some(event)) => Poll::Ready(Some(Ok(event))),
                        _ => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl Stream for Run<'_> {
    type Item = Result<AgentEvent, AgentError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(context)
    }
}

/// What holds for a whole run: the model sees the same tools from its beginning to its end.
pub(super) struct Scene {
    pub(super) view: Arc<View>,
    pub(super) shown: Arc<Presentation>,
    pub(super) masks: Masks,
    system: String,
}

impl Agent {
    async fn work(&mut self, text: String, events: Events) -> Result<(), AgentError> {
        let scene = self.scene()?;
        self.conversation.push(ChatItem::User(text), &scene.masks)?;
        let mut report = Report::default();
        let mut repeats = Repeats::new(self.limits.agent_repeats);
        report.ended = loop {
            if self.steps <= report.steps {
                break Ended::StepLimit;
            }
            let reply = self.reply(&scene, &events).await?;
            report.steps += 1;
            report.usage += reply.usage;
            let (usage, wanted) = (reply.usage, calls(&reply).len());
            let (raw, text) = (reply.raw.clone(), said(&reply));
            self.keep(reply, wanted, &text, &scene)?;
            if !text.trim().is_empty() {
                report.text = text;
            }
            let _ = events.send(AgentEvent::Step { number: report.steps, usage, calls: wanted }).await;
            if wanted == 0 {
                break Ended::Answered;
            }
            self.carry_out(&raw, &scene, &mut repeats, &mut report, &events).await?;
            if repeats.is_too_long() {
                break Ended::Repeated;
            }
        };
        let _ = events.send(AgentEvent::Done(report)).await;
        Ok(())
    }

    fn scene(&self) -> Result<Scene, AgentError> {
        let view = self.view()?;
        let options = self.kit.present_options(&self.rules, self.model.provider());
        let shown = self.kit.present(&view, &options);
        let system = prompt::system(self.purpose, &self.instruction, &self.kit, &view, &shown, &options);
        let masks = Masks::new(self.kit.links().iter().map(|link| self.kit.redactor(link.name())));
        Ok(Scene { view, shown, masks, system })
    }

    /// Asks the model, and tells what it says while it says it.
    async fn reply(&self, scene: &Scene, events: &Events) -> Result<Reply, AgentError> {
        let items = self.conversation.window(self.memory);
        let (tools, options) = (&scene.shown.tools, ReplyOptions::usual());
        let prompt = Prompt { system: &scene.system, items: &items, tools, options };
        let mut stream = self.model.stream(&prompt);
        while let Some(event) = stream.next().await {
            let told = match event? {
                ModelEvent::Text(text) => AgentEvent::Text(text),
                ModelEvent::Reasoning(text) => AgentEvent::Reasoning(text),
                ModelEvent::Retrying { error } => AgentEvent::Retrying { error },
                ModelEvent::Calling { .. } => continue,
                ModelEvent::End(reply) => return Ok(reply),
            };
            let _ = events.send(told).await;
        }
        Err(ModelError::Cut { at: self.model.at(), why: "it ended early".to_owned() }.into())
    }

    /// Remembers a reply. One that was stopped is remembered as far as it can be told again: a call that may be half of one
    /// is not.
    fn keep(&mut self, reply: Reply, calls: usize, text: &str, scene: &Scene) -> Result<(), AgentError> {
        let (at, stop) = (self.model.at(), reply.stop);
        let stopped = match stop {
            Stop::Finished if calls == 0 && text.trim().is_empty() => {
                return Err(ModelError::Empty { at }.into());
            }
            Stop::Finished => None,
            Stop::Length => Some(ModelError::OutOfTokens { at }),
            Stop::Filtered => Some(ModelError::Filtered { at }),
        };
        if stopped.is_none() || calls == 0 && !text.trim().is_empty() {
            self.conversation.push(ChatItem::Reply(reply), &scene.masks)?;
        }
        stopped.map_or(Ok(()), |error| Err(error.into()))
    }

    async fn carry_out(
        &mut self,
        raw: &RawValue,
        scene: &Scene,
        repeats: &mut Repeats,
        report: &mut Report,
        events: &Events,
    ) -> Result<(), AgentError> {
        let requests = super::calls::of(raw, scene);
        repeats.begin(&requests);
        super::calls::carry_out(self, &requests, scene, repeats, report, events).await
    }
}
