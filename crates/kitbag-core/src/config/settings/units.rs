//! Numbers with units, as people write them: times, sizes and bounds.

use std::time::Duration;

use super::super::tree::Node;
use crate::model::LimitValue;

/// A bound: a time, a size, or a number from 1.
pub(super) fn bound(node: &Node) -> Option<LimitValue> {
    let time = node.text().and_then(duration).filter(|time| !time.is_zero()).map(LimitValue::Time);
    let bytes = || node.text().and_then(size).filter(|size| 0 < *size).map(LimitValue::Bytes);
    let items = || {
        node.number()
            .filter(|number| 1.0 <= *number && number.fract() == 0.0 && *number < 1e15)
            .map(|number| LimitValue::Items(number as usize))
    };
    time.or_else(bytes).or_else(items)
}

/// `500ms`, `5s`, `2m`, `1h`, `90d`, with a fraction if need be.
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 24.0 * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| *duration <= Duration::from_secs(3_650 * 24 * 3600))
}

/// `16MiB`, `64KiB`, `1GiB`, `10MB`, `512B`.
pub fn size(text: &str) -> Option<usize> {
    let (number, unit) = split_unit(text)?;
    let factor: u32 = match unit {
        "B" | "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    let bytes = number * f64::from(factor);
    (0.0..1e15).contains(&bytes).then_some(bytes as usize)
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    Some((number.parse().ok()?, unit.trim_start()))
}
