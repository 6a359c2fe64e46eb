//! Results that are too large to be handed over at once: the beginning goes on its way, all of it waits in a
//! file of the state folder, to be read by page, by the same user, for a while.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use data_encoding::HEXLOWER;
use kitbag_core::text::{Redactor, visible};
use kitbag_core::{Limits, UserId};
use serde_json::{Value, json};

use super::READ_RESULT;
use super::convert::{ContentBlock, Converted};
use crate::local::ToolContext;

/// Where results wait.
#[derive(Clone, Debug)]
pub(crate) struct Results(Arc<ArcSwap<Place>>);

/// As the world says now; whoever reads on has a copy of this.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    limits: Arc<Limits>,
}

/// What was not handed over of a result.
pub(crate) enum Remainder {
    Nothing,
    /// It can be read by this handle.
    Kept(String),
    /// It could not be kept.
    Lost,
}

impl Remainder {
    pub(crate) fn handle(self) -> Option<String> {
        match self {
            Self::Kept(handle) => Some(handle),
            Self::Nothing | Self::Lost => None,
        }
    }
}

impl Results {
    pub(crate) fn new(state: &Path, limits: Arc<Limits>) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(Place { folder: state.join("results"), limits })))
    }

    /// Keeps them in this state folder and obeys these limits from now on.
    pub(crate) fn follow(&self, state: &Path, limits: &Arc<Limits>) {
        self.0.store(Arc::new(Place { folder: state.join("results"), limits: limits.clone() }));
    }

    /// The most that is handed over at once.
    fn most(&self) -> usize {
        self.0.load().limits.result
    }

    /// How long the rest can be read.
    fn ttl(&self) -> Duration {
        self.0.load().limits.result_ttl
    }

    /// Keeps what is beyond the bound; the handle to read it by, if there was any. Pictures and sounds are not
    /// read by page: they stay what they are. What goes into a file is masked there, so all of it is: its pages
    /// must fit together.
    pub(crate) fn bound(
        &self,
        user: &UserId,
        result: &mut Converted,
        redactor: impl FnOnce() -> Redactor,
    ) -> Remainder {
        let most = self.most();
        let written =
            |result: &Converted| result.structured.as_ref().map(Value::to_string).unwrap_or_default();
        let structured = written(result);
        let size: usize =
            result.content.iter().filter(|block| block.data().is_none()).map(ContentBlock::size).sum();
        if size <= most && structured.len() <= most {
            return Remainder::Nothing;
        }
        let redactor = redactor();
        result.mask(&redactor);
        let structured = if redactor.is_empty() { structured } else { written(result) };
        let texts = || result.content.iter().filter(|block| block.data().is_none());
        if most < structured.len() {
            result.structured = None;
        }
        if size <= most && !result.content.is_empty() {
            // The content is whole; only what stands beside it has to wait.
            let (handle, note) = self.put_by(user, &structured, "structured content", 1);
            result.content.push(ContentBlock::text(note));
            return handle;
        }
        let text = if result.content.is_empty() { structured } else { joined(texts()) };
        let (handle, note) = self.put_by(user, &text, "result", 2);
        let shown = page(&text, 1, most).0.to_owned();
        let others = result.content.drain(..).filter(|block| block.data().is_some());
        result.content =
            [ContentBlock::text(shown), ContentBlock::text(note)].into_iter().chain(others).collect();
        handle
    }

    /// Keeps a text; the handle it is kept under, and what to tell about it.
    fn put_by(&self, user: &UserId, text: &str, what: &str, from: usize) -> (Remainder, String) {
        let (bytes, pages) = (text.len(), pages(text, self.most()));
        match self.keep(user, text) {
            Some(handle) => {
                let arguments = json!({"handle": handle, "page": from});
                let note = format!(
                    "[the {what} has {bytes} bytes in {pages} pages; read on with {READ_RESULT} {arguments}]"
                );
                (Remainder::Kept(handle), note)
            }
            None => {
                (Remainder::Lost, format!("[the {what} has {bytes} bytes; the rest of it could not be kept]"))
            }
        }
    }

    /// The same for everything but images, sounds and embedded files, which stay as they are.
    pub(crate) fn bound_texts(
        &self,
        user: &UserId,
        result: &mut Converted,
        redactor: impl FnOnce() -> Redactor,
    ) -> Remainder {
        if !result.content.iter().any(ContentBlock::is_file) {
            return self.bound(user, result, redactor);
        }
        let size: usize =
            result.content.iter().filter(|block| !block.is_file()).map(ContentBlock::size).sum();
        if size <= self.most() {
            return Remainder::Nothing;
        }
        let (files, rest) = result.content.drain(..).partition(ContentBlock::is_file);
        result.content = rest;
        let handle = self.bound(user, result, redactor);
        result.content.extend::<Vec<ContentBlock>>(files);
        handle
    }

    /// One page of a result: for whoever it was given to, as long as it is kept.
    pub(crate) fn read(&self, handle: &str, number: usize, caller: &ToolContext) -> Result<Value, String> {
        let gone = || {
            let shown: String = visible(handle).chars().take(40).collect();
            format!("there is no result {shown:?}; it may be too old, then make the call again")
        };
        let file = self.file(&caller.user, handle).ok_or_else(gone)?;
        let age = std::fs::metadata(&file).and_then(|meta| meta.modified()).ok();
        let age = age.and_then(|then| SystemTime::now().duration_since(then).ok()).unwrap_or_default();
        if self.ttl() < age {
            let _ = std::fs::remove_file(&file);
            return Err(gone());
        }
        let text = std::fs::read_to_string(&file).map_err(|_| gone())?;
        let all = pages(&text, self.most());
        if number == 0 || all < number {
            return Err(format!("the result has {all} pages, from 1 on"));
        }
        let (shown, more) = page(&text, number, self.most());
        let next = if more {
            format!("\n[page {number} of {all}]")
        } else {
            format!("\n[page {number} of {all}, the last]")
        };
        Ok(Value::String(format!("{shown}{next}")))
    }

    fn keep(&self, user: &UserId, text: &str) -> Option<String> {
        if !self.make_room(text.len()) {
            return None;
        }
        let handle = handle()?;
        crate::registry::write_cache(&self.file(user, &handle)?, text).ok()?;
        Some(handle)
    }

    /// Removes what is too old, whoever's it is, and then the oldest until there is room; whether there is any.
    fn make_room(&self, bytes: usize) -> bool {
        let place = self.0.load();
        let most = place.limits.results;
        let (mut kept, mut all) = (Vec::new(), bytes);
        for (file, meta) in files(&place.folder) {
            let Ok(then) = meta.modified() else { continue };
            let size = usize::try_from(meta.len()).unwrap_or(usize::MAX);
            if self.ttl() < SystemTime::now().duration_since(then).unwrap_or_default() {
                let _ = std::fs::remove_file(file);
            } else {
                all = all.saturating_add(size);
                kept.push((then, size, file));
            }
        }
        if most < bytes {
            // It would take the place of all others and still find no room.
            return false;
        }
        if most < all {
            kept.sort_by_key(|(then, ..)| *then);
        }
        for (_, size, file) in kept {
            if all <= most {
                break;
            }
            if std::fs::remove_file(file).is_ok() {
                all = all.saturating_sub(size);
            }
        }
        all <= most
    }

    /// A handle is letters and digits and nothing else, so it can name no other file.
    fn file(&self, user: &UserId, handle: &str) -> Option<PathBuf> {
        let plain = handle.len() == 32 && handle.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| self.folder(user).join(format!("{}.txt", handle.to_ascii_lowercase())))
    }

    fn folder(&self, user: &UserId) -> PathBuf {
        self.0.load().folder.join(user.state_folder())
    }
}

