//! Which tool a call means: one of the program's own, one of a declared server, or none.

use std::sync::Arc;

use super::Toolbelt;
use crate::names::lookup::NameMatch;
use crate::names::{NameForm, ShownName};
use crate::shape::{View, ViewTool};
use crate::text::visible;

/// The longest piece of a name that is repeated to a model.
pub(super) const LONGEST: usize = 120;

/// The tool that is meant.
#[derive(Clone, Debug)]
pub struct ResolvedTool<'a> {
    /// The tool.
    pub shown: &'a Arc<ViewTool>,
    /// What the model should know about the choice, if there was one.
    pub note: Option<String>,
}

impl Toolbelt<'_> {
    /// The place of a tool's server among those declared, the program's own first; none if it is not.
    pub(super) fn rank(&self, shown: &ViewTool) -> Option<usize> {
        if Some(&shown.tool.server) == self.local {
            return Some(0);
        }
        let place = self.servers.iter().position(|declared| declared.name == shown.tool.server.as_str());
        place.map(|place| place + 1)
    }
}

/// The tool a name means. The name as listed comes first, then a tool of the program itself, then the
/// declared servers in their order; the error says what to do instead.
pub fn resolve<'a>(belt: &Toolbelt<'a>, name: &str) -> Result<ResolvedTool<'a>, String> {
    if name.is_empty() {
        return Err(format!("{} must be followed by the name of a tool.", super::MARKER));
    }
    let view: &'a View = belt.view;
    if let Some(shown) = own(belt, name) {
        return Ok(ResolvedTool { shown, note: None });
    }
    let (candidates, near) = match view.find(name) {
        NameMatch::One(one) => (vec![one], Vec::new()),
        NameMatch::Ambiguous(several) => (several, Vec::new()),
        NameMatch::None { near } => (Vec::new(), near),
    };
    let at = |place: &usize| view.at(*place);
    let ranked = |shown: &'a Arc<ViewTool>| Some((belt.rank(shown)?, shown));
    let mut usable: Vec<(usize, &'a Arc<ViewTool>)> =
        candidates.iter().filter_map(at).filter_map(ranked).collect();
    usable.sort_by_key(|(rank, shown)| (*rank, &shown.name));
    let Some((_, shown)) = usable.first() else {
        let undeclared = candidates.iter().filter_map(at).next();
        let near = near.iter().filter_map(at).filter(|shown| belt.rank(shown).is_some());
        return Err(missing(belt, name, undeclared, near.map(|shown| shown.name.as_str()).collect()));
    };
    let others: Vec<String> = usable.iter().skip(1).map(|(_, other)| other.full.to_string()).collect();
    let note = (!others.is_empty()).then(|| {
        format!("{} of {} was run. Also called {name}: {}.", shown.full, shown.tool.server, others.join(", "))
    });
    Ok(ResolvedTool { shown, note })
}

/// The program's own tool of that name, unless another is listed under it.
fn own<'a>(belt: &Toolbelt<'a>, name: &str) -> Option<&'a Arc<ViewTool>> {
    let view: &'a View = belt.view;
    let is_own =
        |shown: &&Arc<ViewTool>| Some(&shown.tool.server) == belt.local && shown.tool.name.as_str() == name;
    let own = view.tools().iter().chain(view.shadowed()).find(is_own)?;
    let is_listed =
        |shown: &Arc<ViewTool>| shown.name.as_str() == name && shown.tool.server != own.tool.server;
    (!view.tools().iter().any(is_listed)).then_some(own)
}

/// Why no tool of that name can be called.
fn missing(belt: &Toolbelt<'_>, name: &str, undeclared: Option<&Arc<ViewTool>>, near: Vec<&str>) -> String {
    let shown: String = visible(name).chars().take(LONGEST).collect();
    let elsewhere = undeclared.map(|shown| shown.tool.server.as_str()).or_else(|| {
        let full = ShownName::parse(name).ok();
        let full = full.and_then(|name| belt.view.snapshot().names().table(NameForm::Full).pair(&name));
        let is_meant = |(server, tool): &&(&str, &str)| {
            *tool == name
                || format!("{server}/{tool}") == name
                || full.is_some_and(|(own, called)| (own.as_str(), called.as_str()) == (*server, *tool))
        };
        belt.others.iter().find(is_meant).map(|(server, _)| *server)
    });
    if let Some(server) = elsewhere {
        return format!(
            "the tool {shown} belongs to the server {server}, which is not enabled for this agent."
        );
    }
    if !near.is_empty() {
        return format!("there is no tool {shown}. Did you mean: {}?", near.join(", "));
    }
    let usable = belt.view.tools().iter().filter(|shown| belt.rank(shown).is_some());
    let names: Vec<&str> = usable.map(|shown| shown.name.as_str()).take(50).collect();
    if names.is_empty() {
        return format!("there is no tool {shown}; no tools are available.");
    }
    format!("there is no tool {shown}. Tools: {}.", names.join(", "))
}
