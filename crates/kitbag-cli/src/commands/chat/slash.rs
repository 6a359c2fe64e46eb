//! What can be typed in a chat besides messages: a slash and a word.

use kitbag_core::text::{nearest, visible};

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Tools,
    Servers,
    Why(String),
    Cost,
    Clear,
    /// Another model, or which it is.
    Model(Option<String>),
    /// The name of a file, or none.
    Save(Option<String>),
    Help,
    Quit,
}

/// What a command wants after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    Nothing,
    Maybe,
    Something,
}

/// The word, what stands behind it, whether it must, and what it does.
const COMMANDS: [(&str, &str, Wants, &str); 9] = [
    ("/tools", "", Wants::Nothing, "list the tools"),
    ("/servers", "", Wants::Nothing, "list the servers and their state"),
    ("/why", "TOOL", Wants::Something, "why a tool can be called, or not"),
    ("/cost", "", Wants::Nothing, "the tokens of every answer, and what they cost"),
    ("/clear", "", Wants::Nothing, "forget what was said"),
    ("/model", "PROVIDER/NAME", Wants::Maybe, "go on with another model"),
    ("/save", "FILE", Wants::Maybe, "write the conversation into a new file, .md or .json"),
    ("/help", "", Wants::Nothing, "show this"),
    ("/quit", "", Wants::Nothing, "end the chat"),
];

/// All words, for a hint.
pub(super) const WORDS: &str = "/tools /servers /why /cost /clear /model /save /help /quit";

/// A line that begins with a slash; else it is a message, and so is one with a blank before it.
pub(super) fn parse(line: &str) -> Option<Result<Command, String>> {
    if matches!(line.trim(), "exit" | "quit") {
        return Some(Ok(Command::Quit));
    }
    let line = line.strip_prefix('/').map(|_| line.trim_end())?;
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some(command(word, rest.trim()))
}

fn command(word: &str, rest: &str) -> Result<Command, String> {
    let word = if word == "/exit" { "/quit" } else { word };
    let Some((_, name, wants, _)) = COMMANDS.iter().find(|(known, ..)| *known == word) else {
        let near = nearest(word, COMMANDS.iter().map(|(known, ..)| *known));
        let hint = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {WORDS}; to say it, put a blank before it"),
        };
        return Err(format!("{} is not a command: {hint}", visible(word)));
    };
    match (wants, rest.is_empty()) {
        (Wants::Nothing, false) => return Err(format!("{word} takes nothing after it: type {word}")),
        (Wants::Something, true) => return Err(format!("{word} of what? type {word} {name}")),
        _ => {}
    }
    let rest = rest.to_owned();
    let maybe = Some(rest.clone()).filter(|rest| !rest.is_empty());
    Ok(match word {
        "/tools" => Command::Tools,
        "/servers" => Command::Servers,
        "/why" => Command::Why(rest),
        "/cost" => Command::Cost,
        "/clear" => Command::Clear,
        "/model" => Command::Model(maybe),
        "/save" => Command::Save(maybe),
        "/help" => Command::Help,
        _ => Command::Quit,
    })
}

/// What there is, a line each.
pub(super) fn help() -> String {
    let row = |(word, name, wants, what): &(&str, &str, Wants, &str)| {
        let name = match wants {
            Wants::Maybe => format!("[{name}]"),
            _ => (*name).to_owned(),
        };
        format!("  {:<24} {what}\n", format!("{word} {name}").trim_end())
    };
    COMMANDS.iter().map(row).collect()
}

/// The lines that Tab completes to.
pub(super) fn lines(
    tools: impl IntoIterator<Item = String>,
    providers: impl IntoIterator<Item = String>,
) -> Vec<String> {
    // What wants something behind it is completed together with that.
    let words = COMMANDS.iter().filter(|(_, _, wants, _)| *wants != Wants::Something);
    let words = words.map(|(word, ..)| (*word).to_owned());
    let why = tools.into_iter().map(|tool| format!("/why {tool}"));
    let model = providers.into_iter().map(|provider| format!("/model {provider}/"));
    words.chain(why).chain(model).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_bad_use_is_answered_with_what_to_type() {
        let text = |text: &str| Some(text.to_owned());
        for (line, expected) in [
            ("/tools", Command::Tools),
            ("/servers  ", Command::Servers),
            ("/why  x/add ", Command::Why("x/add".to_owned())),
            ("/cost", Command::Cost),
            ("/clear", Command::Clear),
            ("/model", Command::Model(None)),
            ("/model openai/a b", Command::Model(text("openai/a b"))),
            ("/save talk.md", Command::Save(text("talk.md"))),
            ("/save", Command::Save(None)),
            ("/help", Command::Help),
            ("/quit", Command::Quit),
            ("/exit", Command::Quit),
            (" quit ", Command::Quit),
        ] {
            assert_eq!(parse(line), Some(Ok(expected)), "{line:?}");
        }
        for (line, told) in [
            ("/tools x", "type /tools"),
            ("/why", "type /why TOOL"),
            ("/modle a/b", "did you mean /model?"),
            ("/etc/passwd", "put a blank before it"),
            ("/\u{1b}[2J", "\\u{1b}[2J is not a command"),
        ] {
            let said = parse(line).unwrap().unwrap_err();
            assert!(said.contains(told), "{line:?}: {said}");
        }
        for line in ["", "hello", " /etc/passwd is what?", "what is /tools"] {
            assert_eq!(parse(line), None, "{line:?}");
        }
        assert!(help().lines().all(|line| line.len() <= 80));
        assert!(COMMANDS.iter().map(|(word, ..)| *word).eq(WORDS.split(' ')));
    }
}
