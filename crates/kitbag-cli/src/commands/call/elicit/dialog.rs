//! A question as a conversation on the terminal. Whatever the server says is its own choice of words: it is shown
//! without its secrets, without control characters and within a bound, after the server's name.

use std::io::{self, Write as _};

use kitbag::{Limits, Question};
use kitbag_core::text::{cut, visible};
use serde_json::{Map, Value, json};

use super::form::{Field, Form, Typed};
use crate::commands::call::Hide;
use crate::keyboard::Keyboard;
#[cfg(unix)]
use crate::signals::OpenQuestion;
use crate::terminal::readable;

/// How a question ends otherwise than by an answer.
enum End {
    /// The person says no.
    Declined,
    /// The person says nothing.
    Cancelled,
}

/// The answer, in the protocol's words.
pub(super) async fn ask(question: &Question, hide: &Hide, limits: &Limits, keys: &mut Keyboard) -> Value {
    let params: Value = serde_json::from_str(question.params.get()).unwrap_or_default();
    let shown = hide.value(&params);
    let message = shown["message"].as_str().unwrap_or("(no message)");
    say(&format!("\n{} asks: {}\n", visible(question.server.as_str()), bounded(message, limits)));
    let mut talk = Talk::new(keys);
    let answer = match params["url"].as_str() {
        Some(_) => talk.url(&bounded(shown["url"].as_str().unwrap_or_default(), limits)).await,
        None => {
            talk.form(&Form::of(&params["requestedSchema"], &shown["requestedSchema"], limits), limits).await
        }
    };
    match answer {
        Ok(answer) => answer,
        Err(End::Declined) => {
            say("declined\n");
            json!({"action": "decline"})
        }
        Err(End::Cancelled) => {
            say("\ncancelled\n");
            json!({"action": "cancel"})
        }
    }
}

fn bounded(text: &str, limits: &Limits) -> String {
    readable(&cut(text.to_owned(), limits.error))
}

/// What cannot be written is not answered either, so nothing has to be done about it.
fn say(text: &str) {
    let mut err = io::stderr();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// One question after another, each of which can be cancelled.
struct Talk<'a> {
    keys: &'a mut Keyboard,
    #[cfg(unix)]
    open: OpenQuestion,
}

impl<'a> Talk<'a> {
    fn new(keys: &'a mut Keyboard) -> Self {
        Self {
            keys,
            #[cfg(unix)]
            open: OpenQuestion::new(),
        }
    }

    /// A line that answers this.
    async fn line(&mut self, prompt: &str) -> Result<String, End> {
        say(prompt);
        #[cfg(unix)]
        let cancelled = self.open.cancelled();
        #[cfg(not(unix))]
        let cancelled = std::future::pending::<()>();
        tokio::select! {
            line = self.keys.line() => line.map(|line| line.trim().to_owned()).ok_or(End::Declined),
            () = cancelled => Err(End::Cancelled),
        }
    }

    async fn yes(&mut self, prompt: &str) -> Result<(), End> {
        match self.line(&format!("{prompt} [y/N] ")).await?.as_str() {
            "y" | "Y" | "yes" => Ok(()),
            _ => Err(End::Declined),
        }
    }

    /// Kitbag opens no address: a person decides that, in a browser of their own.
    async fn url(&mut self, url: &str) -> Result<Value, End> {
        say(&format!("  {url}\nOpen this address yourself if you trust it; Ctrl-C cancels.\n"));
        self.yes("Tell the server that you have done it?").await?;
        Ok(json!({"action": "accept"}))
    }

    async fn form(&mut self, form: &Form, limits: &Limits) -> Result<Value, End> {
        if form.fields.is_empty() {
            self.yes("Accept?").await?;
            return Ok(json!({"action": "accept", "content": {}}));
        }
        say("Enter alone takes the default, leaves an optional field out, or declines; Ctrl-C cancels.\n");
        let mut content = Map::new();
        for field in &form.fields {
            if let Some(value) = self.field(field, limits).await? {
                content.insert(field.name.clone(), value);
            }
        }
        if content.is_empty() {
            return Err(End::Declined);
        }
        Ok(json!({"action": "accept", "content": content}))
    }

    /// Asks until the answer fits.
    async fn field(&mut self, field: &Field, limits: &Limits) -> Result<Option<Value>, End> {
        say(&field.introduction());
        loop {
            let typed = self.line(&field.prompt()).await?;
            match field.read(&typed, limits) {
                Typed::Value(value) => return Ok(Some(value)),
                Typed::LeftOut => return Ok(None),
                Typed::Declined => return Err(End::Declined),
                Typed::Wrong(why) => say(&format!("  {why}\n")),
            }
        }
    }
}
