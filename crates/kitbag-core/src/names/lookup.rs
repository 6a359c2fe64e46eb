//! Which tool a text means, among those one caller sees. Names are looked up, never split; what is not sure
//! is not guessed.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;

use super::{LONGEST, ServerName, ShownName, ToolName};
use crate::text::Asked;

#[cfg(test)]
mod tests;

/// No text longer than this is the name of anything: server, `/` and tool, in bytes.
const LONGEST_TEXT: usize = 2 * 4 * LONGEST + 1;
/// Names worth suggesting at once.
const NEAR: usize = 3;

/// One tool of a view, by all its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRow {
    /// What the view calls it.
    pub shown: ShownName,
    /// What it is called in full.
    pub full: ShownName,
    /// `<server>_<tool>`, as the table of short names has it; a local tool's shown name.
    pub short: ShownName,
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: ToolName,
}

/// What a text means. Numbers are places of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameMatch {
    /// This tool.
    One(usize),
    /// Any of these, in order of their shown names.
    Ambiguous(Vec<usize>),
    /// None.
    None {
        /// Those with a name much like it, the nearest first; at most three.
        near: Vec<usize>,
    },
}

/// By what kind of name a tool was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// By a name that says which server is meant, or that the view itself gave out. Also said of a text that
    /// leads nowhere.
    Name,
    /// By its short or its own name, or as `server/tool` where the server is spelled otherwise. A server that
    /// has not listed its tools yet may have a tool of that name, and the text then means another tool.
    Own,
}

/// The names of one view, made ready for being asked.
#[derive(Debug)]
pub struct NameIndex {
    rows: Box<[NameRow]>,
    keys: RandomState,
    // Nearly every text is an exact shown name: the other indices are made when one is not.
    indices: [OnceLock<Index>; WAYS],
}

impl NameIndex {
    /// For the tools that the caller sees, and no others.
    pub fn new(rows: impl IntoIterator<Item = NameRow>) -> Self {
        let lookup = Self {
            rows: rows.into_iter().collect(),
            keys: RandomState::new(),
            indices: [const { OnceLock::new() }; WAYS],
        };
        lookup.index(Way::Shown);
        lookup
    }

    /// The tools, as they were given.
    pub fn rows(&self) -> &[NameRow] {
        &self.rows
    }

    /// The tool a text means: by its shown name, its full name, as `server/tool`; by each of these without
    /// regard to `-`, `_` and case; by its short or its own name, or as other programs write it (`server.tool`,
    /// `server__tool`, `mcp__server__tool`); by these without regard to the same.
    ///
    /// The first way that leads to any tool decides, and if it leads to several the text is ambiguous.
    pub fn find(&self, text: &str) -> NameMatch {
        self.find_by(text).0
    }

    /// The tool a text means, as [`NameIndex::find`] says, and by what kind of name.
    pub fn find_by(&self, text: &str) -> (NameMatch, MatchedBy) {
        if text.len() <= LONGEST_TEXT {
            // Nearly every text is an exact shown name, and calls are made by it.
            let mut shown = self.fitting(Way::Shown, text);
            if let (Some(one), None) = (shown.next(), shown.next()) {
                return (NameMatch::One(one), MatchedBy::Name);
            }
            for ways in TIERS {
                let ways = ways.iter().filter(|way| way.is_spelled_so(text));
                let mut fitting = ways.clone().flat_map(|way| self.fitting(*way, text));
                let (Some(one), Some(way)) = (fitting.next(), ways.clone().next()) else { continue };
                // One tool may be called so in several ways.
                let Some(other) = fitting.find(|row| *row != one) else {
                    return (NameMatch::One(one), self.by(*way, text, one));
                };
                let all = self.in_order([one, other].into_iter().chain(fitting));
                return (NameMatch::Ambiguous(all), self.by(*way, text, one));
            }
        }
        (NameMatch::None { near: self.near(text) }, MatchedBy::Name)
    }

    fn by(&self, way: Way, text: &str, row: usize) -> MatchedBy {
        match way {
            Way::Short | Way::Tool | Way::ShortLoosely | Way::ToolLoosely => MatchedBy::Own,
            // `One/x` means a tool of `one` only as long as `One` has none.
            Way::PairLoosely if !text.starts_with(self.rows[row].server.as_str()) => MatchedBy::Own,
            _ => MatchedBy::Name,
        }
    }

