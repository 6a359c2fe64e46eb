//! From what a model wrote behind a name to arguments in JSON.

use serde_json::json;

use super::{MARKER, WrittenArguments};
use crate::present::signatures::kind::Detail;
use crate::present::signatures::params::{only_text, summary};
use crate::schema::example;
use crate::shape::ViewTool;

/// The arguments as JSON. A text that is no JSON is meant for the one required parameter, if that takes text;
/// for any other tool the error says which parameters there are.
pub fn bind(shown: &ViewTool, arguments: &WrittenArguments) -> Result<String, String> {
    let schema = &*shown.tool.input;
    match arguments {
        WrittenArguments::None => Ok("{}".to_owned()),
        WrittenArguments::Object(json) => Ok(json.clone()),
        WrittenArguments::Text(text) => match only_text(schema) {
            Some(name) => Ok(json!({ name: text }).to_string()),
            None => Err(explain(shown, "takes its arguments as one JSON object")),
        },
        WrittenArguments::Broken { why } => Err(explain(shown, why)),
    }
}

/// What is wrong, which parameters there are, and how a call looks.
fn explain(shown: &ViewTool, why: &str) -> String {
    let schema = &*shown.tool.input;
    let parameters = summary(schema, Detail::WIDE);
    let example = example(schema).map(|value| format!(" Example: {MARKER} {} {value}", shown.name));
    format!("{}: {why}. Parameters: {parameters}.{}", shown.name, example.unwrap_or_default())
}
