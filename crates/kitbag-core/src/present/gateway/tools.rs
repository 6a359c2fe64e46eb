//! The tools behind one gateway, and what they are called there.

use std::sync::Arc;

use crate::present::signatures::inline::{cut, inline};
use crate::shape::{View, ViewTool};
use crate::text::{nearest, visible};

/// Bytes of names in one error.
const NAMES: usize = 4_000;
/// Bytes of names in a definition: every request pays for them.
const DEFINED_NAMES: usize = 160;
/// The longest piece of a name that is repeated to a model.
const LONGEST: usize = 120;

/// Whether a tool is meant, by its name inside and its others.
type Way<'a> = &'a dyn Fn(&str, &ViewTool) -> bool;

/// The tools a view has of a server, in its order. Those whose name went to another tool are among them: in
/// here nobody else has it.
pub(super) fn of<'a>(view: &'a View, server: &'a str) -> impl Iterator<Item = &'a Arc<ViewTool>> {
    let all = view.tools().iter().chain(view.shadowed());
    all.filter(move |shown| shown.tool.server.as_str() == server)
}

/// The tools of a server with their names inside the gateway.
pub(super) fn named<'a>(view: &'a View, server: &'a str) -> Vec<(&'a str, &'a Arc<ViewTool>)> {
    let mut named: Vec<(&str, &Arc<ViewTool>)> =
        of(view, server).map(|shown| (label(shown), shown)).collect();
    let mut labels: Vec<&str> = named.iter().map(|(label, _)| *label).collect();
    labels.sort_unstable();
    let is_twice = |label: &str| {
        labels.partition_point(|one| *one <= label) - labels.partition_point(|one| *one < label) != 1
    };
    for (label, shown) in &mut named {
        if is_twice(label) {
            *label = shown.full.as_str();
        }
    }
    named
}

fn label(shown: &ViewTool) -> &str {
    match &shown.tool.name_override {
        Some(wish) if *wish == shown.name => wish.as_str(),
        _ => shown.tool.name.as_str(),
    }
}

/// The tool a text means; the error tells the names and what was probably meant.
pub fn find<'a>(view: &'a View, server: &'a str, text: &str) -> Result<&'a Arc<ViewTool>, String> {
    let named = named(view, server);
    let is_label = |label: &str, _: &ViewTool| label == text;
    let is_shown = |_: &str, shown: &ViewTool| shown.name.as_str() == text || shown.full.as_str() == text;
    let is_own = |_: &str, shown: &ViewTool| shown.tool.name.as_str() == text;
    let is_like = |label: &str, shown: &ViewTool| {
        let names = [label, shown.name.as_str(), shown.full.as_str(), shown.tool.name.as_str()];
        names.iter().any(|name| loosely(name).eq(loosely(text)))
    };
    let ways: [Way<'_>; 4] = [&is_label, &is_shown, &is_own, &is_like];
    for way in ways {
        let fitting: Vec<_> = named.iter().filter(|(label, shown)| way(label, shown)).collect();
        match fitting.as_slice() {
            [] => {}
            [(_, shown)] => return Ok(shown),
            several => {
                let names: Vec<&str> = several.iter().map(|(label, _)| *label).collect();
                return Err(format!("{} may mean any of: {}", shown_text(text), names.join(", ")));
            }
        }
    }
    let near = nearest(text, named.iter().map(|(label, _)| *label));
    let near = near.map(|near| format!(" Did you mean '{near}'?")).unwrap_or_default();
    Err(format!(
        "MCP server '{server}' has no tool {}.{near} Available tools: {}",
        shown_text(text),
        list_names(&named)
    ))
}

pub(in crate::present) fn loosely(name: &str) -> impl Iterator<Item = u8> + '_ {
    name.bytes().map(|byte| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() })
}

/// What a model wrote, fit to be repeated.
pub(super) fn shown_text(text: &str) -> String {
    let cut: String = visible(text).chars().take(LONGEST).collect();
    format!("'{cut}'")
}

/// The first names of a server's tools, and how many there are more; empty without tools.
pub(super) fn some_names(view: &View, server: &str) -> String {
    let named = named(view, server);
    let mut text = String::new();
    for (place, (label, _)) in named.iter().enumerate() {
        let label = inline(&visible(label));
        // One is always named.
        if 0 < place && DEFINED_NAMES < text.len() + label.len() {
            text.push_str(&format!(" and {} more", named.len() - place));
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&cut(&label, DEFINED_NAMES));
    }
    text
}

/// The names, as many as have room.
pub(super) fn list_names(named: &[(&str, &Arc<ViewTool>)]) -> String {
    if named.is_empty() {
        return "none".to_owned();
    }
    let mut text = String::new();
    for (place, (label, _)) in named.iter().enumerate() {
        if NAMES < text.len() + label.len() {
            text.push_str(&format!(" and {} more (action='list' tells all)", named.len() - place));
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(label);
    }
    text
}
