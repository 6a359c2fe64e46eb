//! What a server writes beside the protocol: its stderr, drained from the first byte, kept bounded, shown
//! without secrets.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::AhoCorasick;
use kitbag_core::text::{MASK, looks_secret, redact_log, redact_words, visible};
use kitbag_core::{Limits, Secret, ServerName};

/// What is kept of one line in a log file.
const LONGEST_LINE: usize = 4096;

/// Values that must not be shown, in every form a program may print them.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Option<Arc<AhoCorasick>>);

impl Redactor {
    /// Values shorter than this are words, not secrets.
    const SHORTEST: usize = 6;

    /// Hides these values: plain, as hex, as base64, and percent-encoded.
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let long = secrets.into_iter().map(Secret::expose).filter(|value| Self::SHORTEST <= value.len());
        let forms: Vec<String> = long.flat_map(forms).collect();
        if forms.is_empty() {
            return Self(None);
        }
        let kind = aho_corasick::MatchKind::LeftmostLongest;
        Self(AhoCorasick::builder().match_kind(kind).build(&forms).ok().map(Arc::new))
    }

    /// The beginning of a line, of about this length; a secret that the cut would leave half of is left out.
    pub(crate) fn head<'a>(&self, line: &'a [u8], most: usize) -> &'a [u8] {
        if line.len() <= most {
            return line;
        }
        let longest = self.0.as_ref().map_or(0, |known| known.max_pattern_len());
        let window = &line[..line.len().min(most + longest)];
        let across = self.0.as_ref().and_then(|known| {
            known.find_iter(window).find(|found| found.start() < most && most < found.end())
        });
        &line[..across.map_or(most, |found| found.start())]
    }

    /// A line fit to be shown: without these values, without anything that looks like a secret, without
    /// control characters.
    pub(crate) fn line(&self, line: &[u8]) -> String {
        let text = String::from_utf8_lossy(line);
        let text = match &self.0 {
            Some(known) => {
                let masks = vec![MASK; known.patterns_len()];
                known.replace_all(&text, &masks)
            }
            None => text.into_owned(),
        };
        visible(&redact_log(&text))
    }
}

fn forms(value: &str) -> Vec<String> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = value
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    let base64 = base64(value.as_bytes(), b"+/");
    let url = base64_trimmed(value.as_bytes());
    let mut forms = vec![
        value.to_owned(),
        hex.to_uppercase(),
        hex,
        percent.to_lowercase(),
        percent,
        base64.trim_end_matches('=').to_owned(),
        url,
    ];
    forms.dedup();
    forms
}

/// Only for recognising: a server's own encoding is what has to be found.
fn base64(bytes: &[u8], last: &[u8; 2]) -> String {
    const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let digit = |six: u32| {
        char::from(
            *DIGITS.get(six as usize).unwrap_or_else(|| &last[(six as usize).saturating_sub(62).min(1)]),
        )
    };
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(digit(word >> (18 - 6 * place) & 63));
        }
    }
    text
}

fn base64_trimmed(bytes: &[u8]) -> String {
    base64(bytes, b"-_")
}

/// Values of a server that must not be shown.
pub(crate) fn secrets_of<'a>(named: impl Iterator<Item = (&'a str, &'a Secret)>) -> Vec<Secret> {
    let is_secret = |(name, value): &(&str, &Secret)| {
        kitbag_core::text::names_secret(name) || looks_secret(value.expose())
    };
    named.filter(is_secret).map(|(_, value)| value.clone()).collect()
}

/// Words of a command line, or parts of them, that must not be shown.
pub(crate) fn secret_words(args: &[Secret]) -> Vec<Secret> {
    let masked = redact_words(args.iter().map(Secret::expose));
    let hidden = args.iter().zip(&masked).filter_map(|(arg, masked)| {
        let (arg, masked) = (arg.expose(), masked.as_str());
        let before = common(arg.chars(), masked.chars());
        let (arg, masked) = (&arg[before..], &masked[before.min(masked.len())..]);
        let after = common(arg.chars().rev(), masked.chars().rev());
        Some(&arg[..arg.len() - after]).filter(|hidden| !hidden.is_empty())
    });
    hidden.map(Secret::new).collect()
}

