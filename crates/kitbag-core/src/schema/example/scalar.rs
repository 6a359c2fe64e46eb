//! Numbers and texts that meet the bounds of a schema.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Number, Value};

/// The longest text made, in characters.
const LONGEST: usize = 1_000;

/// Whether only whole numbers will do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Yes,
    No,
}

/// A number within the bounds, the `salt`-th of its kind.
pub(super) fn number(object: &Map<String, Value>, whole: Whole, salt: usize) -> Option<Value> {
    let get = |keyword: &str| object.get(keyword).and_then(Value::as_f64);
    let flag = |keyword: &str| object.get(keyword) == Some(&Value::Bool(true));
    let multiple = get("multipleOf").filter(|multiple| 0.0 < *multiple);
    let step = multiple.unwrap_or(1.0);
    let (mut low, mut high) = (get("minimum"), get("maximum"));
    // In draft 4 the exclusive bounds are flags.
    let above = get("exclusiveMinimum").or_else(|| low.filter(|_| flag("exclusiveMinimum")));
    let below = get("exclusiveMaximum").or_else(|| high.filter(|_| flag("exclusiveMaximum")));
    // Between two bounds that are both excluded and near, only the middle is sure.
    if let (Some(above), Some(below), Whole::No, None) = (above, below, whole, multiple)
        && below - above <= 2.0
    {
        return json((above + below) / 2.0);
    }
    let next = |bound: f64| if bound.fract() == 0.0 { bound + 1.0 } else { bound.ceil() };
    let last = |bound: f64| if bound.fract() == 0.0 { bound - 1.0 } else { bound.floor() };
    low = larger(low, above.map(next));
    high = larger(high.map(|n| -n), below.map(|n| -last(n))).map(|n| -n);
    let mut value = 1.0;
    value = low.map_or(value, |low| low.max(value));
    value = high.map_or(value, |high| high.min(value));
    if whole == Whole::Yes {
        value = value.ceil();
    }
    if multiple.is_some() {
        let up = (value / step).ceil() * step;
        value = if high.is_some_and(|high| high < up) { (value / step).floor() * step } else { up };
    }
    json(value + step * salt as f64)
}

fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

fn json(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

/// A text of the format, pattern or length, the `salt`-th of its kind.
pub(super) fn text(object: &Map<String, Value>, salt: usize) -> Option<String> {
    let get = |keyword: &str| object.get(keyword).and_then(Value::as_str);
    let length =
        |keyword: &str| object.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (least, most) = (length("minLength").unwrap_or(0), length("maxLength").unwrap_or(LONGEST));
    if LONGEST < least {
        return None;
    }
    let fits = |text: &String| (least..=most).contains(&text.chars().count());
    let pattern = get("pattern").and_then(|pattern| matching(pattern, least));
    if let Some(text) = pattern.or_else(|| get("format").and_then(formatted)).filter(fits) {
        return Some(text);
    }
    let mut text = if salt == 0 { "text".to_owned() } else { format!("text{salt}") };
    let lack = least.saturating_sub(text.chars().count());
    text.push_str(&"t".repeat(lack));
    Some(text.chars().take(most).collect())
}

fn formatted(format: &str) -> Option<String> {
    let text = match format {
        "date-time" => "2025-01-31T12:00:00Z",
        "date" => "2025-01-31",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "ada@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => "https://example.com/",
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        "json-pointer" => "/a",
        "regex" => "^a$",
        _ => return None,
    };
    Some(text.to_owned())
}

/// A text that a pattern should match, as long as is asked where the pattern leaves room; the caller checks.
fn matching(pattern: &str, least: usize) -> Option<String> {
    // `\d` of a schema means the digits of ASCII.
    let mut parser = regex_syntax::ParserBuilder::new().unicode(true).nest_limit(32).build();
    let hir = parser.parse(&pattern.replace("\\d", "[0-9]").replace("\\/", "/")).ok()?;
    let mut text = String::new();
    fill(&hir, &mut text, 1)?;
    if text.chars().count() < least {
        text.clear();
        fill(&hir, &mut text, least)?;
        text = text.chars().take(least.max(1)).collect();
    }
    Some(text)
}

/// Adds a text that the pattern matches; repetitions without a bound run `often` times.
fn fill(hir: &Hir, text: &mut String, often: usize) -> Option<()> {
    if LONGEST < text.len() {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(first(class)?),
        HirKind::Capture(capture) => fill(&capture.sub, text, often)?,
        HirKind::Concat(all) => all.iter().try_for_each(|part| fill(part, text, often))?,
        HirKind::Alternation(all) => fill(all.first()?, text, often)?,
        HirKind::Repetition(repeated) => {
            let most = repeated.max.map_or(usize::MAX, |most| most as usize);
            let least = (repeated.min as usize).max(often.min(most));
            (0..least.min(LONGEST)).try_for_each(|_| fill(&repeated.sub, text, often))?;
        }
    }
    Some(())
}

/// A plain character of the class if it has one.
fn first(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let holds = |c: char| class.iter().any(|range| range.start() <= c && c <= range.end());
    "a0A-_ ".chars().find(|c| holds(*c)).or_else(|| class.iter().next().map(|range| range.start()))
}
