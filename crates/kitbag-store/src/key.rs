//! Encryption of answers to inputs: ChaCha20-Poly1305 with a key in a file beside the database, so that a copy of the database
//! alone tells nothing. What an answer belongs to is authenticated with it: a row cannot be put in another's place.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use kitbag::Secret;
use kitbag::store::{Hash256, InputKey, StoreError};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

const LENGTH: usize = 32;

/// Where the key is.
#[derive(Clone, Debug)]
pub(crate) struct KeyFile(PathBuf);

/// The key.
pub(crate) struct Key {
    file: KeyFile,
    key: LessSafeKey,
    /// Tells keys apart without telling anything about them.
    pub(crate) id: String,
}

impl KeyFile {
    pub(crate) fn in_folder(state: &Path) -> Self {
        Self(state.join("kitbag.key"))
    }

    pub(crate) fn wrong(&self, why: impl Into<String>) -> StoreError {
        StoreError::Key { file: self.0.display().to_string(), why: why.into() }
    }

    /// The key; none where there is no file.
    pub(crate) fn read(&self) -> Result<Option<Key>, StoreError> {
        match fs::read_to_string(&self.0) {
            Ok(text) => self.key(&text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.wrong(error.to_string())),
        }
    }

    /// The key, made now if there is none. Of two processes that make one, both get the same.
    pub(crate) fn read_or_create(&self) -> Result<Key, StoreError> {
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        self.create().map_err(|error| self.wrong(format!("it cannot be created: {error}")))?;
        self.read()?.ok_or_else(|| self.wrong("it vanished"))
    }

    fn create(&self) -> io::Result<()> {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        // Readable by its owner alone from the beginning, and never there in part.
        let mut fresh = tempfile::Builder::new().prefix(".kitbag-").tempfile_in(folder)?;
        fresh.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
        fresh.write_all(HEXLOWER.encode(&bytes).as_bytes())?;
        fresh.write_all(b"\n")?;
        fresh.as_file().sync_all()?;
        match fresh.persist_noclobber(&self.0) {
            Ok(_) => fs::File::open(folder)?.sync_all(),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error.error),
        }
    }

    fn key(&self, text: &str) -> Result<Key, StoreError> {
        let not_one =
            || self.wrong("it is not a key; restore it from a copy, or delete it and give the answers again");
        let bytes = HEXLOWER.decode(text.trim().as_bytes()).map_err(|_| not_one())?;
        let id = Hash256::of([b"kitbag key id".as_slice(), &bytes].concat()).to_string();
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| not_one())?;
        Ok(Key { file: self.clone(), key: LessSafeKey::new(key), id: id.chars().take(16).collect() })
    }
}

impl Key {
    /// Encrypts an answer.
    pub(crate) fn seal(&self, belongs_to: &InputKey, value: &Secret) -> Result<Vec<u8>, StoreError> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|error| self.file.wrong(error.to_string()))?;
        let mut text = value.expose().as_bytes().to_vec();
        let aad = Aad::from(owned_by(belongs_to));
        let sealed = self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text);
        sealed.map_err(|_| self.file.wrong("the answer is too long to be encrypted"))?;
        Ok([nonce.as_slice(), &text].concat())
    }

    /// Decrypts an answer that belongs to this input, and to no other.
    pub(crate) fn open(&self, belongs_to: &InputKey, sealed: &[u8]) -> Result<Secret, StoreError> {
        let wrong = || {
            self.file.wrong(format!(
                "the answer to {:?} was encrypted with another key or changed since; restore the key, or give the \
                 answer again",
                belongs_to.id
            ))
        };
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN).ok_or_else(wrong)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| wrong())?;
        let mut text = text.to_vec();
        let plain =
            self.key.open_in_place(nonce, Aad::from(owned_by(belongs_to)), &mut text).map_err(|_| wrong())?;
        std::str::from_utf8(plain).map(Secret::new).map_err(|_| wrong())
    }
}

/// One sequence of bytes for one input and no other.
fn owned_by(key: &InputKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in [key.user.as_str(), &key.scope, &key.id] {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes
}