/// Every file in the folders of a folder.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, std::fs::Metadata)> {
    let within = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let all = within(folder).flat_map(move |user| within(&user.path()).collect::<Vec<_>>());
    all.take(100_000).filter_map(|file| Some((file.path(), file.metadata().ok()?)))
}

/// 128 random bits, unless the system has none to give.
fn handle() -> Option<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).ok()?;
    Some(HEXLOWER.encode(&bits))
}

/// Blocks as one text, copied once: they may be large.
fn joined<'a>(blocks: impl Iterator<Item = &'a ContentBlock>) -> String {
    let mut all = String::new();
    for (place, block) in blocks.enumerate() {
        if 0 < place {
            all.push('\n');
        }
        match block.as_text() {
            Some(text) => all.push_str(text),
            None => all.push_str(&block.as_value().to_string()),
        }
    }
    all
}

fn pages(text: &str, size: usize) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        at = end(text, at, size);
        count += 1;
    }
    count.max(1)
}

/// A page by its number from 1, and whether there is another.
fn page(text: &str, number: usize, size: usize) -> (&str, bool) {
    let mut at = 0;
    for _ in 1..number {
        at = end(text, at, size);
    }
    let end = end(text, at, size);
    (&text[at..end], end < text.len())
}

/// Where the page that begins here ends: at the size, or a little before it, at a character.
fn end(text: &str, at: usize, size: usize) -> usize {
    let wanted = (at + size.max(4)).min(text.len());
    (at..=wanted).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(wanted)
}

/// The tool that reads on.
pub(crate) fn tool(results: &Results) -> crate::local::LocalTool {
    let results = results.clone();
    let schema = json!({
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "The handle the result came with"},
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "Which page, from 1 on"},
        },
        "required": ["handle"],
        "additionalProperties": false,
    });
    let about = "Reads on in a result that was too large to be given at once";
    crate::local::LocalTool::with_schema(READ_RESULT, about, schema, move |arguments, caller| {
        let handle = arguments.get("handle").and_then(Value::as_str).unwrap_or_default();
        let number = arguments.get("page").and_then(Value::as_u64).unwrap_or(1);
        let read = results.read(handle, usize::try_from(number).unwrap_or(usize::MAX), &caller);
        async move { read }
    })
}
