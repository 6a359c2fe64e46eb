//! What was said so far. Every call of the model has exactly one result right behind it, whatever happened in between: what
//! is cancelled, lost or cut off gets a result that says so before anything else is said.
//!
//! A conversation that is kept writes each item to its file before anybody acts on it.

use std::collections::VecDeque;

use kitbag::{Intent, ModelRequest};
use kitbag_core::present::native::{self, ToolAnswer};
use serde_json::{Value, json};

use crate::model::Reply;

mod file;
mod id;
mod line;
mod window;

#[cfg(test)]
mod tests;

pub use file::{ConversationError, Conversations};
pub use id::{ConversationId, InvalidId};

use file::ConversationFile;
use line::Line;
pub use window::Memory;

/// One item of a conversation.
#[derive(Clone, Debug)]
pub enum ChatItem {
    /// What the user said.
    User(String),
    /// What the model answered, as text that is nobody's own words.
    Said(String),
    /// What the model answered.
    Reply(Reply),
    /// What came of the calls of the reply before, one result for each, in their order.
    Results(Vec<ToolAnswer>),
}

impl ChatItem {
    /// Roughly how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::User(text) | Self::Said(text) => text.len(),
            Self::Reply(reply) => reply.raw.get().len(),
            Self::Results(answers) => answers.iter().flat_map(|answer| &answer.blocks).map(weight).sum(),
        }
    }
}

/// Roughly how many bytes a value takes, without writing it.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        _ => 8,
    }
}

/// What was said so far, and where that is written down.
#[derive(Debug)]
pub struct Conversation {
    id: ConversationId,
    items: VecDeque<ChatItem>,
    open: Option<OpenCalls>,
    size: usize,
    /// Bytes of all items; of more the oldest turns are forgotten.
    most: usize,
    file: Option<ConversationFile>,
}

/// The calls of the last reply while they have no results.
#[derive(Debug)]
struct OpenCalls {
    requests: Vec<ModelRequest>,
    answers: Vec<Option<ToolAnswer>>,
}

/// Why a call has no result of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Whoever asked gave it up.
    Cancelled,
    /// The program ended first.
    Interrupted,
}

impl Unanswered {
    fn answer(self, request: ModelRequest) -> ToolAnswer {
        let blocks = vec![json!({"type": "text", "text": self.words()})];
        ToolAnswer { id: request.id, tool: request.tool, blocks, is_error: true }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Cancelled => {
                "The call was cancelled by the user. It may have been carried out all the same."
            }
            Self::Interrupted => {
                "The program ended before the result was there. The call may have been carried out all the same."
            }
        }
    }
}

impl Conversation {
    /// A new one that nobody keeps, of at most so many bytes.
    pub fn new(most: usize) -> Self {
        Self { id: ConversationId::new(), items: VecDeque::new(), open: None, size: 0, most, file: None }
    }

    /// By what it can be found again.
    pub fn id(&self) -> &ConversationId {
        &self.id
    }

    /// What was said, oldest first; calls that are open have no results in it.
    pub fn items(&self) -> impl ExactSizeIterator<Item = &ChatItem> {
        self.items.iter()
    }

    /// Whether it can be found again by its id.
    pub fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Writes an item down, and then remembers it.
    pub(crate) fn push(&mut self, item: ChatItem, masks: &Masks) -> Result<(), ConversationError> {
        self.close(Unanswered::Cancelled, masks)?;
        let line = match &item {
            ChatItem::User(text) => Some(Line::user(text)),
            ChatItem::Said(text) => Some(Line::said(text)),
            ChatItem::Reply(reply) => Some(Line::reply(reply)),
            ChatItem::Results(_) => None,
        };
        if let Some(line) = line {
            self.write(line, masks)?;
        }
        self.take(item);
        Ok(())
    }

    /// Writes the result of one of the open calls down.
    pub(crate) fn answer(
        &mut self,
        place: usize,
        answer: ToolAnswer,
        masks: &Masks,
    ) -> Result<(), ConversationError> {
        self.write(Line::result(place, &answer), masks)?;
        self.take_answer(place, answer);
        Ok(())
    }

