//! One line of the file of a conversation: what was said, or that all before it is forgotten.

use kitbag_core::present::native::ToolAnswer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{ChatItem, Masks};
use crate::model::{ModelId, Reply, Stop, Usage, Vendor};

/// One line. Keys a line does not need are left out.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Line {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vendor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<[u64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    User,
    Said,
    Reply,
    Result,
    #[default]
    Clear,
}

/// What a line means.
pub(super) enum Meaning {
    Item(ChatItem),
    Answer(usize, ToolAnswer),
    Clear,
}

impl Line {
    pub(super) fn user(text: &str) -> Self {
        Self { kind: Kind::User, text: Some(text.to_owned()), ..Self::default() }
    }

    pub(super) fn said(text: &str) -> Self {
        Self { kind: Kind::Said, ..Self::user(text) }
    }

    pub(super) fn reply(reply: &Reply) -> Self {
        let Usage { input, cached, output } = reply.usage;
        Self {
            kind: Kind::Reply,
            vendor: Some(reply.model.vendor.as_str().to_owned()),
            model: Some(reply.model.name.clone()),
            raw: Some(reply.raw.clone()),
            usage: Some([input, cached, output]),
            ..Self::default()
        }
    }

    pub(super) fn result(place: usize, answer: &ToolAnswer) -> Self {
        Self {
            kind: Kind::Result,
            place: Some(place),
            id: answer.id.clone(),
            tool: Some(answer.tool.clone()),
            blocks: Some(answer.blocks.clone()),
            is_error: answer.is_error,
            ..Self::default()
        }
    }

    pub(super) fn clear() -> Self {
        Self::default()
    }

    /// As JSON text with the end of the line, without secrets.
    pub(super) fn text(mut self, masks: &Masks) -> String {
        let mut text = serde_json::to_string(&self).unwrap_or_default();
        if masks.changes(&text) {
            let masked = |text: String| match masks.mask(Value::String(text)) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            self.text = self.text.map(masked);
            self.blocks =
                self.blocks.map(|blocks| blocks.into_iter().map(|block| masks.mask(block)).collect());
            // A reply without secrets keeps its own words, digit for digit.
            let raw = self.raw.take().map(|raw| {
                let value = serde_json::from_str(raw.get()).unwrap_or_default();
                to_raw_value(&masks.mask(value)).unwrap_or(raw)
            });
            self.raw = raw;
            text = serde_json::to_string(&self).unwrap_or_default();
        }
        text + "\n"
    }

    /// What it means; nothing for a line of a kind that is not known, as a newer version may write.
    pub(super) fn read(text: &str) -> Option<Meaning> {
        let line: Self = serde_json::from_str(text).ok()?;
        Some(match line.kind {
            Kind::User => Meaning::Item(ChatItem::User(line.text?)),
            Kind::Said => Meaning::Item(ChatItem::Said(line.text?)),
            Kind::Reply => {
                let [input, cached, output] = line.usage.unwrap_or_default();
                let model = ModelId { vendor: Vendor::parse(&line.vendor?)?, name: line.model? };
                let usage = Usage { input, cached, output };
                Meaning::Item(ChatItem::Reply(Reply { model, raw: line.raw?, usage, stop: Stop::Finished }))
            }
            Kind::Result => {
                let (tool, blocks) = (line.tool?, line.blocks?);
                Meaning::Answer(
                    line.place?,
                    ToolAnswer { id: line.id, tool, blocks, is_error: line.is_error },
                )
            }
            Kind::Clear => Meaning::Clear,
        })
    }
}
