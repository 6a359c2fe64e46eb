//! A model for servers that ask for one in the middle of a call (`sampling/createMessage`). A person is asked first: a server
//! decides what the model reads, and the program pays for what it writes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use kitbag::{
    Answer, ApprovalAnswer, ApprovalRequest, Approver, BoxFuture, Limits, Question, QuestionKind, Responder,
    ServerName, UserId,
};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::conversation::said;
use crate::model::{Model, ModelEvent, Prompt, Reply, Stop};

mod request;

use request::SamplingRequest;

/// What a person is asked about, in the place of a tool.
const METHOD: &str = "sampling/createMessage";

/// Answers what servers ask of a model, once a person has agreed; see [`kitbag::OpenOptions::responder`]. Which model that is
/// is the program's choice: what a server prefers is not looked at. Servers are told of it when they are connected.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use kitbag::{Approver, Env, Kitbag, Limits, OpenOptions, Setup};
/// use kitbag_agent::{Agent, HttpModel, Sampling};
///
/// # async fn example(model: HttpModel, approver: Arc<dyn Approver>, setup: Setup) -> Result<(), kitbag::OpenError> {
/// let sampling = Sampling::new(model.clone(), approver.clone(), &setup.limits);
/// let options = OpenOptions {
///     responder: Some(Arc::new(sampling)),
///     approver: Some(approver),
///     ..OpenOptions::default()
/// };
/// let (kit, _) = Kitbag::open_with(setup, options).await?;
/// let mut agent = Agent::chat(model, kit);
/// # Ok(())
/// # }
/// ```
pub struct Sampling {
    model: Arc<dyn Model>,
    approver: Arc<dyn Approver>,
    limits: Limits,
    other: Option<Arc<dyn Responder>>,
    kinds: Vec<QuestionKind>,
    asked: Mutex<Asked>,
}

/// What was asked so far, by whom.
#[derive(Default)]
struct Asked {
    times: HashMap<(UserId, ServerName), usize>,
    /// Those that a person lets ask until the program ends.
    granted: HashSet<(UserId, ServerName)>,
}

impl Sampling {
    /// Answers by this model, once this approver agrees.
    pub fn new(model: impl Model, approver: Arc<dyn Approver>, limits: &Limits) -> Self {
        let (model, limits, kinds) = (Arc::new(model), limits.clone(), vec![QuestionKind::Sampling]);
        Self { model, approver, limits, other: None, kinds, asked: Mutex::default() }
    }

    /// Lets another one answer everything else that servers ask.
    #[must_use]
    pub fn beside(mut self, other: Arc<dyn Responder>) -> Self {
        let more = other.answers().iter().filter(|kind| **kind != QuestionKind::Sampling);
        self.kinds = [QuestionKind::Sampling].into_iter().chain(more.copied()).collect();
        self.other = Some(other);
        self
    }

    async fn sample(&self, question: Question) -> Answer {
        let limit = self.limits.sampling;
        if limit < question.params.get().len() {
            return Err(format!("it is longer than {limit} bytes (sampling in [limits])"));
        }
        let request = SamplingRequest::read(&question.params)?;
        self.count(&question)?;
        self.approve(&question).await?;
        if request.has_preferences {
            tracing::debug!(server = %question.server, model = %self.model.id(), "preferences of a model are not looked at");
        }
        let reply = self.ask(&request).await?;
        let stop = match reply.stop {
            Stop::Finished => "endTurn",
            Stop::Length => "maxTokens",
            Stop::Filtered => return Err(format!("the provider of {} filtered the reply", self.model.id())),
        };
        let text = said(&reply);
        if text.trim().is_empty() {
            return Err(format!("{} answered nothing", self.model.id()));
        }
        let answer = json!({
            "role": "assistant", "content": {"type": "text", "text": text},
            "model": self.model.id().to_string(), "stopReason": stop,
        });
        to_raw_value(&answer).map_err(|error| error.to_string())
    }

    fn count(&self, question: &Question) -> Result<(), String> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = asked.times.entry(key(question)).or_default();
        let limit = self.limits.samplings;
        if limit <= *times {
            return Err(format!("it was asked {limit} times (samplings in [limits])"));
        }
        *times += 1;
        Ok(())
    }

    async fn approve(&self, question: &Question) -> Result<(), String> {
        let key = key(question);
        let granted = |asked: &Mutex<Asked>| {
            asked.lock().unwrap_or_else(PoisonError::into_inner).granted.contains(&key)
        };
        if granted(&self.asked) {
            return Ok(());
        }
        let call =
            question.tool.as_deref().map(|tool| format!(" during a call of {tool}")).unwrap_or_default();
        let request = ApprovalRequest {
            user: question.user.clone(),
            server: question.server.clone(),
            tool: METHOD.to_owned(),
            arguments: serde_json::from_str::<Map<String, Value>>(question.params.get()).unwrap_or_default(),
            why: format!("it asks for words of the model {}{call}", self.model.id()),
        };
        match self.approver.approve(request).await {
            ApprovalAnswer::No => return Err("a person was asked, and said no".to_owned()),
            ApprovalAnswer::Once => {}
            // Nothing of a model's words is kept beyond this process, so neither is the word for it.
            ApprovalAnswer::Session | ApprovalAnswer::Always => {
                self.asked.lock().unwrap_or_else(PoisonError::into_inner).granted.insert(key);
            }
        }
        Ok(())
    }

    async fn ask(&self, request: &SamplingRequest) -> Result<Reply, String> {
        let items: Vec<_> = request.items.iter().collect();
        let mut options = request.options.clone();
        // What such a model thinks counts, too: it would end before its first word.
        options.max_tokens = options.max_tokens.filter(|_| !self.model.is_reasoning());
        let prompt =
            Prompt { system: &request.system, items: &items, tools: &Value::Null, options: &options };
        let mut stream = self.model.stream(&prompt);
        while let Some(event) = stream.next().await {
            if let ModelEvent::End(reply) = event.map_err(|error| error.to_string())? {
                return Ok(reply);
            }
        }
        Err(format!("the reply of {} ended early", self.model.id()))
    }
}

fn key(question: &Question) -> (UserId, ServerName) {
    (question.user.clone(), question.server.clone())
}

impl Responder for Sampling {
    fn answers(&self) -> &[QuestionKind] {
        &self.kinds
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        match &self.other {
            Some(other) if question.kind != QuestionKind::Sampling => other.answer(question),
            _ if question.kind != QuestionKind::Sampling => {
                Box::pin(async move { Err(format!("{} is not offered", question.kind.as_str())) })
            }
            _ => Box::pin(self.sample(question)),
        }
    }
}
