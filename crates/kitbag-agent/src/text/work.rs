//! One run: the model is asked, what it wants is done and told, until it answers or its thoughts are used up.

use std::time::Instant;

use futures_util::StreamExt as _;
use kitbag::Intent;
use kitbag_core::present::text::{self, ANSWER, CallsPerReply};
use serde_json::Value;

use super::belt::{Belt, Wanted};
use super::constrained::{self, Allowed, Forced};
use super::memory::{CREATE, LOOKUP};
use super::prompt::{self, Words};
use super::{FirstReply, Protocol, Talk, TalkRole, TextAgent, TextOutcome};
use crate::agent::{AgentError, AgentEvent, Ended, Execution, Report, ToolOutcome};
use crate::conversation::{ChatItem, said};
use crate::model::{ModelError, ModelEvent, Prompt, Reply, ReplyOptions, Stop};

/// Where a model goes on to speak for others.
const STOP: [&str; 2] = ["\nSYSTEM:", "\nUSER:"];
/// What it is told before its last reply.
const LAST: &str = "Maximum tool usage reached. No tool can be called any more: give your final answer now.";
/// What it is told when it calls a tool all the same.
const REFUSED: &str = "the call was not made: the maximum tool usage was reached.";

/// A reply, taken apart.
struct Understood<'a> {
    /// What was said before any call.
    said: String,
    /// What belongs into the conversation.
    kept: String,
    wanted: Vec<Wanted<'a>>,
    /// What the model should know beside the results.
    rest: Option<String>,
    /// What is wrong with it, if it is neither a call nor an answer.
    repair: Option<&'static str>,
}

/// What a run has come to so far.
#[derive(Default)]
struct Progress {
    talk: Talk,
    report: Report,
    failures: usize,
}

impl TextAgent {
    /// Lets the model work on a conversation until it answers. Dropping the future cancels it.
    pub async fn run(&self, talk: &Talk) -> Result<TextOutcome, AgentError> {
        self.run_with(talk, |_| {}).await
    }

    /// The same for whoever wants to know what happens meanwhile.
    pub async fn run_with(
        &self,
        talk: &Talk,
        mut tell: impl FnMut(AgentEvent) + Send,
    ) -> Result<TextOutcome, AgentError> {
        let belt = self.belt().await?;
        let system = self.system_prompt(&belt, talk);
        let mut so_far = Progress { talk: talk.clone(), ..Progress::default() };
        loop {
            let is_last = self.thoughts <= so_far.report.steps + 1;
            if is_last && belt.has_tools() {
                so_far.talk.push(TalkRole::User, format!("{ANSWER}\n{LAST}"));
            }
            let options = self.options(&belt, &so_far, is_last);
            let reply = self.reply(&system, &so_far.talk, &options, &mut tell).await?;
            so_far.report.steps += 1;
            so_far.report.usage += reply.usage;
            let usage = reply.usage;
            let text = self.text_of(&reply)?;
            let understood = self.understood(&belt, &text, options.schema.is_some());
            let calls = understood.wanted.len();
            if !understood.said.is_empty() {
                so_far.report.text.clone_from(&understood.said);
                tell(AgentEvent::Text(understood.said.clone()));
            }
            so_far.talk.push(TalkRole::Assistant, understood.kept.clone());
            tell(AgentEvent::Step { number: so_far.report.steps, usage, calls });
            if calls == 0 && understood.repair.is_none() {
                break;
            }
            if is_last {
                so_far.report.ended = Ended::StepLimit;
                so_far.talk.push(TalkRole::User, text::error(REFUSED, &[]).content);
                break;
            }
            self.carry_out(&belt, understood, &mut so_far, &mut tell).await?;
        }
        let Progress { talk, mut report, .. } = so_far;
        if report.text.is_empty() {
            // Nothing was said but calls: the words of the model all the same, never those of a tool.
            report.text = talk.last_response().unwrap_or_default().to_owned();
        }
        tell(AgentEvent::Done(report.clone()));
        Ok(TextOutcome { conversation: talk, last_response: report.text.clone(), report })
    }

