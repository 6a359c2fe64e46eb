//! Conversations in files, one line for each thing that was said. A file has one writer and is only added to, so there is
//! nothing a database could do better: a line that was cut off by the end of the process is the last one, nobody was told
//! of it, and the next writer takes it away.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kitbag::{Limits, UserId};

use super::line::{Line, Meaning};
use super::{ChatItem, Conversation, ConversationId, Masks, Transcript, Unanswered};

/// How many times as large as what is remembered a file may become.
const LARGEST: u64 = 4;

/// Why a conversation cannot be kept, or taken up again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// There is none of that id.
    #[error("there is no conversation {id} of {user} (in {folder})")]
    NotFound {
        /// The id.
        id: ConversationId,
        /// Whose it should be.
        user: UserId,
        /// Where it would be.
        folder: String,
    },
    /// Another process has it.
    #[error("the conversation {id} is in use by another process: end that one, or begin a new conversation")]
    InUse {
        /// The id.
        id: ConversationId,
    },
    /// It has become too long.
    #[error(
        "the conversation {id} has reached {most} bytes: begin a new one, or raise conversation in [limits]"
    )]
    Full {
        /// The id.
        id: ConversationId,
        /// The limit.
        most: u64,
    },
    /// The file cannot be read or written.
    #[error("the conversation {id} cannot be {done} ({path}): {error}")]
    File {
        /// The id.
        id: ConversationId,
        /// Read or written.
        done: &'static str,
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// Where the conversations of one user are kept.
#[derive(Clone, Debug)]
pub struct Conversations {
    folder: PathBuf,
    user: UserId,
    most_bytes: usize,
    most_files: usize,
}

/// One that is kept.
#[derive(Clone, Debug)]
pub struct KeptConversation {
    /// Its id.
    pub id: ConversationId,
    /// When something was said last.
    pub changed: SystemTime,
    /// What it began with; empty where nothing was said.
    pub first: String,
}

/// The file of one conversation, held by this process.
#[derive(Debug)]
pub(super) struct ConversationFile {
    id: ConversationId,
    path: PathBuf,
    file: File,
    size: u64,
    most: u64,
}

impl Conversations {
    /// Those of a user, in the state folder.
    pub fn of(user: &UserId, state: &Path, limits: &Limits) -> Self {
        let folder = state.join("conversations").join(user.state_folder());
        Self { folder, user: user.clone(), most_bytes: limits.conversation, most_files: limits.conversations }
    }

    /// A new one. Of too many, the one that was used least lately is removed.
    pub fn create(&self) -> Result<Conversation, ConversationError> {
        let mut conversation = Conversation::new(self.most_bytes);
        let id = conversation.id.clone();
        self.folder().map_err(|error| self.failed(&id, "written", error))?;
        self.make_room();
        conversation.file = Some(self.open(&id, OpenOptions::new().create_new(true))?);
        Ok(conversation)
    }

    /// One that was kept. Calls that had no result when its process ended get one that says so.
    pub fn resume(&self, id: &ConversationId) -> Result<Conversation, ConversationError> {
        let mut conversation = Conversation { id: id.clone(), ..Conversation::new(self.most_bytes) };
        let mut file = self.open(id, &mut OpenOptions::new())?;
        file.read_into(&mut conversation).map_err(|error| self.failed(id, "read", error))?;
        conversation.file = Some(file);
        conversation.close(Unanswered::Interrupted, &Masks::default())?;
        Ok(conversation)
    }

    /// What was said in one, to read or to hand on. It may be in use, and stays as it is.
    pub fn transcript(&self, id: &ConversationId) -> Result<Transcript, ConversationError> {
        let mut conversation = Conversation { id: id.clone(), ..Conversation::new(self.most_bytes) };
        let file = File::open(self.path(id)).map_err(|error| self.not_opened(id, error))?;
        read_lines(&file, &mut conversation).map_err(|error| self.failed(id, "read", error))?;
        Ok(Transcript::of(&conversation, &Masks::default()))
    }

    /// All of them, the one used last first.
    pub fn list(&self) -> Vec<KeptConversation> {
        let kept = |(changed, id): (SystemTime, ConversationId)| {
            let first = self.first_words(&id).unwrap_or_default();
            KeptConversation { id, changed, first }
        };
        self.by_age().into_iter().rev().map(kept).collect()
    }

    /// Removes one that nobody uses.
    pub fn remove(&self, id: &ConversationId) -> Result<(), ConversationError> {
        let _held = self.open(id, &mut OpenOptions::new())?;
        fs::remove_file(self.path(id)).map_err(|error| self.failed(id, "removed", error))
    }

    /// What it began with.
    fn first_words(&self, id: &ConversationId) -> Option<String> {
        let mut line = String::new();
        BufReader::new(File::open(self.path(id)).ok()?).read_line(&mut line).ok()?;
        match Line::read(&line)? {
            Meaning::Item(ChatItem::User(text)) => Some(text),
            _ => None,
        }
    }

    /// The ids of all of them, the one used last first.
    pub fn ids(&self) -> Vec<ConversationId> {
        self.by_age().into_iter().rev().map(|(_, id)| id).collect()
    }

    fn by_age(&self) -> Vec<(SystemTime, ConversationId)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let one = |entry: fs::DirEntry| {
            let name = entry.file_name();
            let id = ConversationId::parse(name.to_str()?.strip_suffix(".jsonl")?).ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, id))
        };
        let mut all: Vec<_> = entries.filter_map(one).collect();
        all.sort();
        all
    }

    fn make_room(&self) {
        let all = self.by_age();
        let over = (all.len() + 1).saturating_sub(self.most_files);
        for (_, id) in all.iter().take(over) {
            // One that is in use stays.
            if self.open(id, &mut OpenOptions::new()).is_ok() {
                let _ = fs::remove_file(self.path(id));
            }
        }
    }

    fn folder(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)
    }

    fn path(&self, id: &ConversationId) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    fn open(
        &self,
        id: &ConversationId,
        options: &mut OpenOptions,
    ) -> Result<ConversationFile, ConversationError> {
        let path = self.path(id);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
        let opened = options.read(true).write(true).open(&path);
        let file = opened.map_err(|error| self.not_opened(id, error))?;
        file.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => ConversationError::InUse { id: id.clone() },
            fs::TryLockError::Error(error) => self.failed(id, "read", error),
        })?;
        let most = LARGEST * u64::try_from(self.most_bytes).unwrap_or(u64::MAX / LARGEST);
        Ok(ConversationFile { id: id.clone(), path, file, size: 0, most })
    }

    fn not_opened(&self, id: &ConversationId, error: io::Error) -> ConversationError {
        match error.kind() {
            io::ErrorKind::NotFound => ConversationError::NotFound {
                id: id.clone(),
                user: self.user.clone(),
                folder: self.folder.display().to_string(),
            },
            _ => self.failed(id, "read", error),
        }
    }

    fn failed(&self, id: &ConversationId, done: &'static str, error: io::Error) -> ConversationError {
        ConversationError::File { id: id.clone(), done, path: self.path(id).display().to_string(), error }
    }
}

