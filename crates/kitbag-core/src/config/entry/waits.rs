//! Timeouts. The same number is a minute to one program and sixteen hours to another, so the unit comes
//! from the key or the dialect, and a number that makes no sense in it gets a remark.

use std::time::Duration;

use super::super::dialect::TimeUnit;
use super::super::tree::{KeyValue, Node, Tree};
use super::keys::{Field, Span};
use super::{Context, Fields, unit_word};
use crate::fault::{Fault, FaultKind};

/// Longer than anybody waits for a tool on purpose.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Longer than this and the unit was probably mistaken.
const DOUBTFUL: f64 = 3600.0;

pub(super) fn call(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Duration> {
    for span in [Span::Millis, Span::Seconds] {
        if let Some(pair) = fields.get(Field::Call(span)) {
            return duration(context, pair, span.into(), "call_timeout");
        }
    }
    let pair = fields.get(Field::Timeout)?;
    match pair.value.pair("request") {
        Some(inner) => duration(context, inner, TimeUnit::Millis, "call_timeout"),
        None if pair.value.map().is_some() => None,
        None => duration(context, pair, context.dialect.timeout, "call_timeout"),
    }
}

pub(super) fn connect(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Duration> {
    for span in [Span::Millis, Span::Seconds] {
        if let Some(pair) = fields.get(Field::Start(span)) {
            return duration(context, pair, span.into(), "connect_timeout");
        }
    }
    let inner = fields.get(Field::Timeout)?.value.pair("startup")?;
    duration(context, inner, TimeUnit::Millis, "connect_timeout")
}

fn duration(
    context: &mut Context<'_>,
    pair: &KeyValue,
    unit: TimeUnit,
    key: &'static str,
) -> Option<Duration> {
    context.remember(key, pair.at);
    let Some(number) = number(context, pair) else {
        return spelt(&pair.value);
    };
    if !(0.0..f64::from(u32::MAX)).contains(&number) {
        let message = format!("{:?} cannot be {number}", pair.key);
        context.say(Fault::error(FaultKind::Timeout, message).hint("write a positive number"), pair.value.at);
        return None;
    }
    let seconds = match unit {
        TimeUnit::Millis => number / 1000.0,
        TimeUnit::Seconds => number,
        TimeUnit::Guess if 1000.0 <= number => number / 1000.0,
        TimeUnit::Guess => number,
    };
    remark(context, pair, unit, number);
    if number == 0.0 {
        return None; // Everywhere a zero means: no limit of its own.
    }
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST))
}

/// Says what the number was taken for, where that may not be what was meant.
fn remark(context: &mut Context<'_>, pair: &KeyValue, unit: TimeUnit, number: f64) {
    let title = context.dialect.title;
    let fault = match unit {
        TimeUnit::Seconds if DOUBTFUL < number => {
            let hours = number / 3600.0;
            Fault::warning(
                FaultKind::Timeout,
                format!("{:?} counts seconds here: {number} is {hours:.1} hours", pair.key),
            )
            .hint(format!("write {} if milliseconds were meant", number / 1000.0))
        }
        TimeUnit::Millis if 0.0 < number && number < 1000.0 => Fault::warning(
            FaultKind::Timeout,
            format!("{:?} counts milliseconds here: {number} is less than a second", pair.key),
        )
        .hint(format!("write {} if seconds were meant", number * 1000.0)),
        TimeUnit::Guess if 0.0 < number => {
            let taken = if 1000.0 <= number { TimeUnit::Millis } else { TimeUnit::Seconds };
            Fault::note(
                FaultKind::Timeout,
                format!("{title} gives {:?} no unit: {number} is taken as {}", pair.key, unit_word(taken)),
            )
        }
        _ => return,
    };
    context.say(fault, pair.value.at);
}

/// A number, also when it stands in quotes, with a remark.
fn number(context: &mut Context<'_>, pair: &KeyValue) -> Option<f64> {
    match &pair.value.tree {
        Tree::Number(_) => pair.value.number(),
        Tree::Text(text) if spelt(&pair.value).is_none() => {
            let parsed = text.trim().parse().ok();
            let fault = Fault::warning(FaultKind::WrongType, format!("{:?} is a string", pair.key));
            match parsed {
                Some(number) => {
                    context.say(fault.hint(format!("write {number} without quotes")), pair.value.at);
                    Some(number)
                }
                None => {
                    context.wrong_type(pair, "a number");
                    None
                }
            }
        }
        Tree::Text(_) | Tree::Null => None,
        _ => {
            context.wrong_type(pair, "a number");
            None
        }
    }
}

/// `5s`, `500ms`, `2m`: a text that carries its unit.
fn spelt(node: &Node) -> Option<Duration> {
    crate::config::settings::duration(node.text()?)
}
