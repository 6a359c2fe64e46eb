//! Reads a value that is written down: the literals of a drawing, which are JSON or Python by their kind.

use super::{Dict, Value};

/// How deep values may be nested.
const DEEPEST: usize = 100;

/// In which language a literal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JSON as Python's `json` reads it, `NaN` and `Infinity` included.
    Json,
    /// A literal of Python; no expression.
    Python,
}

/// Reads one value, or says where it is wrong.
pub(crate) fn read(text: &str, dialect: Dialect) -> Result<Value, String> {
    let mut reader = Reader { rest: text, dialect, depth: 0 };
    reader.blanks();
    let first = reader.value()?;
    reader.blanks();
    let value = if dialect == Dialect::Python && reader.rest.starts_with(',') {
        reader.tuple_from(first)?
    } else {
        first
    };
    reader.blanks();
    if reader.rest.is_empty() { Ok(value) } else { Err(reader.unexpected()) }
}

struct Reader<'a> {
    rest: &'a str,
    dialect: Dialect,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn unexpected(&self) -> String {
        match self.rest.chars().next() {
            Some(_) => format!("unexpected {:?}", self.rest.chars().take(20).collect::<String>()),
            None => "it ends too early".to_owned(),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if DEEPEST < self.depth {
            return Err(format!("more than {DEEPEST} levels"));
        }
        let value = match self.rest.chars().next() {
            Some('[') => self.list(),
            Some('{') => self.dict(),
            Some('(') if self.dialect == Dialect::Python => self.tuple(),
            Some('"') => self.string('"'),
            Some('\'') if self.dialect == Dialect::Python => self.string('\''),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Value, String> {
        self.take("[");
        Ok(Value::list(self.sequence("]")?))
    }

    fn sequence(&mut self, end: &str) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        loop {
            self.blanks();
            if (values.is_empty() || self.dialect == Dialect::Python) && self.take(end) {
                return Ok(values);
            }
            values.push(self.value()?);
            self.blanks();
            if self.take(end) {
                return Ok(values);
            }
            if !self.take(",") {
                return Err(self.unexpected());
            }
        }
    }

    fn tuple(&mut self) -> Result<Value, String> {
        self.take("(");
        self.blanks();
        if self.take(")") {
            return Ok(Value::Tuple([].into()));
        }
        let first = self.value()?;
        self.blanks();
        if self.take(")") {
            return Ok(first);
        }
        if !self.take(",") {
            return Err(self.unexpected());
        }
        let rest = self.sequence(")")?;
        Ok(Value::Tuple(std::iter::once(first).chain(rest).collect()))
    }

    /// A tuple without brackets, at its first comma.
    fn tuple_from(&mut self, first: Value) -> Result<Value, String> {
        let mut parts = vec![first];
        while self.take(",") {
            self.blanks();
            if self.rest.is_empty() {
                break;
            }
            parts.push(self.value()?);
            self.blanks();
        }
        Ok(Value::Tuple(parts.into()))
    }

    fn dict(&mut self) -> Result<Value, String> {
        self.take("{");
        let dict = Dict::default();
        let mut any = false;
        loop {
            self.blanks();
            if (!any || self.dialect == Dialect::Python) && self.take("}") {
                return Ok(Value::Dict(dict));
            }
            if self.dialect == Dialect::Json && !self.rest.starts_with('"') {
                return Err(self.unexpected());
            }
            let key = self.value()?;
            self.blanks();
            if !self.take(":") {
                return Err(self.unexpected());
            }
            self.blanks();
            let value = self.value()?;
            dict.put(key, value).map_err(|raised| raised.to_string())?;
            any = true;
            self.blanks();
            if self.take("}") {
                return Ok(Value::Dict(dict));
            }
            if !self.take(",") {
                return Err(self.unexpected());
            }
        }
    }

    fn string(&mut self, mark: char) -> Result<Value, String> {
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        chars.next();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == mark => {
                    self.rest = self.rest.get(at + c.len_utf8()..).unwrap_or_default();
                    return Ok(Value::from(out));
                }
                '\\' => {
                    let (c, used) = self.escape(self.rest.get(at + 1..).unwrap_or_default())?;
                    out.extend(c);
                    (0..used).for_each(|_| {
                        chars.next();
                    });
                }
                c if c < ' ' && self.dialect == Dialect::Json => {
                    return Err("a control character in a string".to_owned());
                }
                '\n' => break,
                c => out.push(c),
            }
        }
        Err("a string without its end".to_owned())
    }

    /// What a backslash and the characters behind it stand for, and how many those are.
    fn escape(&self, behind: &str) -> Result<(Vec<char>, usize), String> {
        let next = behind.chars().next().ok_or("a string without its end")?;
        let python = self.dialect == Dialect::Python;
        let plain = match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '\\' | '"' => next,
            '/' if !python => '/',
            '\'' if python => next,
            'a' if python => '\u{7}',
            'v' if python => '\u{b}',
            '0' if python => '\0',
            'u' => return code(behind, 4, self.dialect),
            'x' if python => return code(behind, 2, self.dialect),
            'U' if python => return code(behind, 8, self.dialect),
            // Python keeps what it does not know.
            _ if python => return Ok((vec!['\\', next], 1)),
            _ => return Err(format!("unknown escape \\{next}")),
        };
        Ok((vec![plain], 1))
    }

    fn word(&mut self) -> Result<Value, String> {
        let end = self.rest.find([',', ']', '}', ')', ':', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value = match (self.dialect, word) {
            (Dialect::Json, "null") | (Dialect::Python, "None") => Value::None,
            (Dialect::Json, "true") | (Dialect::Python, "True") => Value::Bool(true),
            (Dialect::Json, "false") | (Dialect::Python, "False") => Value::Bool(false),
            (Dialect::Json, "NaN") => Value::Float(f64::NAN),
            (Dialect::Json, "Infinity") => Value::Float(f64::INFINITY),
            (Dialect::Json, "-Infinity") => Value::Float(f64::NEG_INFINITY),
            _ => number(word, self.dialect).ok_or_else(|| self.unexpected())?,
        };
        self.rest = rest;
        Ok(value)
    }
}

/// The character of a number in base 16, which stands behind one letter; of JSON's two halves both.
fn code(behind: &str, digits: usize, dialect: Dialect) -> Result<(Vec<char>, usize), String> {
    let unit = |text: &str| text.get(1..=digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let first = unit(behind).ok_or("an escape without its digits")?;
    if let Some(c) = char::from_u32(first) {
        return Ok((vec![c], digits + 1));
    }
    let second = behind.get(digits + 1..).and_then(|rest| rest.strip_prefix('\\')).and_then(unit);
    let pair = second.filter(|_| dialect == Dialect::Json).and_then(|second| {
        let both = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
        char::decode_utf16(both).next()?.ok()
    });
    pair.map(|c| (vec![c], 2 * digits + 3)).ok_or_else(|| "half a character".to_owned())
}

fn number(word: &str, dialect: Dialect) -> Option<Value> {
    let python = dialect == Dialect::Python;
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits.trim_start()),
        None => (1, word.strip_prefix('+').filter(|_| python).unwrap_or(word)),
    };
    let first = digits.chars().next()?;
    if !(first.is_ascii_digit() || python && first == '.') {
        return None;
    }
    let cleaned;
    let digits = if python && !digits.ends_with('_') && !digits.contains("__") {
        cleaned = digits.replace('_', "");
        cleaned.as_str()
    } else {
        digits
    };
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.to_ascii_lowercase().strip_prefix(prefix).filter(|_| python) {
            return i128::from_str_radix(digits, base).ok().map(|number| Value::Int(sign * number));
        }
    }
    if digits.chars().all(|c| c.is_ascii_digit()) {
        if 1 < digits.len() && digits.starts_with('0') && !(python && digits.chars().all(|c| c == '0')) {
            return None;
        }
        return digits.parse::<i128>().ok().map(|number| Value::Int(sign * number));
    }
    let known = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    let bare = !python && (digits.ends_with('.') || digits.contains(".e") || digits.contains(".E"));
    let number = digits.parse::<f64>().ok().filter(|_| known && !bare)?;
    Some(Value::Float(if sign < 0 { -number } else { number }))
}
