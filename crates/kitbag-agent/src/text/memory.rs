//! What an agent remembers beyond one conversation, and the two tools by which its model does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use kitbag::{BoxFuture, LocalTool};
use serde_json::{Value, json};

/// The tool that looks something up.
pub(super) const LOOKUP: &str = "lookup_memory";
/// The tool that keeps something.
pub(super) const CREATE: &str = "create_memory";
/// What is found at once.
const FOUND: usize = 3;

/// A memory of an agent.
pub trait AgentMemory: Send + Sync + 'static {
    /// The memos that fit best, at most so many, the best first.
    fn lookup(&self, query: String, most: usize) -> BoxFuture<'_, Result<Vec<Value>, String>>;

    /// Keeps a memo: an object whose `summary` says what it is about.
    fn create(&self, memo: Value) -> BoxFuture<'_, Result<(), String>>;
}

/// A memory of this process alone. A memo fits by the words it shares with what is looked for.
#[derive(Debug)]
pub struct NotedMemory {
    /// Bytes of all memos; of more the oldest are forgotten.
    most: usize,
    memos: Mutex<VecDeque<(String, Value)>>,
}

impl NotedMemory {
    /// A memory of at most so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, memos: Mutex::default() }
    }
}

impl AgentMemory for NotedMemory {
    fn lookup(&self, query: String, most: usize) -> BoxFuture<'_, Result<Vec<Value>, String>> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let memos = self.memos.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = |text: &str| words.iter().filter(|word| text.contains(**word)).count();
        let mut found: Vec<(usize, &Value)> =
            memos.iter().rev().map(|(text, memo)| (fit(text), memo)).filter(|(fit, _)| 0 < *fit).collect();
        // Of memos that fit as well, the newest comes first.
        found.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
        let found = found.into_iter().take(most).map(|(_, memo)| memo.clone()).collect();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn create(&self, memo: Value) -> BoxFuture<'_, Result<(), String>> {
        let text = memo.to_string().to_lowercase();
        let kept = if self.most < text.len() {
            Err(format!("a memo has at most {} bytes", self.most))
        } else {
            let mut memos = self.memos.lock().unwrap_or_else(PoisonError::into_inner);
            memos.push_back((text, memo));
            while self.most < memos.iter().map(|(text, _)| text.len()).sum() {
                memos.pop_front();
            }
            Ok(())
        };
        Box::pin(std::future::ready(kept))
    }
}

/// The tools of a memory.
pub(super) fn tools(memory: &Arc<dyn AgentMemory>) -> [LocalTool; 2] {
    let text = |about: &str| json!({"type": "string", "description": about});
    let (looked, kept) = (memory.clone(), memory.clone());
    let query = json!({"type": "object", "properties": {"query": text("words of what to find")}, "required": ["query"]});
    let about = "Looks up what was remembered in earlier conversations.";
    let lookup = LocalTool::with_schema(LOOKUP, about, query, move |arguments, _| {
        let memory = looked.clone();
        async move {
            let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok(match memory.lookup(query, FOUND).await? {
                found if found.is_empty() => "Nothing is remembered about that.".to_owned(),
                found => Value::Array(found).to_string(),
            })
        }
    });
    let summary = text("what it is about; it is found by these words");
    let memo = json!({"type": "object", "properties": {"summary": summary}, "required": ["summary"]});
    let about = "Remembers something for later conversations. Other fields may be added to the summary.";
    let create = LocalTool::with_schema(CREATE, about, memo, move |arguments, _| {
        let memory = kept.clone();
        async move { memory.create(Value::Object(arguments)).await.map(|()| "Remembered.") }
    });
    [lookup, create]
}
