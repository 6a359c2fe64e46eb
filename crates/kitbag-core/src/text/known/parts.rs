//! Parts of values: wherever twelve bytes in a row are a part of a secret, they are hidden. So whole values are found,
//! and also what is left of one that was cut, wrapped or taken apart into lines.

use std::borrow::Cow;
use std::ops::Range;

/// Fewer bytes of a secret give nothing away, and may be anybody's.
pub(super) const PART: usize = 12;

/// What is looked at first: of any part, one such piece begins at a multiple of [`STEP`].
const PIECE: usize = 8;
const STEP: usize = PART - PIECE + 1;

/// Fewer different bytes are a ruler or a row of stars.
const DIVERSE: usize = 4;

/// Every part of some texts. A scan looks at one place in five, however many secrets there are.
pub(super) struct Parts {
    /// Hashes of parts, in an open table: 0 is an empty place.
    table: Box<[u64]>,
    shift: u32,
    /// A bit for the hash of each piece; most text is told by it to be none.
    pieces: Box<[u64]>,
    piece_shift: u32,
}

impl Parts {
    pub(super) fn new<'a>(forms: impl Iterator<Item = &'a str>) -> Self {
        let forms: Vec<Cow<'a, [u8]>> = forms.map(|form| Joined::new(b"", form.as_bytes()).bytes).collect();
        let parts = || forms.iter().flat_map(|form| form.windows(PART)).filter(|part| is_diverse(part));
        // Forms of one value have most of their parts in common.
        let mut keys: Vec<u64> = parts().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let size = (2 * keys.len()).next_power_of_two().max(64);
        let bits = 8 * size;
        let mut known = Self {
            table: vec![0; size].into_boxed_slice(),
            shift: u64::BITS - size.trailing_zeros(),
            pieces: vec![0; bits / 64].into_boxed_slice(),
            piece_shift: u64::BITS - bits.trailing_zeros(),
        };
        for key in keys {
            let place = known.place(key);
            known.table[place] = key;
        }
        for piece in parts().flat_map(|part| part.windows(PIECE)) {
            let bit = known.bit(piece);
            known.pieces[bit / 64] |= 1 << (bit % 64);
        }
        known
    }

    /// Where this key stands, or would.
    fn place(&self, key: u64) -> usize {
        let last = self.table.len() - 1;
        let mut place = (key >> self.shift) as usize;
        while self.table[place] != 0 && self.table[place] != key {
            place = (place + 1) & last;
        }
        place
    }

    fn bit(&self, piece: &[u8]) -> usize {
        (word(piece).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.piece_shift) as usize
    }

    /// The ranges of a text that are parts of secrets, in order and apart. `before` is the end of the line that came
    /// before it.
    pub(super) fn find(&self, before: &[u8], text: &[u8]) -> Vec<Range<usize>> {
        let joined = Joined::new(before, text);
        let bytes = &*joined.bytes;
        let mut found: Vec<Range<usize>> = Vec::new();
        for (index, piece) in bytes.windows(PIECE).step_by(STEP).enumerate() {
            let bit = self.bit(piece);
            if self.pieces[bit / 64] >> (bit % 64) & 1 == 0 {
                continue;
            }
            let at = index * STEP;
            for start in at.saturating_sub(STEP - 1)..=at {
                let Some(part) = bytes.get(start..start + PART) else { break };
                if self.table[self.place(key(part))] == 0 {
                    continue;
                }
                match found.last_mut() {
                    Some(last) if start <= last.end => last.end = start + PART,
                    _ => found.push(start..start + PART),
                }
            }
        }
        found.into_iter().filter_map(|range| joined.in_text(&range)).collect()
    }
}

fn is_diverse(part: &[u8]) -> bool {
    let first = |at: &usize| !part[..*at].contains(&part[*at]);
    (0..part.len()).filter(first).nth(DIVERSE - 1).is_some()
}

/// The bytes of a piece as a number.
fn word(piece: &[u8]) -> u64 {
    piece.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn key(part: &[u8]) -> u64 {
    let end = part.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let hash =
        word(part).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ u64::from(end).wrapping_mul(0xa076_1d64_78bd_642f);
    let hash = (hash ^ hash >> 32).wrapping_mul(0xe703_7ed1_a0b4_28db);
    (hash ^ hash >> 29) | 1
}

/// A text without its line ends and what lines are indented by: wrapped and indented text is the same text.
struct Joined<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where each line begins in these bytes, and where in the text; lines of what came before are not in it.
    lines: Vec<(usize, usize)>,
}

impl<'a> Joined<'a> {
    fn new(before: &[u8], text: &'a [u8]) -> Self {
        if before.is_empty() && !text.contains(&b'\n') && !text.contains(&b'\r') {
            return Self { bytes: Cow::Borrowed(text), lines: vec![(0, 0)] };
        }
        let mut bytes = Vec::with_capacity(before.len() + text.len());
        before.split(is_end).for_each(|line| bytes.extend_from_slice(line.trim_ascii_start()));
        let mut lines = Vec::new();
        let mut at = 0;
        for (number, line) in text.split(is_end).enumerate() {
            // The first line is one only if something came before it.
            let begins = 0 < number || !before.is_empty();
            let inner = if begins { line.trim_ascii_start() } else { line };
            lines.push((bytes.len(), at + line.len() - inner.len()));
            bytes.extend_from_slice(inner);
            at += line.len() + 1;
        }
        Self { bytes: Cow::Owned(bytes), lines }
    }

    /// A range of these bytes as one of the text; none if it is not in it.
    fn in_text(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let place = |byte: usize| {
            let line = self.lines.partition_point(|(begin, _)| *begin <= byte).checked_sub(1)?;
            self.lines.get(line).map(|(begin, at)| at + byte - begin)
        };
        let last = place(range.end - 1)?;
        Some(place(range.start).unwrap_or(0)..last + 1)
    }
}

fn is_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
