//! What is seen while a model answers: its words, line by line as they are whole, and below them one line that is written
//! over and says what goes on. Where nobody looks, the words go out as they come.

use std::io::IsTerminal as _;

use kitbag_agent::{AgentEvent, Usage};
use kitbag_core::text::{one_line, visible};

use crate::commands::run::{Thoughts, tell};
use crate::context::Context;
use crate::markdown::Painter;
use crate::terminal::{columns, end_within, is_shown, readable, start_within, width};

/// The columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// The screen during one answer.
pub(super) struct Screen {
    painter: Option<Painter>,
    /// Whether there is a terminal for the line that is written over.
    has_status: bool,
    width: usize,
    /// How much of that line is filled.
    drawn: usize,
    /// Whether something of this reply was said.
    has_spoken: bool,
    thoughts: Thoughts,
    /// The calls that run, by their places.
    running: Vec<(usize, String)>,
    usage: Usage,
}

impl Screen {
    pub(super) fn new(context: &Context) -> Self {
        let is_plain = context.global.json;
        let width = width();
        let room = width.unwrap_or(COLUMNS);
        Self {
            painter: (is_shown() && !is_plain).then(|| Painter::new(width)),
            has_status: std::io::stderr().is_terminal() && !context.global.quiet && !is_plain,
            width: room,
            drawn: 0,
            has_spoken: false,
            thoughts: Thoughts::default(),
            running: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// Something happened.
    pub(super) fn take(&mut self, context: &mut Context, event: AgentEvent) {
        if !matches!(event, AgentEvent::Reasoning(_)) {
            self.wipe(context);
            self.thoughts.tell(context);
        }
        match event {
            AgentEvent::Text(text) => self.say(context, &text),
            AgentEvent::Reasoning(text) => {
                self.thoughts.push(&text);
                let thought = one_line(self.thoughts.last_line());
                self.status(context, "thinking: ", &thought);
            }
            AgentEvent::Step { usage, calls, .. } => {
                self.usage += usage;
                self.end_reply(context);
                if 0 < calls {
                    self.status(context, "", "calls tools …");
                }
            }
            AgentEvent::Call { place, ref tool, .. } => {
                if context.global.verbose || !self.has_status {
                    tell(context, &event);
                }
                self.running.push((place, tool.clone()));
                self.calls(context);
            }
            AgentEvent::Result(outcome) => {
                self.running.retain(|(place, _)| *place != outcome.place);
                tell(context, &AgentEvent::Result(outcome));
                match self.running.is_empty() {
                    true => self.wait(context),
                    false => self.calls(context),
                }
            }
            event => tell(context, &event),
        }
    }

    /// That nothing has come yet.
    pub(super) fn wait(&mut self, context: &mut Context) {
        self.status(context, "", "…");
    }

    /// Makes room for something else: what was said is on the screen, and below it nothing.
    pub(super) fn clear(&mut self, context: &mut Context) {
        self.wipe(context);
        self.thoughts.tell(context);
        self.end_reply(context);
    }

    /// The tokens of the replies so far.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    fn say(&mut self, context: &mut Context, text: &str) {
        if context.global.json {
            return;
        }
        self.has_spoken = true;
        let Some(painter) = &mut self.painter else {
            context.print(readable(text));
            return context.flush();
        };
        context.print(painter.push(text));
        context.flush();
        let rest = one_line(painter.rest());
        self.status(context, "", &rest);
    }

    fn end_reply(&mut self, context: &mut Context) {
        if !std::mem::take(&mut self.has_spoken) {
            return;
        }
        let rest = self.painter.as_mut().map(Painter::end);
        // A line that is painted has its end already.
        if rest.as_deref() != Some("") {
            context.print(rest.unwrap_or_default() + "\n");
        }
        context.flush();
    }

    fn calls(&mut self, context: &mut Context) {
        let tools: Vec<&str> = self.running.iter().map(|(_, tool)| tool.as_str()).collect();
        let line = visible(&format!("calls {} …", tools.join(", ")));
        let line = start_within(&line, self.width.saturating_sub(1));
        self.status(context, "", &line);
    }

    /// The line that is written over: a word, and the end of a text.
    fn status(&mut self, context: &mut Context, word: &str, text: &str) {
        if !self.has_status {
            return;
        }
        let room = self.width.saturating_sub(1 + columns(word));
        let line = format!("{word}{}", end_within(text, room));
        let now = columns(&line);
        context.overwrite(&format!("{line}{:1$}", "", self.drawn.saturating_sub(now)));
        self.drawn = now;
    }

    fn wipe(&mut self, context: &mut Context) {
        if 0 < self.drawn {
            context.overwrite(&format!("{:1$}\r", "", self.drawn));
            self.drawn = 0;
        }
    }
}
