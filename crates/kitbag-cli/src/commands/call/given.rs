//! The arguments as they were typed.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use kitbag_core::schema::ExactJson;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arguments::read;
use crate::exit::{Exit, Failure};

/// Arguments by name, numbers with the digits they were typed with.
pub(super) type Given = Vec<(String, ExactJson<'static>)>;

/// One value of an argument.
enum Word {
    /// To be read by the schema.
    Text(String),
    /// Certainly this.
    Json(ExactJson<'static>),
}

/// Where arguments come from that are not on the command line.
pub(super) struct Sources {
    /// The most bytes of one.
    longest: usize,
    cwd: PathBuf,
    stdin: Stdin,
}

/// Standard input can be read once.
#[derive(PartialEq, Eq)]
enum Stdin {
    Unread,
    Read,
}

impl Sources {
    pub(super) fn new(cwd: PathBuf, longest: usize) -> Self {
        Self { longest, cwd, stdin: Stdin::Unread }
    }

    /// Arguments given as JSON, `-` for those that come by standard input.
    pub(super) fn base(&mut self, text: Option<&str>) -> Result<Given, Failure> {
        let wrong = |why: String| invalid(format!("--args {why}")).hint("--args '{\"key\": \"value\"}'");
        let Some(text) = text else { return Ok(Vec::new()) };
        let given = if text == "-" { self.stdin("--args")? } else { text.to_owned() };
        match ExactJson::parse(&given).map(ExactJson::into_owned) {
            Ok(ExactJson::Object(fields)) => Ok(fields),
            Ok(_) => Err(wrong("must be a JSON object".to_owned())),
            Err(error) => Err(wrong(format!("is not valid JSON: {error}"))),
        }
    }

    /// The text that was typed, or that of the file it names: `@file`, `@-` for standard input; `@@` is an `@`.
    fn text(&mut self, key: &str, typed: &str) -> Result<String, Failure> {
        match typed.strip_prefix('@') {
            None => Ok(typed.to_owned()),
            Some(text) if text.starts_with('@') => Ok(text.to_owned()),
            Some("-") => self.stdin(key),
            Some(file) => {
                let path = self.cwd.join(file);
                let read = File::open(&path).and_then(|file| self.whole(file));
                read.map_err(|error| {
                    let failure = invalid(format!("{key}: the file {file:?} cannot be read: {error}"));
                    failure.hint(format!("{key}=@FILE reads a file; {key}=@@{file} is the text @{file}"))
                })
            }
        }
    }

    fn stdin(&mut self, key: &str) -> Result<String, Failure> {
        if self.stdin == Stdin::Read {
            return Err(invalid(format!("{key}: standard input was read for another argument"))
                .hint("give one of them as a file: key=@FILE"));
        }
        self.stdin = Stdin::Read;
        let read = self.whole(io::stdin().lock());
        read.map_err(|error| invalid(format!("{key}: standard input cannot be read: {error}")))
    }

    fn whole(&self, from: impl Read) -> io::Result<String> {
        let mut bytes = Vec::new();
        from.take(self.longest as u64 + 1).read_to_end(&mut bytes)?;
        if self.longest < bytes.len() {
            let bound = self.longest;
            return Err(io::Error::other(format!(
                "larger than {bound} bytes ([limits] line in kitbag.toml)"
            )));
        }
        String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8 text"))
    }

    /// `key=value` pairs on top, each by what the tool's schema says about it; `key:=json` is JSON whatever it says. A key
    /// that is given several times makes a list, where the schema wants one: else nobody knows which was meant.
    pub(super) fn with_pairs(
        &mut self,
        mut base: Given,
        pairs: &[String],
        schema: &Value,
    ) -> Result<Given, Failure> {
        let mut typed: Vec<(String, Vec<Word>)> = Vec::new();
        for pair in pairs {
            for (key, word) in self.words(pair)? {
                match typed.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, words)) => words.push(word),
                    None => typed.push((key, vec![word])),
                }
            }
        }
        for (key, words) in typed {
            let value = value(schema, &key, words)?;
            match base.iter_mut().find(|(name, _)| *name == key) {
                Some((_, old)) => *old = value,
                None => base.push((key, value)),
            }
        }
        Ok(base)
    }

    /// What stands in one word of the command line: one argument, or an object of several.
    fn words(&mut self, pair: &str) -> Result<Vec<(String, Word)>, Failure> {
        if pair.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(pair).is_ok() {
            let ExactJson::Object(fields) = json("the object", pair)? else { return Ok(Vec::new()) };
            return Ok(fields.into_iter().map(|(key, value)| (key, Word::Json(value))).collect());
        }
        let Some((key, typed)) = pair.split_once('=') else {
            let failure = invalid(format!("{pair:?} is not key=value"));
            return Err(failure.hint(format!("{pair}=…, or --args '{{…}}'")));
        };
        Ok(vec![match key.strip_suffix(':') {
            Some(key) => {
                let text = self.text(key, typed)?;
                let value = json(key, &text);
                let value = value.map_err(|failure| failure.hint(format!("{key}={typed}, for text")))?;
                (key.to_owned(), Word::Json(value))
            }
            None => (key.to_owned(), Word::Text(self.text(key, typed)?)),
        }])
    }
}

/// What was given for one key.
fn value(schema: &Value, key: &str, mut words: Vec<Word>) -> Result<ExactJson<'static>, Failure> {
    if words.len() == 1
        && let Some(word) = words.pop()
    {
        return match word {
            Word::Text(text) => read::once(schema, key, &text).map_err(invalid),
            Word::Json(value) => Ok(value),
        };
    }
    let text = |word| if let Word::Text(text) = word { Some(text) } else { None };
    let texts: Option<Vec<String>> = words.into_iter().map(text).collect();
    let list = texts.and_then(|texts| read::repeated(schema, key, &texts));
    list.map(ExactJson::from).ok_or_else(|| {
        let failure = invalid(format!("{key:?} is given twice, and it takes no list of words"));
        failure.hint(format!("{key}:=[…], for a list"))
    })
}

fn json(what: &str, text: &str) -> Result<ExactJson<'static>, Failure> {
    let read = ExactJson::parse(text).map(ExactJson::into_owned);
    read.map_err(|error| invalid(format!("{what} is not valid JSON: {error}")))
}

fn invalid(message: String) -> Failure {
    Failure::new(Exit::InvalidArguments, message)
}