    /// The calls that have no result yet, with their places.
    pub(crate) fn open_calls(&self) -> Vec<(usize, ModelRequest)> {
        let Some(open) = &self.open else { return Vec::new() };
        let both = open.requests.iter().cloned().zip(&open.answers).enumerate();
        both.filter(|(_, (_, answer))| answer.is_none())
            .map(|(place, (request, _))| (place, request))
            .collect()
    }

    /// Gives every open call a result that says why it has no other.
    pub(crate) fn close(&mut self, why: Unanswered, masks: &Masks) -> Result<(), ConversationError> {
        for (place, request) in self.open_calls() {
            self.answer(place, why.answer(request), masks)?;
        }
        Ok(())
    }

    /// Forgets everything; what is written down is marked so.
    pub(crate) fn clear(&mut self) -> Result<(), ConversationError> {
        self.write(Line::clear(), &Masks::default())?;
        self.forget();
        Ok(())
    }

    fn forget(&mut self) {
        self.items.clear();
        self.open = None;
        self.size = 0;
    }

    fn write(&mut self, line: Line, masks: &Masks) -> Result<(), ConversationError> {
        match &mut self.file {
            Some(file) => file.append(&line.text(masks)),
            None => Ok(()),
        }
    }

    fn take(&mut self, item: ChatItem) {
        // Only a file that was changed by others has calls without results in its middle.
        for (place, request) in self.open_calls() {
            self.take_answer(place, Unanswered::Interrupted.answer(request));
        }
        if let ChatItem::Reply(reply) = &item {
            let requests = calls(reply);
            let answers = vec![None; requests.len()];
            self.open = (!requests.is_empty()).then_some(OpenCalls { requests, answers });
        }
        self.size += item.size();
        self.items.push_back(item);
        self.forget_oldest();
    }

    fn take_answer(&mut self, place: usize, answer: ToolAnswer) {
        let Some(open) = &mut self.open else { return };
        if let Some(free @ None) = open.answers.get_mut(place) {
            *free = Some(answer);
        }
        if open.answers.iter().all(Option::is_some) {
            let answers = self.open.take().into_iter().flat_map(|open| open.answers).flatten().collect();
            self.take(ChatItem::Results(answers));
        }
    }

    /// Whole turns only, and never the last one.
    fn forget_oldest(&mut self) {
        while self.most < self.size {
            let is_user =
                |(at, item): (usize, &ChatItem)| (0 < at && matches!(item, ChatItem::User(_))).then_some(at);
            let Some(end) = self.items.iter().enumerate().find_map(is_user) else { return };
            self.size -= self.items.drain(..end).map(|item| item.size()).sum::<usize>();
        }
    }
}

/// What of a reply wants an answer, in its order.
pub(crate) fn calls(reply: &Reply) -> Vec<ModelRequest> {
    let value: Value = serde_json::from_str(reply.raw.get()).unwrap_or_default();
    let asked = native::decode(reply.model.vendor.provider(), &value);
    asked.into_iter().filter(|request| !matches!(request.intent, Intent::Say(_))).collect()
}

/// What of a reply is said.
pub(crate) fn said(reply: &Reply) -> String {
    let value: Value = serde_json::from_str(reply.raw.get()).unwrap_or_default();
    let asked = native::decode(reply.model.vendor.provider(), &value);
    let texts = asked.into_iter().filter_map(|request| match request.intent {
        Intent::Say(text) => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Hides the secrets of servers in what is written down.
#[derive(Clone, Default)]
pub(crate) struct Masks(Vec<kitbag_core::text::Redactor>);

impl Masks {
    pub(crate) fn new(all: impl IntoIterator<Item = kitbag_core::text::Redactor>) -> Self {
        Self(all.into_iter().filter(|redactor| !redactor.is_empty()).collect())
    }

    fn mask(&self, value: Value) -> Value {
        self.0.iter().fold(value, |value, redactor| redactor.mask_value(&value))
    }

    /// A text for a person.
    pub(crate) fn text(&self, text: String) -> String {
        self.0.iter().fold(text, |text, redactor| redactor.mask(&text).into_owned())
    }

    fn changes(&self, text: &str) -> bool {
        self.0.iter().any(|redactor| redactor.mask(text) != text)
    }
}