    fn system_prompt(&self, belt: &Belt, talk: &Talk) -> String {
        let is_elsewhere = self.memory.is_some() && prompt::places_memory(&self.system);
        let tool_instruction = match self.protocol {
            Protocol::Lines => belt.instruction(),
            Protocol::Forced(_) if belt.has_tools() => constrained::INSTRUCTION.to_owned(),
            Protocol::Forced(_) => String::new(),
        };
        let words = Words {
            tools: belt.listing(is_elsewhere),
            tool_instruction,
            lookup_memory: belt.line(LOOKUP),
            create_memory: belt.line(CREATE),
            metadata: self.metadata.clone(),
            provided_system: talk.system().unwrap_or_default().to_owned(),
        };
        prompt::rendered(&self.system, &words)
    }

    fn options(&self, belt: &Belt, so_far: &Progress, is_last: bool) -> ReplyOptions {
        let mut options = ReplyOptions { max_tokens: self.max_tokens, ..ReplyOptions::default() };
        self.heat.apply(so_far.failures, &*self.model, &mut options);
        match self.protocol {
            Protocol::Lines => options.stop = STOP.map(str::to_owned).to_vec(),
            Protocol::Forced(first) if belt.has_tools() => {
                let allowed = match first {
                    _ if is_last => Allowed::Answer,
                    FirstReply::Call if so_far.report.steps == 0 => Allowed::Call,
                    _ => Allowed::CallOrAnswer,
                };
                options.schema = Some(constrained::schema(belt, &so_far.talk, allowed, &self.limits));
            }
            Protocol::Forced(_) => {}
        }
        options
    }

    /// Asks the model.
    async fn reply(
        &self,
        system: &str,
        talk: &Talk,
        options: &ReplyOptions,
        tell: &mut (impl FnMut(AgentEvent) + Send),
    ) -> Result<Reply, AgentError> {
        let mut stream = {
            let items = items(talk);
            let items: Vec<&ChatItem> = items.iter().collect();
            self.model.stream(&Prompt { system, items: &items, tools: &Value::Null, options })
        };
        while let Some(event) = stream.next().await {
            match event? {
                ModelEvent::Reasoning(text) => tell(AgentEvent::Reasoning(text)),
                ModelEvent::Retrying { error } => tell(AgentEvent::Retrying { error }),
                // It is told once it is known which of it is said, and which is a call.
                ModelEvent::Text(_) | ModelEvent::Calling { .. } => {}
                ModelEvent::End(reply) => return Ok(reply),
            }
        }
        Err(ModelError::Cut { at: self.model.at(), why: "it ended early".to_owned() }.into())
    }

    /// What the model wrote, up to where it speaks for others. A reply that was stopped may be half a call.
    fn text_of(&self, reply: &Reply) -> Result<String, AgentError> {
        let at = || self.model.at();
        match reply.stop {
            Stop::Finished => {}
            Stop::Length => return Err(ModelError::OutOfTokens { at: at() }.into()),
            Stop::Filtered => return Err(ModelError::Filtered { at: at() }.into()),
        }
        let mut text = said(reply);
        if let Some(end) = STOP.iter().filter_map(|stop| text.find(stop)).min() {
            text.truncate(end);
        }
        if text.trim().is_empty() {
            return Err(ModelError::Empty { at: at() }.into());
        }
        Ok(text)
    }

