//! `kitbag errors`: every way a call can end without a result, every exit code, and every reason why a server cannot be
//! used. The docs are made from this.

use kitbag::connect::ReasonClass;
use kitbag::{ErrorKind, FaultKind};
use kitbag_core::codes::{CodePage, MODEL, USAGE, all_codes, code_page};
use kitbag_core::model::EXIT_CODES;
use kitbag_core::text::nearest;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{TITLE, lines, styled, table};

/// How wide a page is.
const WIDTH: usize = 78;

const EXAMPLES: &str = "\
Examples:
  kitbag errors                  every kind, exit code and reason
  kitbag errors missing_program  what it means, what causes it, what to do";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The code of an error, such as missing_program in error[missing_program]
    code: Option<String>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    if let Some(code) = &args.code {
        return explain(context, code);
    }
    if context.global.json {
        let kinds: Vec<Value> = ErrorKind::ALL.iter().map(|kind| row(*kind)).collect();
        let code = |(code, meaning): &(u8, &str)| json!({"exit": code, "meaning": meaning});
        let codes: Vec<Value> = EXIT_CODES.iter().map(code).collect();
        let reasons: Vec<Value> = ReasonClass::ALL.iter().map(|class| reason(*class)).collect();
        context.print_json(&json!({"kinds": kinds, "exit_codes": codes, "reasons": reasons, "codes": all_codes().map(as_json).collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    let mut kinds = table();
    kinds.set_header(["KIND", "EXIT", "DELIVERED", "MEANING"]);
    for kind in ErrorKind::ALL {
        let exit = kind.exit_code().to_string();
        kinds.add_row([kind.as_str(), &exit, kind.delivery().as_str(), kind.sentence()]);
    }
    let mut codes = table();
    codes.set_header(["EXIT", "MEANING"]);
    for (code, meaning) in EXIT_CODES {
        codes.add_row([code.to_string().as_str(), meaning]);
    }
    let mut reasons = table();
    reasons.set_header(["REASON", "KIND", "MEANING"]);
    for class in ReasonClass::ALL {
        reasons.add_row([class.as_str(), class.kind().as_str(), class.sentence()]);
    }
    let text = format!("{}\n{}\n{}", lines(&kinds), lines(&codes), lines(&reasons));
    context.print(text);
    Ok(Exit::Done)
}

/// One page, in the terminal.
fn explain(context: &mut Context, code: &str) -> Result<Exit, Failure> {
    // Whoever pastes error[x] means x.
    let word = code.rsplit_once('[').map_or(code, |(_, word)| word).trim_end_matches([']', ':']);
    let Some(page) = code_page(word) else {
        let near = nearest(word, all_codes().map(|page| page.code));
        let hint = near.map_or_else(|| "kitbag errors".to_owned(), |near| format!("kitbag errors {near}"));
        return Err(Failure::new(Exit::NotFound, format!("no error code is called {word:?}")).hint(hint));
    };
    if context.global.json {
        context.print_json(&as_json(page));
        return Ok(Exit::Done);
    }
    let mut text = format!("{}\n", styled(TITLE, page.code));
    for (_, meaning) in meanings(page.code) {
        text += &wrapped(meaning);
    }
    for (title, body) in [("Cause", page.cause), ("Fix", page.fix), ("Example", page.example)] {
        text += &format!("\n{}\n{}", styled(TITLE, title), wrapped(body));
    }
    context.print(text);
    Ok(Exit::Done)
}

/// What a code means: of a fault, of a call, of a server that cannot be used.
fn meanings(code: &str) -> Vec<(&'static str, &'static str)> {
    let fault = FaultKind::ALL.iter().find(|kind| kind.as_str() == code).map(|kind| ("fault", kind.about()));
    let call = ErrorKind::ALL.iter().find(|kind| kind.as_str() == code).map(|kind| ("call", kind.sentence()));
    let server = ReasonClass::ALL.iter().find(|class| class.as_str() == code);
    let server = server.map(|class| ("server", class.sentence()));
    let of_commands = [USAGE, MODEL].into_iter().find(|(word, _)| code == *word);
    let command = of_commands.map(|(_, meaning)| ("command", meaning));
    [fault, call, server, command].into_iter().flatten().collect()
}

fn as_json(page: &CodePage) -> Value {
    let meanings: Vec<Value> =
        meanings(page.code).iter().map(|(of, meaning)| json!({"of": of, "meaning": meaning})).collect();
    json!({
        "code": page.code, "meanings": meanings, "cause": page.cause, "fix": page.fix, "example": page.example,
    })
}

/// Lines of words, indented.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if 0 < line && WIDTH < line + 3 + word.chars().count() {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

fn reason(class: ReasonClass) -> Value {
    json!({"class": class.as_str(), "kind": class.kind().as_str(), "meaning": class.sentence()})
}

fn row(kind: ErrorKind) -> Value {
    json!({
        "kind": kind.as_str(),
        "exit": kind.exit_code(),
        "delivered": kind.delivery().as_str(),
        "meaning": kind.sentence(),
    })
}