/// How many bytes two texts begin with in common.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// The last bytes a server wrote to stderr, and the file they also go to.
pub(crate) struct Tail {
    redactor: Redactor,
    size: usize,
    ring: Mutex<VecDeque<u8>>,
    file: Mutex<Option<LogFile>>,
}

impl Tail {
    /// Keeps the last `limits.stderr` bytes, and writes to a log file in this folder.
    pub(crate) fn new(
        redactor: Redactor,
        limits: &Limits,
        folder: Option<&Path>,
        server: &ServerName,
    ) -> Self {
        let file = folder.and_then(|folder| LogFile::open(folder, server, limits.log));
        Self { redactor, size: limits.stderr, ring: Mutex::default(), file: Mutex::new(file) }
    }

    /// Takes bytes over.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &bytes[bytes.len().saturating_sub(self.size)..];
        let over = (ring.len() + bytes.len()).saturating_sub(self.size);
        let over = over.min(ring.len());
        ring.drain(..over);
        ring.extend(bytes);
        drop(ring);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file.as_mut() {
            file.push(bytes, &self.redactor);
        }
    }

    /// A line of ours in the log file.
    pub(crate) fn remark(&self, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file.as_mut() {
            file.line(&self.redactor.line(line.as_bytes()));
        }
    }

    /// The last lines, newest last. The ring may have cut the first one, and with it a secret, in two.
    pub(crate) fn last(&self, count: usize) -> Vec<String> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = ring.iter().copied().collect();
        drop(ring);
        let mut lines: Vec<&[u8]> =
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
        if self.size <= bytes.len() && !lines.is_empty() {
            lines.remove(0);
        }
        let skip = lines.len().saturating_sub(count);
        let shown = |line| self.redactor.line(self.redactor.head(line, 500));
        lines.into_iter().skip(skip).map(shown).collect()
    }

    /// A line fit to be shown.
    pub(crate) fn clean(&self, line: &[u8]) -> String {
        self.redactor.line(self.redactor.head(line, 200))
    }
}

/// The log file of a server.
pub(crate) fn log_file(folder: &Path, server: &ServerName) -> PathBuf {
    folder.join(format!("{}.log", server.slug()))
}

/// A bounded log file: when it is full, its older half goes.
struct LogFile {
    path: PathBuf,
    file: File,
    size: usize,
    limit: usize,
    /// What one run may still write; a flood is cut off instead of turning the file over and over.
    left: usize,
    partial: Vec<u8>,
}

impl LogFile {
    fn open(folder: &Path, server: &ServerName, limit: usize) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let path = log_file(folder, server);
        let file = File::options().create(true).append(true).open(&path).ok()?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).ok()?;
        let size = file.metadata().ok()?.len() as usize;
        Some(Self { path, file, size, limit, left: limit, partial: Vec::new() })
    }

    fn push(&mut self, bytes: &[u8], redactor: &Redactor) {
        if self.left == 0 {
            return;
        }
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for piece in &mut lines {
            let room = (2 * LONGEST_LINE).saturating_sub(self.partial.len());
            self.partial.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.line(&redactor.line(redactor.head(line.trim_ascii_end(), LONGEST_LINE)));
            }
        }
    }

    fn line(&mut self, text: &str) {
        let Some(left) = self.left.checked_sub(text.len() + 1) else {
            if 0 < self.left {
                self.left = 0;
                let _ = writeln!(self.file, "… more was written than is kept");
            }
            return;
        };
        self.left = left;
        if self.limit < self.size + text.len() {
            self.halve();
        }
        if writeln!(self.file, "{text}").is_ok() {
            self.size += text.len() + 1;
        }
    }

    fn halve(&mut self) {
        let Ok(text) = fs::read(&self.path) else { return };
        let from = text.len().saturating_sub(self.limit / 2);
        let cut = text[from..].iter().position(|byte| *byte == b'\n').map_or(from, |at| from + at + 1);
        let renewed =
            fs::write(&self.path, &text[cut..]).and_then(|()| File::options().append(true).open(&self.path));
        if let Ok(file) = renewed {
            self.file = file;
            self.size = text.len() - cut;
        }
    }
}