    fn understood<'a>(&self, belt: &'a Belt, text: &str, is_forced: bool) -> Understood<'a> {
        if is_forced {
            return self.understood_json(belt, text);
        }
        let nothing = |said: String| Understood {
            kept: said.clone(),
            said,
            wanted: Vec::new(),
            rest: None,
            repair: None,
        };
        if matches!(self.protocol, Protocol::Forced(_)) {
            return nothing(text.trim().to_owned());
        }
        let parsed = text::parse(text);
        let made = match self.calls {
            CallsPerReply::First => parsed.calls.len().min(1),
            CallsPerReply::InOrder => parsed.calls.len(),
        };
        if made == 0 {
            return nothing(parsed.said);
        }
        let wanted = parsed.calls.iter().take(made).map(|call| belt.written(call)).collect();
        let (kept, rest) = (parsed.kept(made), parsed.rest(made));
        Understood { said: parsed.said, kept, wanted, rest, repair: None }
    }

    fn understood_json<'a>(&self, belt: &'a Belt, text: &str) -> Understood<'a> {
        let kept = text.trim().to_owned();
        let (mut said, mut wanted, mut repair) = (String::new(), Vec::new(), None);
        match constrained::read(text) {
            Forced::Answer(answer) => {
                return Understood { said: answer.clone(), kept: answer, wanted, rest: None, repair };
            }
            Forced::Call { tool, arguments } => {
                wanted.push(constrained::wanted(belt, self.model.provider(), &tool, &arguments));
            }
            Forced::Other => {
                said.clone_from(&kept);
                repair = Some(constrained::INSTRUCTION);
            }
        }
        Understood { said, kept, wanted, rest: None, repair }
    }

    /// Makes the calls of a reply, one after the other, and tells the model what came of each.
    async fn carry_out(
        &self,
        belt: &Belt,
        understood: Understood<'_>,
        so_far: &mut Progress,
        tell: &mut (impl FnMut(AgentEvent) + Send),
    ) -> Result<(), AgentError> {
        if let Some(repair) = understood.repair {
            so_far.failures += 1;
            so_far.talk.push(TalkRole::User, text::error(repair, &[]).content);
        }
        let last = understood.wanted.len().saturating_sub(1);
        for (place, wanted) in understood.wanted.into_iter().enumerate() {
            let tool = wanted.tool.clone();
            let arguments = match &wanted.intent {
                Intent::Call { arguments, .. } => arguments.clone(),
                _ => String::new(),
            };
            tell(AgentEvent::Call { place, tool: tool.clone(), arguments });
            let began = Instant::now();
            let outcome = wanted.carry_out().await;
            let took = began.elapsed();
            let mut notes = wanted.notes.clone();
            notes.extend(understood.rest.clone().filter(|_| place == last));
            let message = outcome.message(&notes).map(|message| message.content).unwrap_or_default();
            let is_error = outcome.is_error();
            so_far.failures += usize::from(is_error);
            let words = message.strip_prefix(ANSWER).unwrap_or(&message).trim();
            let told = belt.masks.text(words.to_owned());
            let error = is_error.then(|| told.clone());
            so_far.report.executions.push(Execution {
                step: so_far.report.steps,
                tool: tool.clone(),
                took,
                error,
            });
            tell(AgentEvent::Result(ToolOutcome { place, tool, text: told, is_error, took }));
            so_far.talk.push(TalkRole::User, message);
            if let Some(thought) = &self.on_thought {
                thought(so_far.talk.clone()).await.map_err(|why| AgentError::Thought { why })?;
            }
        }
        Ok(())
    }
}

/// A conversation as a model is asked: whoever says several things in a row says them at once, because many models take
/// nothing but turns. Its first system message stands in the prompt.
fn items(talk: &Talk) -> Vec<ChatItem> {
    let mut items: Vec<ChatItem> = Vec::new();
    for (at, message) in talk.messages().iter().enumerate() {
        let text = message.text.as_str();
        match (message.role, items.last_mut()) {
            (TalkRole::System, _) if at == 0 => {}
            (TalkRole::Assistant, Some(ChatItem::Said(last))) => *last = format!("{last}\n\n{text}"),
            (TalkRole::Assistant, _) => items.push(ChatItem::Said(text.to_owned())),
            (TalkRole::User, Some(ChatItem::User(last))) => *last = format!("{last}\n\n{text}"),
            (TalkRole::System, Some(ChatItem::User(last))) => *last = format!("{last}\n\n{ANSWER}\n{text}"),
            (TalkRole::User, _) => items.push(ChatItem::User(text.to_owned())),
            (TalkRole::System, _) => items.push(ChatItem::User(format!("{ANSWER}\n{text}"))),
        }
    }
    items
}
