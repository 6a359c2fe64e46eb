//! Tools that are no server's: functions of the program itself, in the same catalog as all others.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use kitbag_core::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

mod demo;

pub use demo::demo;

/// Who calls a local tool.
#[derive(Clone, Debug)]
pub struct Caller {
    /// For whom.
    pub user: UserId,
}

/// What a local tool gives: its text or structured result, or why it failed.
pub type LocalResult = Result<Value, String>;

/// A result on its way.
pub type LocalFuture = Pin<Box<dyn Future<Output = LocalResult> + Send>>;

type Work = dyn Fn(Map<String, Value>, Caller) -> LocalFuture + Send + Sync;

/// A tool of the program itself.
#[derive(Clone)]
pub struct LocalTool {
    definition: Value,
    work: Arc<Work>,
}

impl LocalTool {
    /// A tool made of an async function; its arguments say their own schema.
    ///
    /// ```
    /// use kitbag::local::LocalTool;
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
    pub fn new<A, R, F, W>(name: &str, description: &str, work: W) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: Serialize,
        F: Future<Output = Result<R, String>> + Send + 'static,
        W: Fn(A, Caller) -> F + Send + Sync + 'static,
    {
        let schema = schemars::generate::SchemaSettings::draft2020_12().into_generator();
        let schema = serde_json::to_value(schema.into_root_schema_for::<A>()).unwrap_or_default();
        Self::with_schema(name, description, schema, move |arguments, caller| {
            let given = serde_json::from_value::<A>(Value::Object(arguments));
            let begun = given.map(|arguments| work(arguments, caller));
            Box::pin(async move {
                let done = begun.map_err(|error| format!("the arguments do not fit: {error}"))?.await?;
                serde_json::to_value(done).map_err(|error| error.to_string())
            })
        })
    }

    /// A tool whose schema is written by hand.
    pub fn with_schema(
        name: &str,
        description: &str,
        schema: Value,
        work: impl Fn(Map<String, Value>, Caller) -> LocalFuture + Send + Sync + 'static,
    ) -> Self {
        let definition = json!({"name": name, "description": description, "inputSchema": schema});
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

    pub(crate) fn call(&self, arguments: Map<String, Value>, caller: Caller) -> LocalFuture {
        (self.work)(arguments, caller)
    }
}

impl std::fmt::Debug for LocalTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LocalTool").field(&self.name()).finish()
    }
}

/// A result as a server would give it: text as text, anything else as structured content with its JSON beside.
pub(crate) fn as_result(result: LocalResult) -> Value {
    match result {
        Ok(Value::String(text)) => json!({"content": [{"type": "text", "text": text}]}),
        Ok(Value::Null) => json!({"content": []}),
        Ok(value) => json!({
            "content": [{"type": "text", "text": value.to_string()}],
            "structuredContent": if value.is_object() { value } else { json!({"result": value}) },
        }),
        Err(why) => json!({"content": [{"type": "text", "text": why}], "isError": true}),
    }
}
