//! How Python's `pprint` breaks values into lines, which is how a program of Xircuits prints its outputs.

use super::Value;

/// Columns a line may have.
const WIDTH: isize = 80;

/// A value over several lines, as `pprint` writes it with this indentation.
pub(crate) fn pretty(value: &Value, indent: usize) -> String {
    let mut printer = Printer { out: String::new(), step: indent, open: Vec::new() };
    printer.format(value, 0, 0, 0);
    printer.out
}

struct Printer {
    out: String,
    step: usize,
    open: Vec<usize>,
}

impl Printer {
    fn format(&mut self, value: &Value, indent: usize, allowance: usize, level: usize) {
        let address = match value {
            Value::List(list) => Some(list.address()),
            Value::Dict(dict) => Some(dict.address()),
            _ => None,
        };
        if let Some(address) = address.filter(|address| self.open.contains(address)) {
            return self.out.push_str(&format!("<Recursion on {} with id={address}>", value.type_name()));
        }
        let line = one_line(value);
        let room = WIDTH - to_signed(indent) - to_signed(allowance);
        if to_signed(line.chars().count()) <= room {
            return self.out.push_str(&line);
        }
        self.open.extend(address);
        match value {
            Value::Dict(dict) => self.dict(&sorted(dict.rows()), indent, allowance, level + 1),
            Value::List(list) => self.sequence(('[', "]"), &list.to_vec(), indent, allowance, level + 1),
            Value::Tuple(parts) => {
                let end = if parts.len() == 1 { ",)" } else { ")" };
                self.sequence(('(', end), parts, indent, allowance, level + 1);
            }
            Value::Str(text) => self.string(text, indent, allowance, level + 1),
            _ => self.out.push_str(&line),
        }
        if address.is_some() {
            self.open.pop();
        }
    }

    fn lead(&mut self) {
        self.out.push_str(&" ".repeat(self.step.saturating_sub(1)));
    }

    fn dict(&mut self, rows: &[(Value, Value)], indent: usize, allowance: usize, level: usize) {
        self.out.push('{');
        self.lead();
        let indent = indent + self.step;
        for (place, (key, value)) in rows.iter().enumerate() {
            let is_last = place + 1 == rows.len();
            let key = one_line(key);
            self.out.push_str(&key);
            self.out.push_str(": ");
            let allowance = if is_last { allowance + 1 } else { 1 };
            self.format(value, indent + key.chars().count() + 2, allowance, level);
            if !is_last {
                self.new_line(indent, ",");
            }
        }
        self.out.push('}');
    }

    fn sequence(
        &mut self,
        (begin, end): (char, &str),
        values: &[Value],
        indent: usize,
        allowance: usize,
        level: usize,
    ) {
        self.out.push(begin);
        self.lead();
        let indent = indent + self.step;
        for (place, value) in values.iter().enumerate() {
            if 0 < place {
                self.new_line(indent, ",");
            }
            let is_last = place + 1 == values.len();
            self.format(value, indent, if is_last { allowance + end.len() } else { 1 }, level);
        }
        self.out.push_str(end);
    }

    fn new_line(&mut self, indent: usize, before: &str) {
        self.out.push_str(before);
        self.out.push('\n');
        self.out.push_str(&" ".repeat(indent));
    }

    fn string(&mut self, text: &str, indent: usize, allowance: usize, level: usize) {
        let outer = level == 1;
        let (indent, allowance) = if outer { (indent + 1, allowance + 1) } else { (indent, allowance) };
        let chunks = chunks(text, indent, allowance);
        if let [only] = chunks.as_slice() {
            return self.out.push_str(only);
        }
        if outer {
            self.out.push('(');
        }
        for (place, chunk) in chunks.iter().enumerate() {
            if 0 < place {
                self.new_line(indent, "");
            }
            self.out.push_str(chunk);
        }
        if outer {
            self.out.push(')');
        }
    }
}

/// The pieces of a long string: its lines, and those too long broken behind blanks.
fn chunks(text: &str, indent: usize, allowance: usize) -> Vec<String> {
    let quoted = |text: &str| Value::from(text).repr();
    let fits = |quoted: &str, room: isize| to_signed(quoted.chars().count()) <= room;
    let widest = WIDTH - to_signed(indent);
    let lines = lines(text);
    let mut chunks = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let is_last_line = number + 1 == lines.len();
        let room = if is_last_line { widest - to_signed(allowance) } else { widest };
        let whole = quoted(line);
        if fits(&whole, room) {
            chunks.push(whole);
            continue;
        }
        let parts = parts(line);
        let mut current = String::new();
        for (place, part) in parts.iter().enumerate() {
            let candidate = format!("{current}{part}");
            let is_last = is_last_line && place + 1 == parts.len();
            if fits(&quoted(&candidate), if is_last { room } else { widest }) {
                current = candidate;
                continue;
            }
            if !current.is_empty() {
                chunks.push(quoted(&current));
            }
            current = (*part).to_owned();
        }
        if !current.is_empty() {
            chunks.push(quoted(&current));
        }
    }
    chunks
}

/// Words, each with the blanks behind it.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut begin, mut in_blank) = (0, false);
    for (at, c) in line.char_indices() {
        let blank = c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
        if in_blank && !blank {
            parts.extend(line.get(begin..at));
            begin = at;
        }
        in_blank = blank;
    }
    parts.extend(line.get(begin..).filter(|rest| !rest.is_empty()));
    parts
}

/// Lines with their ends, at everything Python takes for one.
fn lines(text: &str) -> Vec<&str> {
    let ends = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| ends(*c)) {
        let mut end = at + c.len_utf8();
        if rest.get(at..).is_some_and(|rest| rest.starts_with("\r\n")) {
            end += 1;
        }
        let (line, behind) = rest.split_at(end);
        lines.push(line);
        rest = behind;
    }
    lines.extend((!rest.is_empty()).then_some(rest));
    lines
}

/// On one line, as `repr` but for dictionaries, which are sorted.
fn one_line(value: &Value) -> String {
    sorted_copy(value, &mut Vec::new()).repr()
}

fn sorted_copy(value: &Value, open: &mut Vec<usize>) -> Value {
    match value {
        Value::Dict(dict) if !open.contains(&dict.address()) => {
            open.push(dict.address());
            let copy = super::Dict::default();
            for (key, value) in sorted(dict.rows()) {
                let _ = copy.put(key, sorted_copy(&value, open));
            }
            open.pop();
            Value::Dict(copy)
        }
        Value::List(list) if !open.contains(&list.address()) => {
            open.push(list.address());
            let copy = Value::list(list.to_vec().iter().map(|value| sorted_copy(value, open)));
            open.pop();
            copy
        }
        Value::Tuple(parts) => Value::Tuple(parts.iter().map(|part| sorted_copy(part, open)).collect()),
        plain => plain.clone(),
    }
}

/// By key where keys can be compared, else by the names of their types.
fn sorted(mut rows: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
    let is_nan = |value: &Value| matches!(value, Value::Float(number) if number.is_nan());
    let before = |a: &Value, b: &Value| {
        // What compares with nothing stands last, so that there is one order.
        if is_nan(a) || is_nan(b) {
            return !is_nan(a);
        }
        super::compare(a, "<", b).map(|less| less.truth()).ok().unwrap_or_else(|| class(a) < class(b))
    };
    rows.sort_by(|(a, _), (b, _)| match (before(a, b), before(b, a)) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Equal,
    });
    rows
}

fn class(value: &Value) -> String {
    format!("<class '{}'>", value.type_name())
}

fn to_signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}
