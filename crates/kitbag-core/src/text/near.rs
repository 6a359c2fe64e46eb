//! What was probably meant: a misspelt key is worth a hint, a merely different one is not.

#[cfg(test)]
mod tests;

/// Fewer letters than this occur in half of all names and say nothing.
const TELLING: usize = 4;
/// More slips than this are another word.
const MOST_SLIPS: usize = 2;
/// What is compared of a word, in characters.
const LONGEST: usize = 64;

/// The candidate that a typing mistake away from `word` would give; of several the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    all_nearest(word, candidates).into_iter().next()
}

/// All candidates that as few typing mistakes as any away from `word` would give, in their order.
pub fn all_nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let asked = Asked::new(word);
    let mut least = usize::MAX;
    let mut best = Vec::new();
    for candidate in candidates.into_iter().filter(|candidate| *candidate != word) {
        let Some(slips) = asked.slips(&fold(candidate)).filter(|slips| *slips <= least) else { continue };
        if slips < least {
            best.clear();
        }
        least = slips;
        best.push(candidate);
    }
    best
}

/// A word that nothing is called, folded once for comparing it with many.
pub(crate) struct Asked {
    folded: String,
    letters: Letters,
}

impl Asked {
    pub(crate) fn new(word: &str) -> Self {
        let folded = fold(word);
        Self { letters: Letters::of(&folded), folded }
    }

    /// How far a candidate is: slips of the hand first, then parts of one another, the fewer letters left
    /// over the nearer. Nothing if they merely differ.
    pub(crate) fn distance(&self, candidate: &str) -> Option<usize> {
        let other = fold(candidate);
        self.slips(&other).or_else(|| {
            let (short, long) =
                if other.len() < self.folded.len() { (&other, &self.folded) } else { (&self.folded, &other) };
            (TELLING <= short.len() && long.contains(short.as_str()))
                .then(|| MOST_SLIPS + long.len() - short.len())
        })
    }

    /// How many slips of the hand lie between the word and a folded one, if few.
    fn slips(&self, other: &str) -> Option<usize> {
        // Short words are all near each other; one slip in three letters is the most that says anything.
        let room = (self.folded.len().min(other.len()) / 3).min(MOST_SLIPS);
        // Measuring is the dear part: most words differ too much in their letters alone.
        if !self.letters.within(room, &Letters::of(other)) {
            return None;
        }
        let (one, other) = without_common_ends(&self.folded, other);
        Some(strsim::damerau_levenshtein(one, other)).filter(|slips| *slips <= room)
    }
}

/// How often each letter occurs, some letters counted as one.
struct Letters {
    counts: [u8; 32],
    all: usize,
}

impl Letters {
    fn of(folded: &str) -> Self {
        let mut letters = Self { counts: [0; 32], all: 0 };
        for c in folded.chars() {
            letters.counts[(u32::from(c) & 31) as usize] += 1;
            letters.all += 1;
        }
        letters
    }

    /// Whether so few slips could lie between: each changes the length by one, or two counts.
    fn within(&self, slips: usize, other: &Self) -> bool {
        let pairs = self.counts.iter().zip(&other.counts);
        self.all.abs_diff(other.all) <= slips
            && pairs.map(|(one, other)| u32::from(one.abs_diff(*other))).sum::<u32>() <= 2 * slips as u32
    }
}

/// What is equal at both ends adds nothing to a distance.
fn without_common_ends<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
    };
    let front = same(&mut one.chars().zip(other.chars()));
    let (one, other) = (&one[front..], &other[front..]);
    let back = same(&mut one.chars().rev().zip(other.chars().rev()));
    (&one[..one.len() - back], &other[..other.len() - back])
}

/// `MCP-Servers`, `mcp_servers` and `mcpServers` are one word to a person.
fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len().min(LONGEST));
    for c in word.chars().take(LONGEST).filter(|c| !matches!(c, '-' | '_' | ' ')) {
        match c {
            ' '..='~' => folded.push(c.to_ascii_lowercase()),
            _ => folded.extend(c.to_lowercase()),
        }
    }
    folded
}
