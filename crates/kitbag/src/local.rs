//! Tools that are no server's: functions of the program itself, in the same catalog as all others.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
#[cfg(feature = "schemars")]
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

mod context;
#[cfg(feature = "schemars")]
mod demo;
mod output;

pub use context::ToolContext;
#[cfg(feature = "schemars")]
pub use demo::demo;
pub use output::{IntoToolOutput, ToolOutput};

/// What came of a call of a local tool, as a server would answer it.
type Answered = Pin<Box<dyn Future<Output = Value> + Send>>;
type Work = dyn Fn(Map<String, Value>, ToolContext) -> Answered + Send + Sync;

/// A tool of the program itself: listed, filtered, checked and called like a server's. It runs on a thread of its own,
/// so that one that blocks or panics costs its call alone.
#[derive(Clone)]
pub struct LocalTool {
    definition: Value,
    work: Arc<Work>,
}

impl LocalTool {
    /// A tool made of an async function; the type of its arguments gives the schema.
    ///
    /// ```
    /// use kitbag::LocalTool;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add {
    ///     a: i64,
    ///     b: i64,
    /// }
    ///
    /// let add = LocalTool::new("add", "Adds two numbers", async |add: Add, _| Ok(add.a + add.b));
    /// assert_eq!(add.name(), "add");
    /// ```
    #[cfg(feature = "schemars")]
    pub fn new<A, R, F, W>(name: &str, description: &str, work: W) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: IntoToolOutput,
        F: Future<Output = Result<R, String>> + Send + 'static,
        W: Fn(A, ToolContext) -> F + Send + Sync + 'static,
    {
        let schema = schemars::generate::SchemaSettings::draft2020_12().into_generator();
        let schema = serde_json::to_value(schema.into_root_schema_for::<A>()).unwrap_or_default();
        Self::with_schema(name, description, schema, move |arguments, context| {
            let given = serde_json::from_value::<A>(Value::Object(arguments));
            let begun = given.map(|arguments| work(arguments, context));
            async move { begun.map_err(|error| format!("the arguments do not fit: {error}"))?.await }
        })
    }

    /// The same with state that every call gets a clone of: a handle to a database, an `Arc<Mutex<…>>`.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use kitbag::LocalTool;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Note {
    ///     text: String,
    /// }
    ///
    /// let notes = Arc::new(Mutex::new(Vec::new()));
    /// let note = LocalTool::with_state(notes, "note", "Keeps a note", async |notes, note: Note, _| {
    ///     let mut notes = notes.lock().map_err(|_| "poisoned")?;
    ///     notes.push(note.text);
    ///     Ok(notes.len())
    /// });
    /// assert_eq!(note.name(), "note");
    /// ```
    #[cfg(feature = "schemars")]
    pub fn with_state<S, A, R, F, W>(state: S, name: &str, description: &str, work: W) -> Self
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema,
        R: IntoToolOutput,
        F: Future<Output = Result<R, String>> + Send + 'static,
        W: Fn(S, A, ToolContext) -> F + Send + Sync + 'static,
    {
        Self::new(name, description, move |arguments, context| work(state.clone(), arguments, context))
    }

    /// A tool whose schema is written by hand; its arguments come as a JSON object that fits it.
    pub fn with_schema<R, F, W>(name: &str, description: &str, schema: Value, work: W) -> Self
    where
        R: IntoToolOutput,
        F: Future<Output = Result<R, String>> + Send + 'static,
        W: Fn(Map<String, Value>, ToolContext) -> F + Send + Sync + 'static,
    {
        let definition = json!({"name": name, "description": description, "inputSchema": schema});
        let work = move |arguments, context| {
            let working = work(arguments, context);
            let answered = async move {
                match working.await.and_then(R::into_tool_output) {
                    Ok(output) => output.into_result(),
                    Err(why) => json!({"content": [{"type": "text", "text": why}], "isError": true}),
                }
            };
            Box::pin(answered) as Answered
        };
        Self { definition, work: Arc::new(work) }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    /// Its definition, as a server would list it.
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    pub(crate) async fn call(&self, arguments: Map<String, Value>, context: ToolContext) -> Value {
        (self.work)(arguments, context).await
    }
}

impl std::fmt::Debug for LocalTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LocalTool").field(&self.name()).finish()
    }
}
