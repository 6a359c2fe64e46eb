//! What a server writes beside the protocol: its stderr, drained from the first byte, kept bounded, shown
//! without secrets.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use kitbag_core::text::Redactor;
use kitbag_core::{Limits, ServerName};

/// What is kept of one line in a log file.
const LONGEST_LINE: usize = 4096;

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
    partial: Vec<u8>,
    /// The line before: a secret of many lines goes on in the next.
    before: Vec<u8>,
}

impl LogFile {
    fn open(folder: &Path, server: &ServerName, limit: usize) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let path = log_file(folder, server);
        let file = File::options().create(true).append(true).open(&path).ok()?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).ok()?;
        let size = file.metadata().ok()?.len() as usize;
        Some(Self { path, file, size, limit, left: limit, partial: Vec::new(), before: Vec::new() })
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
                let line = line.trim_ascii_end();
                self.line(&redactor.line_after(&self.before, redactor.head(line, LONGEST_LINE)));
                if !line.is_empty() {
                    self.before = line.to_vec();
                }
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
            assert!(log.lines().all(|line| line.len() <= LONGEST_LINE + 10));
            assert!(log.contains("more was written than is kept"));
        }
    }
}
