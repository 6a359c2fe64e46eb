//! A text as words, and phrases that are looked for in them. One pass, no backtracking beyond the few words of a phrase,
//! so a text costs as much as it is long.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

/// Words that a gap may stand for, at most.
const WIDEST: usize = 6;

/// The words of a text in lower case: of `read_the_file`, `readTheFile` and `Read the file` the same ones.
pub(super) struct Words<'t> {
    text: &'t str,
    words: Vec<Word>,
}

struct Word {
    letters: String,
    start: usize,
    end: usize,
    /// Whether a sentence ends before it.
    begins: bool,
}

impl<'t> Words<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let (mut begins, mut blank_lines, mut was_lower) = (true, 0, false);
        let mut open: Option<Word> = None;
        for (at, c) in text.char_indices() {
            let is_letter = c.is_alphanumeric();
            let is_joint = matches!(c, '\'' | '’') && open.is_some();
            if !is_letter && !is_joint || c.is_uppercase() && was_lower {
                words.extend(open.take());
            }
            was_lower = c.is_lowercase();
            if is_letter {
                let word = open.get_or_insert_with(|| {
                    let letters = String::new();
                    Word { letters, start: at, end: at, begins: std::mem::take(&mut begins) }
                });
                word.letters.extend(c.to_lowercase());
                word.end = at + c.len_utf8();
            }
            blank_lines = if c == '\n' { blank_lines + 1 } else { blank_lines * usize::from(c == ' ') };
            begins |= matches!(c, '.' | '!' | '?' | ';') || 1 < blank_lines;
        }
        words.extend(open);
        Self { text, words }
    }
}

/// Phrases and fixed texts that mean the same.
pub(super) struct Phrases {
    /// By their first word.
    of_word: HashMap<&'static str, Vec<Vec<Step>>>,
    /// None where they are too many to be looked for at once.
    literals: Option<AhoCorasick>,
}

/// One part of a phrase.
#[derive(Clone, Debug)]
enum Step {
    /// One of these words.
    One(Vec<&'static str>),
    /// One of these words, or none.
    Maybe(Vec<&'static str>),
    /// A few words of the same sentence, or none.
    Gap,
}

impl Phrases {
    /// Reads phrases: words with blanks between them, `a|b` for either, `a|b?` for either or none, `..` for a few words. Fixed
    /// texts are found whatever their case, where no letter or digit stands beside their own.
    pub(super) fn new(phrases: &[&'static str], literals: &[&'static str]) -> Self {
        let mut of_word: HashMap<&'static str, Vec<Vec<Step>>> = HashMap::new();
        for phrase in phrases {
            let steps: Vec<Step> = phrase.split(' ').map(step).collect();
            if let Some(Step::One(first)) = steps.first() {
                first.iter().for_each(|word| of_word.entry(word).or_default().push(steps[1..].to_vec()));
            }
        }
        let literals = AhoCorasick::builder().ascii_case_insensitive(true).build(literals).ok();
        Self { of_word, literals }
    }

    /// The first of them in a text.
    pub(super) fn find<'t>(&self, words: &Words<'t>) -> Option<&'t str> {
        self.literal(words.text).or_else(|| self.phrase(words))
    }

    fn literal<'t>(&self, text: &'t str) -> Option<&'t str> {
        let touches = |a: Option<char>, b: Option<char>| {
            a.is_some_and(char::is_alphanumeric) && b.is_some_and(char::is_alphanumeric)
        };
        let stands_alone = |start: usize, end: usize| {
            let found = &text[start..end];
            let before = text[..start].chars().next_back();
            // A dot before a name is another name's: `process.env`.
            let is_part = found.starts_with('.') && before.is_some_and(|c| c.is_alphanumeric() || c == ')');
            !is_part
                && !touches(before, found.chars().next())
                && !touches(found.chars().next_back(), text[end..].chars().next())
        };
        let mut found =
            self.literals.as_ref()?.find_overlapping_iter(text).map(|found| (found.start(), found.end()));
        let (start, end) = found.find(|(start, end)| stands_alone(*start, *end))?;
        text.get(start..end)
    }

    fn phrase<'t>(&self, words: &Words<'t>) -> Option<&'t str> {
        words.words.iter().enumerate().find_map(|(at, first)| {
            let phrases = self.of_word.get(first.letters.as_str())?;
            let end = phrases.iter().find_map(|steps| fits(steps, &words.words, at + 1))?;
            words.text.get(first.start..words.words.get(end.checked_sub(1)?)?.end)
        })
    }
}

fn step(text: &'static str) -> Step {
    match text.strip_suffix('?') {
        _ if text == ".." => Step::Gap,
        Some(words) => Step::Maybe(words.split('|').collect()),
        None => Step::One(text.split('|').collect()),
    }
}

/// Where a phrase ends that goes on at this word. Phrases have few steps, so this does not go deep.
fn fits(steps: &[Step], words: &[Word], at: usize) -> Option<usize> {
    let Some((step, rest)) = steps.split_first() else { return Some(at) };
    let next = words.get(at).filter(|word| !word.begins);
    let is_one = |of: &[&str]| next.is_some_and(|word| of.contains(&word.letters.as_str()));
    match step {
        Step::One(of) => is_one(of).then(|| fits(rest, words, at + 1))?,
        Step::Maybe(of) => {
            is_one(of).then(|| fits(rest, words, at + 1)).flatten().or_else(|| fits(rest, words, at))
        }
        Step::Gap => {
            let mut ways = (at..=at + WIDEST)
                .take_while(|to| *to == at || words.get(to - 1).is_some_and(|word| !word.begins));
            ways.find_map(|to| fits(rest, words, to))
        }
    }
}