    fn fitting<'a>(&'a self, way: Way, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        let asked = [text, "", "", ""];
        let alike = self.index(way).rows(way.hash(asked, &self.keys));
        alike.filter(move |row| way.same(asked, way.parts(&self.rows[*row])))
    }

    fn index(&self, way: Way) -> &Index {
        self.indices[way as usize]
            .get_or_init(|| Index::new(self.rows.iter().map(|row| way.hash(way.parts(row), &self.keys))))
    }

    fn in_order(&self, rows: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut rows: Vec<usize> = rows.collect();
        rows.sort_by_key(|row| (&self.rows[*row].shown, *row));
        rows.dedup();
        rows
    }

    fn near(&self, text: &str) -> Vec<usize> {
        // No slip of the hand, and a megabyte is not looked through for each of thousands of names.
        if LONGEST_TEXT < text.len() {
            return Vec::new();
        }
        let asked = Asked::new(text);
        let is_pair = text.contains('/');
        let distance = |row: &NameRow| {
            let pair = is_pair.then(|| format!("{}/{}", row.server, row.tool));
            let names = [row.shown.as_str(), row.tool.as_str()].into_iter().chain(pair.as_deref());
            names.filter_map(|name| asked.distance(name)).min()
        };
        let mut near: Vec<(usize, &ShownName, usize)> = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            if let Some(distance) = distance(row) {
                near.push((distance, &row.shown, place));
            }
        }
        near.sort_unstable();
        near.into_iter().take(NEAR).map(|(.., place)| place).collect()
    }
}

/// A name in parts, so that nothing need be put together to be compared.
type Parts<'a> = [&'a str; 4];

/// A way from a text to tools.
#[derive(Clone, Copy, Debug)]
enum Way {
    Shown,
    Full,
    Pair,
    PairLoosely,
    ShownLoosely,
    FullLoosely,
    Short,
    Tool,
    ShortLoosely,
    ToolLoosely,
    /// `server.tool`, loosely.
    Dotted,
    /// `server__tool`, loosely.
    Joined,
    /// `mcp__server__tool`, loosely.
    Prefixed,
}

/// How many ways there are.
const WAYS: usize = Way::Prefixed as usize + 1;

/// The ways in the order they are tried, the surest first. Nothing says whether `good_echo` is the `echo` of
/// `good` or another server's `good_echo`, so the short and the own name are asked together; nor is `good__echo` left to
/// another server's tool of that name.
const TIERS: [&[Way]; 8] = [
    &[Way::Shown],
    &[Way::Full],
    &[Way::Pair],
    &[Way::PairLoosely],
    &[Way::ShownLoosely],
    &[Way::FullLoosely],
    &[Way::Short, Way::Tool, Way::Dotted, Way::Joined, Way::Prefixed],
    &[Way::ShortLoosely, Way::ToolLoosely],
];

impl Way {
    /// What a tool is called on this way.
    fn parts(self, row: &NameRow) -> Parts<'_> {
        match self {
            Self::Shown | Self::ShownLoosely => [row.shown.as_str(), "", "", ""],
            Self::Full | Self::FullLoosely => [row.full.as_str(), "", "", ""],
            Self::Pair | Self::PairLoosely => [row.server.as_str(), "/", row.tool.as_str(), ""],
            Self::Short | Self::ShortLoosely => [row.short.as_str(), "", "", ""],
            Self::Tool | Self::ToolLoosely => [row.tool.as_str(), "", "", ""],
            Self::Dotted => [row.server.as_str(), ".", row.tool.as_str(), ""],
            Self::Joined => [row.server.as_str(), "__", row.tool.as_str(), ""],
            Self::Prefixed => ["mcp__", row.server.as_str(), "__", row.tool.as_str()],
        }
    }

    /// Whether a text can be a name of this kind at all: the rarer ones are looked up only where it can.
    fn is_spelled_so(self, text: &str) -> bool {
        match self {
            Self::Dotted => text.contains('.'),
            Self::Joined | Self::Prefixed => text.contains("__"),
            _ => true,
        }
    }

    fn same(self, one: Parts<'_>, other: Parts<'_>) -> bool {
        if self.is_plain() { one[0] == other[0] } else { self.bytes(one).eq(self.bytes(other)) }
    }

    fn hash(self, parts: Parts<'_>, keys: &RandomState) -> u64 {
        let mut hasher = keys.build_hasher();
        if self.is_plain() {
            hasher.write(parts[0].as_bytes());
        } else {
            // Byte by byte: a hash need not be the same for the same bytes in other pieces.
            self.bytes(parts).for_each(|byte| hasher.write_u8(byte));
        }
        hasher.finish()
    }

    /// Whether names are compared whole and as they stand, which is several times as fast.
    fn is_plain(self) -> bool {
        matches!(self, Self::Shown | Self::Full | Self::Short | Self::Tool)
    }

    /// What is compared of a name otherwise.
    fn bytes<'a>(self, parts: Parts<'a>) -> impl Iterator<Item = u8> + 'a {
        let loosely = !self.is_plain() && !matches!(self, Self::Pair);
        parts.into_iter().flat_map(str::bytes).map(move |byte| match byte {
            b'-' if loosely => b'_',
            _ if loosely => byte.to_ascii_lowercase(),
            _ => byte,
        })
    }
}

/// Rows by the hash of a name: the first of each, and after each the next with the same.
#[derive(Debug)]
struct Index {
    first: HashMap<u64, usize>,
    next: Box<[Option<usize>]>,
}

impl Index {
    fn new(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut first = HashMap::with_capacity(hashes.len());
        let next = hashes.enumerate().map(|(row, hash)| first.insert(hash, row)).collect();
        Self { first, next }
    }

    fn rows(&self, hash: u64) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first.get(&hash).copied(), |row| self.next[*row])
    }
}
