//! The lines of one tool.

use serde_json::Value;

use super::group::category;
use super::{Examples, Grouping, MarkdownOptions};
use crate::present::signatures::inline::{code, cut, inert, inline};
use crate::present::signatures::kind::{Detail, kind, value_text};
use crate::present::signatures::params::{Param, inside};
use crate::present::signatures::set::ParameterSet;
use crate::shape::ViewTool;

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
pub(super) fn push_tool(out: &mut String, shown: &ViewTool, options: &MarkdownOptions) {
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
    out.push_str(&format!("### {}\n", super::name(shown, options)));
    for (label, text) in items {
        out.push_str(&format!("- **{label}**: {text}\n"));
    }
    let root = &*tool.input;
    let set = ParameterSet::of(root, root);
    if !set.is_empty() {
        out.push_str("- **Parameters**:\n");
        ParameterLines { out, root, left: MOST_LINES }.push_set(&set, 1, 1);
    }
    for example in examples(shown, options.examples) {
        out.push_str(&format!("- **Example**: `{example}`\n"));
    }
}

/// Writes the lines of parameters, up to a bound.
struct ParameterLines<'a> {
    out: &'a mut String,
    root: &'a Value,
    left: usize,
}

impl ParameterLines<'_> {
    /// The parameters that always hold, then each branch of a choice under a line of its own. `level` counts objects
    /// inside objects, `indent` also the lines of branches.
    fn push_set(&mut self, set: &ParameterSet<'_>, level: usize, indent: usize) {
        let cut = format!("{}- …\n", "  ".repeat(indent));
        for param in &set.common {
            if !self.takes_one() {
                return self.out.push_str(&cut);
            }
            self.push_param(param, level, indent);
        }
        for branches in &set.choices {
            for (place, branch) in branches.iter().enumerate() {
                if !self.takes_one() {
                    return self.out.push_str(&cut);
                }
                let heading = format!("option {} of {}", place + 1, branches.len());
                let end = if branch.is_empty() { ": nothing more" } else { ":" };
                self.out.push_str(&format!("{}- {heading}{end}\n", "  ".repeat(indent)));
                self.push_set(branch, level, indent + 1);
            }
        }
        if set.cut {
            self.out.push_str(&cut);
        }
    }

    fn takes_one(&mut self) -> bool {
        let fewer = self.left.checked_sub(1);
        self.left = fewer.unwrap_or_default();
        fewer.is_some()
    }

    fn push_param(&mut self, param: &Param<'_>, level: usize, indent: usize) {
        let root = self.root;
        let inner = inside(root, param.schema).filter(|_| level < LEVELS);
        let depth = match (inner, level) {
            // What gets lines of its own need not be told twice.
            (Some(_), _) => 0,
            (None, LEVELS..) => 1,
            (None, _) => Detail::WIDE.depth,
        };
        let kind = kind(root, param.schema, Detail::WIDE.depth(depth));
        let need = if param.required { "required" } else { "optional" };
        let mut line = format!("{}- {} ({kind}) ({need})", "  ".repeat(indent), code(param.name));
        let about = cut(&inline(param.description(root).unwrap_or_default()), LONGEST_ABOUT);
        let default = param.default().filter(|value| !value.is_null()).map(value_text);
        match (about.as_str(), default) {
            ("", None) => {}
            ("", Some(default)) => line.push_str(&format!(": default {default}")),
            (about, None) => line.push_str(&format!(": {about}")),
            (about, Some(default)) => line.push_str(&format!(": {about} (default {default})")),
        }
        self.out.push_str(&line);
        self.out.push('\n');
        if let Some(inner) = inner {
            self.push_set(&ParameterSet::of(root, inner), level + 1, indent + 1);
        }
    }
}

fn examples(shown: &ViewTool, which: Examples) -> Vec<String> {
    let values = match which {
        Examples::Never => Vec::new(),
        Examples::Configured => shown.tool.examples.clone(),
        Examples::Generated => shown.examples(),
    };
    let texts = values.iter().map(Value::to_string).filter(|text| text.len() <= LONGEST_EXAMPLE);
    texts.map(|text| inert(&crate::text::neutral(&text))).take(EXAMPLES).collect()
}
