//! Folders that servers may look at (`roots/list`). They are the same for every call of a handle, so a server that asks
//! before there is a call gets them, too.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::json;
use serde_json::value::RawValue;

use super::ask::{Answer, Question, QuestionKind, Responder};

#[cfg(test)]
mod tests;

/// The answer to `roots/list`, as JSON; none where there are no folders.
pub(crate) fn roots_answer(cwd: &Path, folders: &[PathBuf]) -> Option<Arc<str>> {
    let root = |folder: &PathBuf| {
        let folder = cwd.join(folder);
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        json!({"uri": file_url(&folder), "name": name.unwrap_or_else(|| folder.to_string_lossy().into_owned())})
    };
    let roots: Vec<_> = folders.iter().map(root).collect();
    (!roots.is_empty()).then(|| json!({"roots": roots}).to_string().into())
}

/// A folder as a `file:` URL.
fn file_url(folder: &Path) -> String {
    let mut url = "file://".to_owned();
    let text = folder.as_os_str().as_encoded_bytes();
    // `C:\x` is `file:///C:/x`.
    if !text.starts_with(b"/") {
        url.push('/');
    }
    for byte in text {
        match byte {
            b'\\' if cfg!(windows) => url.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                url.push(char::from(*byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

/// Answers for folders itself, and hands everything else to whoever answers otherwise.
pub(crate) struct WithRoots {
    inner: Option<Arc<dyn Responder>>,
    roots: Arc<str>,
    /// Asked for when it is first needed: that is code of others.
    answers: OnceLock<Vec<QuestionKind>>,
}

impl WithRoots {
    pub(crate) fn new(inner: Option<Arc<dyn Responder>>, roots: Arc<str>) -> Self {
        Self { inner, roots, answers: OnceLock::new() }
    }
}

impl Responder for WithRoots {
    fn answers(&self) -> &[QuestionKind] {
        self.answers.get_or_init(|| {
            let inner = self.inner.as_ref().map(|inner| inner.answers().to_vec()).unwrap_or_default();
            inner.into_iter().chain([QuestionKind::Roots]).collect()
        })
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        match (&self.inner, question.kind) {
            (_, QuestionKind::Roots) => {
                let answer = RawValue::from_string(self.roots.to_string()).map_err(|error| error.to_string());
                Box::pin(async move { answer })
            }
            (Some(inner), _) => inner.answer(question),
            (None, kind) => Box::pin(async move { Err(kind.not_offered()) }),
        }
    }

    fn capabilities(&self) -> Option<Box<RawValue>> {
        let inner = self.inner.as_ref().and_then(|inner| inner.capabilities())?;
        let mut all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(inner.get()).ok()?;
        all.insert("roots".to_owned(), json!({}));
        serde_json::value::to_raw_value(&all).ok()
    }

    fn person(&self) -> usize {
        self.inner.as_ref().map_or_else(|| self.roots.as_ptr().addr(), |inner| inner.person())
    }
}
