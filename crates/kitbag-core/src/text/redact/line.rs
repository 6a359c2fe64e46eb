//! Source lines of configuration files, fit to be shown in a diagnostic.
//!
//! The file may be broken, so lines are read without its grammar: brackets, keys and indentation are followed in JSON,
//! YAML and TOML alike, as far as they go. Structure and keys are shown, and the values of keys that hold no secret;
//! what stands in `env`, in `headers`, behind the name of a secret, or behind a key nobody knows is not.

use super::words::{CommandLine, word};
use super::{MASK, looks_secret, url};

mod kind;

use kind::Kind;

/// One line by itself.
pub fn line(source: &str) -> String {
    line_in("", source, 0, Grammar::Kept).0
}

/// Whether the file a line stands in follows its grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grammar {
    /// It does: what a key says of its value can be relied on.
    #[default]
    Kept,
    /// It does not, and a quote or bracket may be missing: of all values only ordinary words are shown.
    Broken,
}

/// A line that stands behind these whole lines, and where in what is shown the byte `cut` of it now stands.
pub fn line_in(before: &str, source: &str, cut: usize, grammar: Grammar) -> (String, usize) {
    let mut reader = Reader { grammar, ..Reader::default() };
    for line in before.lines() {
        reader.read(line, 0);
    }
    reader.read(source, cut)
}

/// How far a file was read.
#[derive(Default)]
struct Reader {
    grammar: Grammar,
    /// What a TOML table is about.
    table: Kind,
    /// Keys of YAML whose values stand below them, with the column of each.
    blocks: Vec<(usize, Kind)>,
    /// Brackets that are open.
    open: Vec<(char, Kind)>,
    /// What the key before says about the value that comes.
    value: Option<Kind>,
    /// A command line that may go on in the next line.
    words: CommandLine,
}

/// What was written so far of one line.
struct Line<'a> {
    source: &'a str,
    rest: &'a str,
    shown: String,
    cut: usize,
    at: Option<usize>,
}

impl<'a> Line<'a> {
    fn place(&self) -> usize {
        self.source.len() - self.rest.len()
    }

    /// Takes so many bytes over, shown as this.
    fn take(&mut self, bytes: usize, shown: &str) {
        let (begin, end) = (self.place(), self.place() + bytes);
        if self.at.is_none() && self.cut < end {
            let inside = if self.source[begin..end] == *shown { self.cut.saturating_sub(begin) } else { 0 };
            self.at = Some(self.shown.len() + inside);
        }
        self.shown.push_str(shown);
        self.rest = &self.rest[bytes..];
    }

    /// The same, as it is.
    fn keep(&mut self, bytes: usize) {
        let source: &'a str = self.rest;
        self.take(bytes, &source[..bytes]);
    }
}

impl Reader {
    fn read(&mut self, source: &str, cut: usize) -> (String, usize) {
        let mut line =
            Line { source, rest: source, shown: String::with_capacity(source.len()), cut, at: None };
        let is_begin = self.open.is_empty();
        if is_begin {
            self.value = None;
            self.begin(&mut line);
        }
        // Where a key without quotes may stand.
        let mut first = true;
        while let Some(c) = line.rest.chars().next() {
            match c {
                '"' | '\'' => {
                    self.quoted(&mut line, c);
                    first = false;
                }
                c if is_bare(c) => {
                    self.bare(&mut line, first);
                    first = false;
                }
                c => first = self.mark(&mut line, c) || first && c.is_whitespace(),
            }
        }
        // A table of TOML ends with its line, also when a quote is missing.
        let sign = source.find([':', '=']).filter(|at| is_begin && source[*at..].starts_with('='));
        if let Some(table) = sign.and_then(|_| self.open.iter().position(|(bracket, _)| *bracket == '{')) {
            self.open.truncate(table);
        }
        let end = line.shown.len();
        (line.shown, line.at.unwrap_or(end))
    }

