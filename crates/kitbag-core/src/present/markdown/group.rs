//! Which tools stand under which heading.

use std::collections::HashMap;

use super::Grouping;
use crate::present::signatures::inline::{cut, inline};
use crate::shape::ViewTool;

/// The longest heading taken from a tool.
const LONGEST: usize = 80;
/// Where tools without a category stand.
const OTHER: &str = "Other";

/// Tools under one heading.
pub(super) struct Group<'a> {
    pub(super) heading: String,
    pub(super) tools: Vec<&'a ViewTool>,
}

/// The groups in order of their first tool, those without a category last; tools keep their order.
pub(super) fn groups<'a>(tools: &[&'a ViewTool], grouping: Grouping) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for shown in tools {
        let heading = heading(shown, grouping);
        match places.get(&heading).and_then(|place| groups.get_mut(*place)) {
            Some(group) => group.tools.push(shown),
            None => {
                places.insert(heading.clone(), groups.len());
                groups.push(Group { heading, tools: vec![shown] });
            }
        }
    }
    match grouping {
        Grouping::Server => {}
        Grouping::Category => groups.sort_by_key(|group| group.heading == OTHER),
        Grouping::Effect => groups.sort_by_key(|group| rank(&group.heading)),
    }
    groups
}

fn heading(shown: &ViewTool, grouping: Grouping) -> String {
    match grouping {
        Grouping::Server => format!("MCP Server: {}", inline(shown.tool.server.as_str())),
        Grouping::Category => match category(shown) {
            Some(category) => format!("Category: {category}"),
            None => OTHER.to_owned(),
        },
        Grouping::Effect => effect(shown).to_owned(),
    }
}

/// The operator's word, else the server's own.
pub(super) fn category(shown: &ViewTool) -> Option<String> {
    let declared = || {
        let places = ["/annotations/category", "/_meta/category", "/category"];
        places.iter().find_map(|place| shown.tool.raw.pointer(place)?.as_str())
    };
    let text = shown.tool.category.as_deref().or_else(declared)?;
    let text = crate::text::neutral(text);
    Some(cut(&inline(&text), LONGEST)).filter(|text| !text.is_empty())
}

const EFFECTS: [&str; 4] = ["Reads only", "Makes changes", "May destroy", "Effect not declared"];

/// By what its server says; a claim, not a fact.
fn effect(shown: &ViewTool) -> &'static str {
    let hints = shown.tool.hints;
    match (hints.read_only, hints.destructive) {
        (Some(true), _) => EFFECTS[0],
        (_, Some(true)) => EFFECTS[2],
        (Some(false), _) | (_, Some(false)) => EFFECTS[1],
        (None, None) => EFFECTS[3],
    }
}

fn rank(heading: &str) -> usize {
    EFFECTS.iter().position(|effect| *effect == heading).unwrap_or(EFFECTS.len())
}