impl ConversationFile {
    /// Reads what was said. A last line without its end was never acknowledged, and is taken away.
    fn read_into(&mut self, conversation: &mut Conversation) -> io::Result<()> {
        self.size = read_lines(&self.file, conversation)?;
        self.file.set_len(self.size)?;
        self.file.seek(SeekFrom::Start(self.size)).map(drop)
    }

    /// Adds a line. The system has it when this returns, so the end of this process does not lose it; and nothing is
    /// awaited here, so whoever gives up meanwhile leaves no half of one.
    pub(super) fn append(&mut self, line: &str) -> Result<(), ConversationError> {
        let size = self.size + line.len() as u64;
        if self.most < size {
            return Err(ConversationError::Full { id: self.id.clone(), most: self.most });
        }
        let written = self.file.write_all(line.as_bytes());
        if let Err(error) = written {
            // Half a line would hide the next one.
            let _ = self.file.set_len(self.size);
            let _ = self.file.seek(SeekFrom::Start(self.size));
            let (id, path) = (self.id.clone(), self.path.display().to_string());
            return Err(ConversationError::File { id, done: "written", path, error });
        }
        self.size = size;
        Ok(())
    }
}

/// Reads what was said, and tells how long the lines are that were written to their end.
fn read_lines(file: &File, conversation: &mut Conversation) -> io::Result<u64> {
    let (mut reader, mut line, mut size) = (BufReader::new(file), String::new(), 0);
    loop {
        line.clear();
        let read = match reader.read_line(&mut line) {
            Ok(read) => read,
            // A character cut in half can only be at the very end.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => break,
            Err(error) => return Err(error),
        };
        if !line.ends_with('\n') {
            break;
        }
        size += read as u64;
        match Line::read(&line) {
            Some(Meaning::Item(item)) => conversation.take(item),
            Some(Meaning::Answer(place, answer)) => conversation.take_answer(place, answer),
            Some(Meaning::Clear) => conversation.forget(),
            None => {}
        }
    }
    Ok(size)
}
