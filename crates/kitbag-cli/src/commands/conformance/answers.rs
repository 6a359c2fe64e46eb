//! Answers to what a server asks in the middle of a call, as somebody would give them who accepts every default.

use kitbag::{Answer, BoxFuture, Question, QuestionKind, Responder};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub(super) struct AnswerDefaults;

impl Responder for AnswerDefaults {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Elicitation]
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let params: Value =
                serde_json::from_str(question.params.get()).map_err(|error| error.to_string())?;
            let form = params.get("requestedSchema").ok_or("there is no form to fill in")?;
            let answer = json!({"action": "accept", "content": filled(form)}).to_string();
            RawValue::from_string(answer).map_err(|error| error.to_string())
        })
    }
}

/// Every field that has a default, and an example for those that must be there and have none.
fn filled(form: &Value) -> Map<String, Value> {
    let Some(fields) = form.get("properties").and_then(Value::as_object) else { return Map::new() };
    let required = form.get("required").and_then(Value::as_array);
    let must = |name: &str| required.is_some_and(|required| required.iter().any(|word| word == name));
    let value = |name: &String, field: &Value| {
        field.get("default").cloned().or_else(|| must(name).then(|| kitbag_core::schema::example(field))?)
    };
    fields.iter().filter_map(|(name, field)| Some((name.clone(), value(name, field)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: Value, expected: Value) {
        assert_eq!(Value::Object(filled(&form)), expected, "{form}");
    }

    #[test]
    fn a_form_is_filled_with_its_defaults() {
        check(json!({"type": "object"}), json!({}));
        check(
            json!({"properties": {"name": {"type": "string", "default": "Ada"}, "age": {"type": "integer"}}}),
            json!({"name": "Ada"}),
        );
        check(
            json!({"properties": {"sure": {"type": "boolean"}, "why": {"type": "string"}}, "required": ["sure"]}),
            json!({"sure": kitbag_core::schema::example(&json!({"type": "boolean"}))}),
        );
    }
}