    /// What the beginning of a line ends: a table of TOML, blocks of YAML.
    fn begin(&mut self, line: &mut Line<'_>) {
        let text = line.source.trim();
        let indent = line.source.len() - line.source.trim_start().len();
        if let Some(name) = table(text) {
            self.table = name
                .split('.')
                .fold(Kind::Unknown, |outer, key| outer.of_key(key.trim_matches(['"', '\'', ' '])));
            self.blocks.clear();
            line.keep(line.rest.len());
        } else if !text.is_empty() && !text.starts_with('#') {
            // The items of a list may stand as far left as its key.
            let is_item = text == "-" || text.starts_with("- ");
            self.blocks.retain(|(column, _)| *column < indent || is_item && *column == indent);
        }
        while line.rest.starts_with(' ') || line.rest.starts_with("- ") {
            line.keep(1);
        }
    }

    /// What everything here is about, unless a key says otherwise.
    fn around(&self) -> Kind {
        let block = self.blocks.last().map(|(_, kind)| *kind);
        self.open.last().map(|(_, kind)| *kind).or(block).unwrap_or(self.table)
    }

    fn in_list(&self) -> bool {
        self.open.last().is_some_and(|(bracket, _)| *bracket == '[')
    }

    /// Punctuation; whether a key may follow.
    fn mark(&mut self, line: &mut Line<'_>, c: char) -> bool {
        line.keep(c.len_utf8());
        match c {
            '{' | '[' => {
                let kind = self.value.take().unwrap_or(self.around());
                self.open.push((c, kind));
                c == '{'
            }
            '}' | ']' => {
                self.open.pop();
                self.value = None;
                false
            }
            ',' => {
                self.value = None;
                !self.in_list()
            }
            _ => false,
        }
    }

    /// A text in quotes: a key, if a colon or an equals sign follows, else a value.
    fn quoted(&mut self, line: &mut Line<'_>, quote: char) {
        let end = quoted_end(line.rest, quote);
        let token = &line.rest[..end];
        let inner = token.trim_matches(quote);
        let after = line.rest[end..].trim_start();
        // In a list nothing is a key, unless a bracket is missing.
        if self.value.is_none() && after.starts_with([':', '=']) && !looks_secret(inner) {
            return self.key(line, end, inner);
        }
        let closed =
            if 1 < token.len() && token.ends_with(quote) { quote.to_string() } else { String::new() };
        let shown = format!("{quote}{}{closed}", self.show(inner));
        line.take(end, if inner.is_empty() { token } else { &shown });
    }

    /// A word without quotes: a key at the beginning, else a value, which takes all that belongs to it.
    fn bare(&mut self, line: &mut Line<'_>, first: bool) {
        let end = line.rest.find(|c| !is_bare(c)).unwrap_or(line.rest.len());
        let token = &line.rest[..end];
        let after = line.rest[end..].trim_start();
        let is_key = match after.chars().next() {
            Some('=') => true,
            // `key: value`, and not `http://x` or `c2VjcmV0:x`.
            Some(':') => {
                after[1..].is_empty()
                    || after[1..].starts_with(char::is_whitespace)
                    || self.around().knows(token)
            }
            _ => false,
        };
        if first && is_key && self.value.is_none() && !self.in_list() && !looks_secret(token) {
            return self.key(line, end, token);
        }
        let end = self.bare_end(line.rest);
        let text = line.rest[..end].trim_end();
        let is_root = self.open.is_empty() && self.blocks.is_empty() && self.table == Kind::Unknown;
        // No file at all: `claude mcp add …`, pasted where a file was expected.
        let shown = match self.value {
            None if is_root && text.contains(' ') => kind::sentence(&word(text)),
            _ => self.show(text),
        };
        line.take(text.len(), &shown);
    }

