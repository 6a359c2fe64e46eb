//! Which patterns can be asked: those of the engine whose time is linear in the text.
//!
//! Look-around and back-references need an engine that can be made to run for ever by a schema and a text,
//! both of which may come from a server. Such a pattern is left out and noted; the server still checks it.

use std::collections::HashMap;

use jsonschema::{Draft, PatternOptions, Regex};
use regex_syntax::hir::{Hir, HirKind};
use serde_json::json;

/// The longest pattern that is compiled, in bytes.
const LONGEST: usize = 2048;
/// A pattern may take this much memory when compiled: `(a{1000}){1000}` takes a thousand times more.
const LARGEST: usize = 1 << 20;
/// Above this a pattern counts as large; few of those are compiled, because each takes milliseconds.
const COMMON: usize = 64 << 10;
const LARGE_ONES: usize = 4;
/// Different patterns in one schema.
const MOST: usize = 256;

/// The engine for patterns, as it is used everywhere.
pub(super) fn engine() -> PatternOptions<Regex> {
    PatternOptions::regex().size_limit(LARGEST).dfa_size_limit(LARGEST)
}

/// What is known of a pattern: how large it is for a text that makes it work hard, or why it is left out.
pub(super) type Known = Result<u64, &'static str>;

/// The patterns of one schema, each tried once.
#[derive(Default)]
pub(super) struct Patterns<'a> {
    tried: HashMap<&'a str, Known>,
    large: usize,
}

impl<'a> Patterns<'a> {
    /// What a pattern costs, after a try if it is new; nothing if it is left out.
    pub(super) fn cost(&mut self, pattern: &'a str) -> u64 {
        if !self.tried.contains_key(pattern) && self.tried.len() < MOST {
            let known = self.test(pattern).map(|()| size_of(pattern));
            self.tried.insert(pattern, known);
        }
        self.known(pattern).unwrap_or(0)
    }

    /// What is known of a pattern that was tried.
    pub(super) fn known(&self, pattern: &str) -> Known {
        self.tried.get(pattern).copied().unwrap_or(Err("is one of too many patterns"))
    }

    fn test(&mut self, pattern: &str) -> Result<(), &'static str> {
        if LONGEST < pattern.len() {
            return Err("is too long a pattern");
        }
        if compiles(pattern, PatternOptions::regex().size_limit(COMMON)) {
            return Ok(());
        }
        if looks_around(pattern) {
            return Err("uses look-around or a back-reference");
        }
        if self.large < LARGE_ONES {
            self.large += 1;
            if compiles(pattern, engine()) {
                return Ok(());
            }
        }
        Err("is a pattern that cannot be checked in linear time and bounded memory")
    }
}

fn compiles(pattern: &str, engine: PatternOptions<Regex>) -> bool {
    let options = jsonschema::options().with_draft(Draft::Draft202012).with_pattern_options(engine);
    options.build(&json!({ "pattern": pattern })).is_ok()
}

/// For the note only; a wrong guess costs nothing.
fn looks_around(pattern: &str) -> bool {
    let back = |pair: &[u8]| pair[0] == b'\\' && (b'1'..=b'9').contains(&pair[1]);
    ["(?=", "(?!", "(?<=", "(?<!", "\\k<"].iter().any(|look| pattern.contains(look))
        || pattern.as_bytes().windows(2).any(back)
}

/// What counts where the size cannot be read.
const UNKNOWN: u64 = 1_000;

fn size_of(pattern: &str) -> u64 {
    let parsed = regex_syntax::ParserBuilder::new().nest_limit(64).build().parse(pattern);
    parsed.map_or(UNKNOWN, |hir| size(&hir).max(1))
}

/// Places in the pattern that one text can be at together. A literal is one: there is no choice within it.
fn size(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(_) | HirKind::Class(_) => 1,
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().fold(0, |sum: u64, part| sum.saturating_add(size(part)))
        }
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min).max(1);
            size(&repeated.sub).saturating_mul(u64::from(times))
        }
    }
}
