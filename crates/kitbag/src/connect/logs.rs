//! The stderr log of a server, drained from the first byte, kept bounded, shown
//! without secrets.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use kitbag_core::text::{Redactor, rfc3339};
use kitbag_core::{Limits, ServerName};
use tokio::time::Instant;

use super::reason::Reason;

/// What is kept of one line in a log file: of a longer one the beginning and the end.
const LONGEST_LINE: usize = 4096;
/// Where a line was cut, up to one byte less of a secret may stand that nothing shows for what it is.
const HALF_SECRET: usize = 12;

/// The last bytes a server wrote to stderr, and the file they also go to.
pub(crate) struct Tail {
    redactor: Redactor,
    size: usize,
    /// Silence after which a line that has not ended is written to the file.
    pub(super) pause: Duration,
    ring: Mutex<VecDeque<u8>>,
    heard: Mutex<Option<Instant>>,
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
        let (size, pause) = (limits.stderr, limits.stderr_pause);
        Self {
            redactor,
            size,
            pause,
            ring: Mutex::default(),
            heard: Mutex::default(),
            file: Mutex::new(file),
        }
    }

    /// Takes bytes over.
    pub(crate) fn push(&self, bytes: &[u8]) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
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

    /// When something was last written.
    pub(crate) fn heard(&self) -> Option<Instant> {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a line has begun that has not ended, and is not in the file.
    pub(crate) fn is_unfinished(&self) -> bool {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_ref().is_some_and(|file| !file.unfinished.bytes.is_empty())
    }

    /// Writes what there is of it to the file.
    pub(crate) fn settle(&self) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file.as_mut() {
            file.settle(&self.redactor);
        }
    }

    /// A line of ours in the log file.
    pub(crate) fn remark(&self, line: &str) {
        self.write(&self.redactor.line(line.as_bytes()));
    }

    /// Why the server cannot be used. The hint is ours: what looks like a secret in it is the example of a header.
    pub(crate) fn cannot_connect(&self, why: &Reason) {
        let why = why.clone().cleaned(&self.redactor);
        let hint = why.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        self.write(&format!("ERROR cannot connect: {why}{hint}"));
    }

    /// A line that is masked already.
    fn write(&self, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file.as_mut() {
            file.line(line);
        }
    }

    /// The last lines, newest last. The ring may have cut the first one, and with it a secret, in two.
    pub(crate) fn last(&self, count: usize) -> Vec<String> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = ring.iter().copied().collect();
        drop(ring);
        let mut lines: Vec<&[u8]> =
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
        if self.size <= bytes.len() {
            match *lines {
                [] => {}
                // All that is left of it is its end.
                [only] => return vec![end_of(only, 500, &self.redactor)],
                _ => drop(lines.remove(0)),
            }
        }
        let skip = lines.len().saturating_sub(count);
        // A secret of many lines goes on in the next.
        let before = |at: usize| at.checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default();
        let shown =
            |(at, line): (usize, &&[u8])| self.redactor.line_after(before(at), self.redactor.head(line, 500));
        lines.iter().enumerate().skip(skip).map(shown).collect()
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
    unfinished: Unfinished,
    /// The line before: a secret of many lines goes on in the next.
    before: Vec<u8>,
}

/// A line that has not ended.
#[derive(Default)]
struct Unfinished {
    /// What of it is not in the file yet; the end of that, when it is long.
    bytes: Vec<u8>,
    written: Written,
}

/// How much of a line is in the file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Written {
    #[default]
    Nothing,
    /// All that came before the bytes kept.
    AllBefore,
    /// Its beginning; something is left out between that and the bytes kept.
    Beginning,
}

