//! The lines of one tool.

use serde_json::Value;

use super::group::category;
use super::{Examples, Grouping, Options};
use crate::present::signatures::inline::{code, cut, inert, inline};
use crate::present::signatures::kind::{Detail, kind, value_text};
use crate::present::signatures::params::{Param, inside, params};
use crate::shape::Shown;

/// Levels of parameters that get lines of their own; what lies deeper is told in one line.
const LEVELS: usize = 4;
/// Lines of parameters of one tool.
const MOST_LINES: usize = 400;
/// Examples of one tool, and the longest of them.
const EXAMPLES: usize = 3;
const LONGEST_EXAMPLE: usize = 2_000;
/// The longest text about one parameter.
const LONGEST_ABOUT: usize = 4_000;

/// The heading of one tool and its items.
pub(super) fn push_tool(out: &mut String, shown: &Shown, options: &Options) {
    let tool = &shown.tool;
    let about = match inline(&tool.description) {
        empty if empty.is_empty() => "No description available".to_owned(),
        about => about,
    };
    let mut items = vec![("Original name", code(tool.name.as_str()))];
    if options.grouping != Grouping::Server {
        items.push(("Server", code(tool.server.as_str())));
    }
    items.push(("Description", about));
    if options.grouping != Grouping::Category && tool.category.is_some() {
        items.extend(category(shown).map(|category| ("Category", category)));
    }
    out.push_str(&format!("### {}\n", shown.name));
    for (label, text) in items {
        out.push_str(&format!("- **{label}**: {text}\n"));
    }
    let root = &*tool.input;
    let listed = params(root, root);
    if !listed.is_empty() {
        out.push_str("- **Parameters**:\n");
        let mut left = MOST_LINES;
        push_params(out, root, &listed, 1, &mut left);
    }
    for example in examples(shown, options.examples) {
        out.push_str(&format!("- **Example**: `{example}`\n"));
    }
}

fn push_params(out: &mut String, root: &Value, listed: &[Param<'_>], level: usize, left: &mut usize) {
    let indent = "  ".repeat(level);
    for param in listed {
        let Some(fewer) = left.checked_sub(1) else {
            out.push_str(&format!("{indent}- …\n"));
            return;
        };
        *left = fewer;
        let inner = inside(root, param.schema).filter(|_| level < LEVELS);
        let depth = match (inner, level) {
            // What gets lines of its own need not be told twice.
            (Some(_), _) => 0,
            (None, LEVELS..) => 1,
            (None, _) => Detail::WIDE.depth,
        };
        let kind = kind(root, param.schema, Detail::WIDE.depth(depth));
        let need = if param.required { "required" } else { "optional" };
        let mut line = format!("{indent}- {} ({kind}) ({need})", code(param.name));
        let about = cut(&inline(param.description(root).unwrap_or_default()), LONGEST_ABOUT);
        let default = param.default().filter(|value| !value.is_null()).map(value_text);
        match (about.as_str(), default) {
            ("", None) => {}
            ("", Some(default)) => line.push_str(&format!(": default {default}")),
            (about, None) => line.push_str(&format!(": {about}")),
            (about, Some(default)) => line.push_str(&format!(": {about} (default {default})")),
        }
        out.push_str(&line);
        out.push('\n');
        if let Some(inner) = inner {
            push_params(out, root, &params(root, inner), level + 1, left);
        }
    }
}

fn examples(shown: &Shown, which: Examples) -> Vec<String> {
    let values = match which {
        Examples::Never => Vec::new(),
        Examples::Configured => shown.tool.examples.clone(),
        Examples::Generated => shown.examples(),
    };
    let texts = values.iter().map(Value::to_string).filter(|text| text.len() <= LONGEST_EXAMPLE);
    texts.map(|text| inert(&crate::text::neutral(&text))).take(EXAMPLES).collect()
}
