//! Parts of values: wherever twelve bytes in a row are a part of a secret, they are hidden. So whole values are found,
//! and also what is left of one that was cut, wrapped or taken apart into lines.

use std::ops::Range;

/// Fewer bytes of a secret give nothing away, and may be anybody's.
pub(super) const PART: usize = 12;

/// Fewer different bytes are a ruler or a row of stars.
const DIVERSE: usize = 4;

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
const TOP: u64 = power(BASE, PART - 1);

const fn power(base: u64, mut times: usize) -> u64 {
    let mut product = 1_u64;
    while 0 < times {
        product = product.wrapping_mul(base);
        times -= 1;
    }
    product
}

/// Hashes of every part of some texts, in an open table: 0 is an empty place. A scan costs one look per byte however
/// many secrets there are.
pub(super) struct Parts {
    table: Box<[u64]>,
    shift: u32,
}

impl Parts {
    pub(super) fn new<'a>(forms: impl Iterator<Item = &'a str>) -> Self {
        let mut keys = Vec::new();
        for form in forms {
            let mut window = Window::default();
            keys.extend(joined(form.as_bytes(), After::Text).filter_map(|(at, byte)| {
                let key = window.push(at, byte)?;
                window.is_diverse().then_some(key)
            }));
        }
        keys.sort_unstable();
        keys.dedup();
        let size = (2 * keys.len()).next_power_of_two().max(16);
        let mut parts =
            Self { table: vec![0; size].into_boxed_slice(), shift: u64::BITS - size.trailing_zeros() };
        for key in keys {
            let place = parts.place(key);
            parts.table[place] = key;
        }
        parts
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

    /// The ranges of a text that are parts of secrets, in order and apart. `before` is the end of the line that came
    /// before it.
    pub(super) fn find(&self, before: &[u8], text: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut window = Window::default();
        for (_, byte) in joined(before, After::Text) {
            window.push(0, byte);
        }
        let after = if before.is_empty() { After::Text } else { After::Line };
        for (at, byte) in joined(text, after) {
            let Some(key) = window.push(at, byte) else { continue };
            if self.table[self.place(key)] == 0 {
                continue;
            }
            match found.last_mut() {
                Some(last) if window.start() <= last.end => last.end = at + 1,
                _ => found.push(window.start()..at + 1),
            }
        }
        found
    }
}

/// What the first byte of a text comes after.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Text,
    Line,
}

/// A text without its line ends and what lines are indented by, each byte with its place: wrapped and indented text
/// is the same text.
fn joined(text: &[u8], after: After) -> impl Iterator<Item = (usize, u8)> {
    let mut begins = after == After::Line;
    text.iter().copied().enumerate().filter(move |(_, byte)| match byte {
        b'\n' | b'\r' => {
            begins = true;
            false
        }
        b' ' | b'\t' if begins => false,
        _ => {
            begins = false;
            true
        }
    })
}

/// The last bytes and their hash, rolled on.
#[derive(Default)]
struct Window {
    bytes: [u8; PART],
    places: [usize; PART],
    count: usize,
    hash: u64,
}

impl Window {
    /// Takes a byte over; the key of the window once it is full.
    fn push(&mut self, at: usize, byte: u8) -> Option<u64> {
        let slot = self.count % PART;
        let gone = if self.count < PART { 0 } else { u64::from(self.bytes[slot]) + 1 };
        self.hash = self
            .hash
            .wrapping_sub(gone.wrapping_mul(TOP))
            .wrapping_mul(BASE)
            .wrapping_add(u64::from(byte) + 1);
        self.bytes[slot] = byte;
        self.places[slot] = at;
        self.count += 1;
        (PART <= self.count).then(|| mixed(self.hash))
    }

    /// Where it begins.
    fn start(&self) -> usize {
        self.places[self.count % PART]
    }

    fn is_diverse(&self) -> bool {
        let mut bytes = self.bytes;
        bytes.sort_unstable();
        DIVERSE <= 1 + bytes.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash ^ hash >> 29) | 1
}