impl Unfinished {
    /// Takes more of the line, and forgets what is neither its beginning nor its end.
    fn push(&mut self, piece: &[u8]) {
        let piece = &piece[piece.len().saturating_sub(2 * LONGEST_LINE)..];
        self.bytes.extend_from_slice(piece);
        if self.written != Written::Nothing && LONGEST_LINE < self.bytes.len() {
            self.bytes.drain(..self.bytes.len() - LONGEST_LINE);
            self.written = Written::Beginning;
        }
    }
}

/// The end of a line that was cut somewhere before it.
fn end_of(line: &[u8], most: usize, redactor: &Redactor) -> String {
    // Masked before it is cut again: what a cut leaves of a secret may be too short to be found.
    let masked = redactor.mask_bytes(&line[line.len().saturating_sub(most)..]);
    let whole = masked.get(HALF_SECRET..).unwrap_or_default();
    format!("… {}", redactor.line(whole))
}

impl LogFile {
    fn open(folder: &Path, server: &ServerName, limit: usize) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let path = log_file(folder, server);
        let file = File::options().create(true).append(true).open(&path).ok()?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).ok()?;
        let size = file.metadata().ok()?.len() as usize;
        Some(Self {
            path,
            file,
            size,
            limit,
            left: limit,
            unfinished: Unfinished::default(),
            before: Vec::new(),
        })
    }

    fn push(&mut self, bytes: &[u8], redactor: &Redactor) {
        if self.left == 0 {
            return;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let mut rest = piece;
            if self.unfinished.written == Written::Nothing {
                let room = (2 * LONGEST_LINE).saturating_sub(self.unfinished.bytes.len());
                let (head, more) = rest.split_at(rest.len().min(room));
                self.unfinished.push(head);
                rest = more;
                if !rest.is_empty() {
                    // Longer than is kept of a line: its end may be far away, or never come.
                    self.settle(redactor);
                }
            }
            self.unfinished.push(rest);
            if piece.ends_with(b"\n") {
                self.settle(redactor);
                self.unfinished = Unfinished::default();
            }
        }
    }

    /// Writes what there is of a line that may not have ended.
    fn settle(&mut self, redactor: &Redactor) {
        let bytes = std::mem::take(&mut self.unfinished.bytes);
        let line = bytes.trim_ascii_end();
        let is_rest = self.unfinished.written != Written::Nothing;
        if line.is_empty() && (is_rest || bytes.is_empty()) {
            return;
        }
        let text = match self.unfinished.written {
            Written::Nothing => redactor.line_after(&self.before, redactor.head(line, LONGEST_LINE)),
            Written::AllBefore => format!("… {}", redactor.line_after(&self.before, line)),
            Written::Beginning => end_of(line, LONGEST_LINE, redactor),
        };
        self.line(&text);
        self.unfinished.written =
            if line.len() <= LONGEST_LINE { Written::AllBefore } else { Written::Beginning };
        if !line.is_empty() {
            self.before = line.to_vec();
        }
    }

    /// Writes a line, and when it was written.
    fn line(&mut self, text: &str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let text = format!("{} {text}", rfc3339(now.map_or(0, |now| now.as_secs())));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stderr_and_log_file_are_bounded() {
        let temp = tempfile::tempdir().unwrap();
        let server = ServerName::parse("x").unwrap();
        let mut limits = Limits::default();
        (limits.stderr, limits.log) = (10_000, 100_000);
        for run in 0..5 {
            let tail = Tail::new(Redactor::new([]), &limits, Some(temp.path()), &server);
            tail.push(&[b'x'; 1 << 20]);
            for _ in 0..5_000 {
                tail.push(b"\na line of thirty bytes, or about");
            }
            assert!(tail.ring.lock().unwrap().len() <= limits.stderr);
            let log = fs::read_to_string(log_file(temp.path(), &server)).unwrap();
            // The line that says so comes on top.
            assert!(log.len() < limits.log + 100, "{run}: {}", log.len());
            assert!(log.lines().all(|line| line.len() <= LONGEST_LINE + 40));
            assert!(log.contains("more was written than is kept"));
        }
    }
}
