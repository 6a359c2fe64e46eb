//! Where the lines of a chat come from: edited at a terminal, with those typed before on the arrow keys; else as they come.

use std::sync::mpsc as std_mpsc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, CompletionType, Config, Helper};
use tokio::sync::mpsc;

use crate::exit::{Exit, Failure};
use crate::keyboard::Keyboard;
use crate::terminal::is_interactive;

/// What stands before a message.
const PROMPT: &str = "> ";

/// What was typed.
pub(super) enum Typed {
    Line(String),
    /// An interrupt, while a line was edited.
    Interrupt,
    /// There will be no more.
    End,
}

/// The lines of a chat.
pub(super) enum LineSource {
    Piped(Keyboard),
    Edited(Editor),
}

/// A thread that edits one line whenever it is asked to. Between two lines the terminal is as it was, so an interrupt is a
/// signal then, and a key while a line is edited.
pub(super) struct Editor {
    asked: std_mpsc::Sender<Asked>,
    typed: mpsc::Receiver<Typed>,
    #[cfg(unix)]
    _terminal: AsItWas,
}

/// What a line is asked for.
enum Asked {
    /// The next message; lines that can be completed to these.
    Message(Vec<String>),
    /// The answer to a question, which nobody types a second time.
    Answer(String),
}

impl LineSource {
    /// Begins to read; nothing else may read standard input from now on. `terminal` is what TERM says.
    pub(super) fn open(terminal: Option<&str>, said_before: Vec<String>) -> Result<Self, Failure> {
        let unreadable =
            |why: String| Failure::new(Exit::Usage, format!("standard input cannot be read: {why}"));
        let can_edit = is_interactive() && !matches!(terminal, None | Some("dumb" | "cons25" | "emacs"));
        if can_edit {
            return Editor::open(said_before)
                .map(Self::Edited)
                .map_err(|error| unreadable(error.to_string()));
        }
        Keyboard::listen().map(Self::Piped).map_err(|error| unreadable(error.to_string()))
    }

    /// The next message. `lines` are what Tab completes to.
    pub(super) async fn message(&mut self, lines: Vec<String>) -> Typed {
        match self {
            Self::Piped(keyboard) => {
                if is_interactive() {
                    crate::terminal::prompt(PROMPT);
                }
                keyboard.line().await.map_or(Typed::End, Typed::Line)
            }
            Self::Edited(editor) => editor.line(Asked::Message(lines)).await,
        }
    }

    /// The answer to a question. What was typed before it was asked does not count.
    pub(super) async fn answer(&mut self, question: String) -> Typed {
        match self {
            Self::Piped(keyboard) => {
                crate::terminal::prompt(&question);
                keyboard.line().await.map_or(Typed::End, Typed::Line)
            }
            Self::Edited(editor) => {
                #[cfg(unix)]
                let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
                editor.line(Asked::Answer(question)).await
            }
        }
    }
}

impl Editor {
    fn open(said_before: Vec<String>) -> rustyline::Result<Self> {
        // Results may go to a file while a person types.
        let config =
            Config::builder().behavior(Behavior::PreferTerm).completion_type(CompletionType::List).build();
        let history = MemHistory::with_config(&config);
        let mut editor = rustyline::Editor::<Lines, MemHistory>::with_history(config, history)?;
        for line in said_before {
            editor.add_history_entry(line)?;
        }
        let (asked, questions) = std_mpsc::channel();
        let (sender, typed) = mpsc::channel(1);
        let edit = move || {
            while let Ok(asked) = questions.recv() {
                if sender.blocking_send(edited(&mut editor, asked)).is_err() {
                    return;
                }
            }
        };
        #[cfg(unix)]
        let terminal = AsItWas::now();
        std::thread::Builder::new().name("keyboard".to_owned()).spawn(edit)?;
        Ok(Self {
            asked,
            typed,
            #[cfg(unix)]
            _terminal: terminal,
        })
    }

    async fn line(&mut self, asked: Asked) -> Typed {
        if self.asked.send(asked).is_err() {
            return Typed::End;
        }
        self.typed.recv().await.unwrap_or(Typed::End)
    }
}

fn edited(editor: &mut rustyline::Editor<Lines, MemHistory>, asked: Asked) -> Typed {
    let (prompt, lines) = match asked {
        Asked::Message(lines) => (PROMPT.to_owned(), Some(lines)),
        Asked::Answer(question) => (question, None),
    };
    let is_message = lines.is_some();
    editor.set_helper(lines.map(Lines));
    match editor.readline(&prompt) {
        Ok(line) => {
            if is_message && !line.trim().is_empty() {
                let _ = editor.add_history_entry(line.as_str());
            }
            Typed::Line(line)
        }
        Err(ReadlineError::Interrupted) => Typed::Interrupt,
        Err(_) => Typed::End,
    }
}

/// The lines that Tab completes to.
struct Lines(Vec<String>);

impl Completer for Lines {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..at).unwrap_or_default();
        let fits = |line: &&String| !begun.is_empty() && line.starts_with(begun);
        Ok((0, self.0.iter().filter(fits).cloned().collect()))
    }
}

impl Hinter for Lines {
    type Hint = String;
}

impl Highlighter for Lines {}
impl Validator for Lines {}
impl Helper for Lines {}

/// The terminal as it was. Whoever ends while a line is edited leaves it so.
#[cfg(unix)]
struct AsItWas(Option<rustix::termios::Termios>);

#[cfg(unix)]
impl AsItWas {
    fn now() -> Self {
        Self(rustix::termios::tcgetattr(std::io::stdin()).ok())
    }
}

#[cfg(unix)]
impl Drop for AsItWas {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ =
                rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, before);
        }
    }
}
