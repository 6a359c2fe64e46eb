//! The commonest result, read without building more than is handed over: pieces of text, and perhaps structured
//! content. Anything else is left to the conversion that knows every shape.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::convert::{ContentBlock, Converted};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plain {
    content: Vec<Text>,
    #[serde(default)]
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default, rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

/// A result of nothing but texts; none where it is anything else.
pub(super) fn plain(raw: &RawValue) -> Option<Converted> {
    // A list could be read as the fields in their order.
    if !raw.get().trim_start().starts_with('{') {
        return None;
    }
    let Plain { content, structured_content, is_error, meta } = serde_json::from_str(raw.get()).ok()?;
    Some(Converted {
        content: content.into_iter().map(|text| text.0).collect(),
        structured: structured_content,
        is_error: is_error.unwrap_or(false),
        meta,
        notes: Vec::new(),
    })
}

/// A block of a type and a text, written in this order and without anything else.
struct Text(ContentBlock);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a piece of text")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        if let (Some(Word::Type), Word::Text) = (map.next_key()?, map.next_value()?)
            && let Some(Word::Text) = map.next_key()?
        {
            let text: String = map.next_value()?;
            if map.next_key::<Word>()?.is_none() {
                return Ok(Text(ContentBlock::text(text)));
            }
        }
        Err(A::Error::custom("something else"))
    }
}

/// The words of such a block; anything else is an error, an object that stands for a word too.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Word {
    Type,
    Text,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_plain: bool) {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        assert_eq!(plain(raw).is_some(), is_plain, "{text}");
    }

    #[test]
    fn only_texts_are_plain() {
        check(r#"{"content":[]}"#, true);
        check(r#"{"content":[{"type":"text","text":"a\n"}],"structuredContent":{"a":1},"_meta":{}}"#, true);
        check(r#"{"isError":true,"content":[{"type":"text","text":""}]}"#, true);
        check(r#"{"content":[{"text":"a","type":"text"}]}"#, false);
        check(r#"{"content":[{"type":"text","text":"a","annotations":{}}]}"#, false);
        check(r#"{"content":[{"type":"text"}]}"#, false);
        check(r#"{"content":[{"type":"image","data":""}]}"#, false);
        check(r#"{"content":["a"]}"#, false);
        check(r#"{"content":null,"structuredContent":{}}"#, false);
        check(r#"{"structuredContent":{}}"#, false);
        check(r#"{"content":[],"isError":"no"}"#, false);
        check("null", false);
    }

    /// Whatever is plain says the same as the conversion that knows every shape.
    #[test]
    fn what_is_no_object_or_names_no_type_is_not_plain() {
        check(r#"[[]]"#, false);
        check(r#"[[{"type":"text","text":"a"}],null,true]"#, false);
        check(r#"{"content":[{"type":{"text":null},"text":"a"}]}"#, false);
        check(r#"{"content":[["text","a"]]}"#, false);
        check(r#"{"content":[],"content":[]}"#, false);
        check(r#"{"content":[],"isError":false,"isError":true}"#, false);
    }

    #[test]
    fn a_text_is_the_value_it_was_written_as() {
        let text = r#"{"content":[{"type":"text","text":"a"}],"structuredContent":null}"#;
        let converted = plain(serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(converted.content[0].as_value().to_string(), r#"{"type":"text","text":"a"}"#);
        assert_eq!(converted.structured, None);
    }
}
