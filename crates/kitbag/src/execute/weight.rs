//! Results that would take many times the memory of their text once they are taken apart: millions of empty lists, or
//! of pieces of content. They are handed over as the text they are.

use kitbag_core::Limits;
use serde::Deserialize;

use super::convert::{ContentBlock, Converted};

/// What a value of its own costs, about: its place in a list or object, and what the allocator adds.
const VALUE: usize = 72;
/// What an object with something in it costs beyond its values: room for four, and the table to find them by.
const OBJECT: usize = 320;
/// What any result may cost beyond twice its size. With that, a result and the copy of it that a model is given are
/// at most four times what came.
const SMALL: usize = 3 << 20;

/// Why a result is not taken apart, if that is so.
pub(super) fn too_much(text: &str, limits: &Limits) -> Option<String> {
    // The least that can be a value takes two bytes, and an object with something in it six.
    if text.len() / 2 * (VALUE + OBJECT / 3) <= SMALL && text.len() / 2 <= limits.blocks {
        return None;
    }
    let Count { values, objects, blocks } = count(text);
    if limits.blocks < blocks {
        return Some(format!("its result has {blocks} pieces of content, more than {}", limits.blocks));
    }
    (text.len() + SMALL < values * VALUE + objects * OBJECT)
        .then(|| format!("its result is {values} values in {} bytes", text.len()))
}

/// A result as the text it is; whether it is a failure is still known.
pub(super) fn as_text(text: &str, why: String) -> Converted {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Mark {
        #[serde(default)]
        is_error: Option<bool>,
    }
    let is_error = serde_json::from_str(text).is_ok_and(|mark: Mark| mark.is_error == Some(true));
    let note = format!("{why}: it is shown as text");
    Converted { content: vec![ContentBlock::text(text)], is_error, notes: vec![note], ..Converted::default() }
}

#[derive(Default)]
struct Count {
    /// Values of any kind, about.
    values: usize,
    /// Objects with something in them, at most: those that are not closed at once.
    objects: usize,
    /// Things in lists at the second level: pieces of content, or of something as long.
    blocks: usize,
}

/// One pass over the text, which is known to be JSON.
fn count(text: &str) -> Count {
    let mut count = Count { values: 1, ..Count::default() };
    let (mut depth, mut most, mut here) = (0_usize, 0, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => {
                let closes = bytes.clone().next() == Some(b'}');
                count.objects += usize::from(byte == b'{' && !closes);
                depth += 1;
                count.values += 1;
                if depth == 2 {
                    here = 1;
                }
            }
            b']' | b'}' => {
                if depth == 2 {
                    most = here.max(most);
                }
                depth = depth.saturating_sub(1);
            }
            b',' => {
                count.values += 1;
                here += usize::from(depth == 2);
            }
            _ => {}
        }
    }
    Count { blocks: most, ..count }
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_pieces_are_counted() {
        let counted = |text: &str| {
            let Count { values, blocks, .. } = count(text);
            (values, blocks)
        };
        assert_eq!(counted(r#"{"content":[{},{},{}]}"#), (8, 3));
        assert_eq!(counted(r#"{"content":[{"text":"a,[\\\",b"}],"structuredContent":{"a":1}}"#).1, 1);
        assert_eq!(counted(r#"{"a":"[[[[,,,,"}"#), (2, 0));
        assert_eq!(count(r#"{"a":[{},{"b":{}}]}"#).objects, 2);
    }

    #[test]
    fn f77_what_is_mostly_structure_stays_text() {
        let limits = Limits::default();
        let empty = format!(r#"{{"isError":true,"content":[{}{{}}]}}"#, "{},".repeat(100_000));
        let why = too_much(&empty, &limits).unwrap();
        assert!(why.contains("100001 pieces"), "{why}");
        assert!(as_text(&empty, why).is_error);
        let deep = format!(r#"{{"structuredContent":{{"a":[{}0]}}}}"#, "0,".repeat(500_000));
        assert!(too_much(&deep, &limits).unwrap().contains("values in"));
        let text = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "a,[".repeat(1 << 20));
        assert_eq!(too_much(&text, &limits), None);
    }
}
