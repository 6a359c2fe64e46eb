//! Every path that code names, with `use a::{b, c::d}` written out: a rule about `std::fs` must also see
//! `use std::{fs, io}`.

use std::iter::Peekable;

/// One path and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    pub(super) line: usize,
    pub(super) parts: Vec<&'a str>,
}

/// All paths in masked code; a lone word is a path of one part.
pub(super) fn paths(code: &str) -> Vec<Named<'_>> {
    let mut reader = Reader { tokens: tokens(code).into_iter().peekable(), found: Vec::new() };
    while let Some(token) = reader.tokens.next() {
        if let Token::Word(line, word) = token {
            reader.path(&[], line, word);
        }
    }
    reader.found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(usize, &'a str),
    /// `::`
    Then,
    Open,
    Close,
    Other,
}

struct Reader<'a> {
    tokens: Peekable<std::vec::IntoIter<Token<'a>>>,
    found: Vec<Named<'a>>,
}

impl<'a> Reader<'a> {
    /// The path that goes on from `prefix` with `word`.
    fn path(&mut self, prefix: &[&'a str], line: usize, word: &'a str) {
        let mut parts = prefix.to_vec();
        parts.push(word);
        while self.tokens.next_if_eq(&Token::Then).is_some() {
            match self.tokens.peek() {
                Some(&Token::Word(_, word)) => parts.push(word),
                Some(Token::Open) => {
                    self.tokens.next();
                    return self.group(&parts);
                }
                _ => break,
            }
            self.tokens.next();
        }
        self.found.push(Named { line, parts });
    }

    /// What stands between the braces after `prefix::`.
    fn group(&mut self, prefix: &[&'a str]) {
        while let Some(token) = self.tokens.next() {
            match token {
                // The new name is no path.
                Token::Word(_, "as") => drop(self.tokens.next()),
                Token::Word(line, word) => self.path(prefix, line, word),
                Token::Close => return,
                Token::Then | Token::Open | Token::Other => {}
            }
        }
    }
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (token, len) = match first {
                _ if 0 < word => (Token::Word(index + 1, &rest[..word]), word),
                '{' => (Token::Open, 1),
                '}' => (Token::Close, 1),
                ':' if rest.starts_with("::") => (Token::Then, 2),
                _ => (Token::Other, first.len_utf8()),
            };
            out.push(token);
            rest = rest[len..].trim_start();
        }
    }
    out
}

#[cfg(test)]
mod tests;