    /// Where a value without quotes ends: with its line, or where the list or map it stands in goes on.
    fn bare_end(&self, rest: &str) -> usize {
        let comment = rest.find(" #").unwrap_or(rest.len());
        if self.open.is_empty() {
            return comment;
        }
        let ends = |c: char| matches!(c, ',' | ']' | '}');
        // A reference has braces of its own.
        let mut from = 0;
        while let Some(at) = rest[from..comment].find(['{', ',', ']', '}']).map(|at| from + at) {
            if !rest[at..].starts_with('{') {
                break;
            }
            from = rest[at..comment].find('}').map_or(comment, |end| at + end + 1);
        }
        rest[from..comment].find(ends).map_or(comment, |at| from + at)
    }

    /// A key, and what it says about what follows.
    fn key(&mut self, line: &mut Line<'_>, bytes: usize, name: &str) {
        let column = line.place();
        // `[{"name": "TOKEN", "value": "…"}]`
        let is_row =
            matches!(self.open.as_slice(), [.., ('[', _), ('{', _)]) && matches!(name, "name" | "key");
        let kind = if is_row { Kind::Plain } else { self.around().of_key(name) };
        line.keep(bytes);
        let blanks = line.rest.len() - line.rest.trim_start().len();
        line.keep(blanks + 1);
        self.value = Some(kind);
        self.words = CommandLine::default();
        let below = line.rest.trim();
        let is_block = below.starts_with(['|', '>']) && below.len() <= 3;
        if self.open.is_empty() && (below.is_empty() || below.starts_with('#') || is_block) {
            self.blocks.push((column, kind));
            line.keep(line.rest.len());
        }
    }

    /// A value as it may be shown.
    fn show(&mut self, text: &str) -> String {
        let has_key = self.value.is_some();
        let kind = match (self.value.take(), self.around()) {
            (Some(Kind::Plain | Kind::Words | Kind::Url), _)
            | (None, Kind::Plain | Kind::Words | Kind::Url)
                if self.grammar == Grammar::Broken =>
            {
                Kind::Unknown
            }
            (Some(kind), _) => kind,
            // Half a pair: its key may have said what nobody can tell any more.
            (None, Kind::Plain) if text.contains(['"', '=', ':']) => Kind::Unknown,
            (None, _) if text.contains('"') => Kind::Unknown,
            (None, around) => around,
        };
        match kind {
            Kind::Variable if kind::is_variable(text) => text.to_owned(),
            // `TOKEN=x` in a list names its variable; behind a key all of it is the value.
            Kind::Hidden | Kind::Auth | Kind::Variable if has_key => kind::hidden(text),
            Kind::Hidden | Kind::Auth | Kind::Variable => kind::hidden_pair(text),
            Kind::Url => url(text),
            Kind::Words if text.contains(' ') => word(text),
            Kind::Words => self.words.next(text),
            Kind::Plain => word(text),
            Kind::Unknown if kind::is_ordinary(text) => word(text),
            Kind::Unknown => MASK.to_owned(),
        }
    }
}

/// The name of a TOML table, if that is all there is in a line.
fn table(text: &str) -> Option<&str> {
    let text = text.split(" #").next().unwrap_or(text).trim_end();
    let name = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
    let name = name.or_else(|| text.strip_prefix('[').and_then(|text| text.strip_suffix(']')))?;
    let fits = |c: char| c.is_alphanumeric() || "_-. \"'".contains(c);
    let is_name = !name.is_empty() && name.chars().all(fits) && !name.starts_with(' ');
    // A list of one text looks like one.
    let is_list = name.starts_with(['"', '\'']) && !name.contains('.');
    (is_name && !is_list && !name.split('.').any(looks_secret)).then_some(name)
}

/// What may stand in an unquoted key or value.
fn is_bare(c: char) -> bool {
    !c.is_whitespace() && !"\"',:=[]{}".contains(c)
}

/// Where the quoted text ends that the line begins with; an unclosed one takes the whole rest.
fn quoted_end(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}
