//! Who is called what: each tool of a view has one name, which no other has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ClashError, Kept, ViewRequest, ViewTool};
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, Stage};
use crate::model::Clash;
use crate::names::{NameForm, Named, ShownName, fit};

/// Gives every tool its one name; whether it is listed under it. A full name is never given to any tool but
/// its own: it is what always works.
pub(super) fn name_all(
    request: &ViewRequest<'_>,
    kept: Vec<Kept>,
    faults: &mut Vec<Fault>,
) -> Result<Vec<(Arc<ViewTool>, bool)>, ClashError> {
    let full = request.snapshot.names().table(NameForm::Full);
    let wanted = server_names(request, &kept, faults);
    // Local tools go by their own names, so those come first.
    let is_local = |tool: &Tool| Some(&tool.server) == request.local;
    let locals: BTreeSet<ShownName> =
        kept.iter().map(Kept::tool).filter(|tool| is_local(tool)).filter_map(local_name).collect();
    let places = settle(request, &kept, wanted, &locals, faults)?;
    let replaced: BTreeSet<&ShownName> =
        places.iter().flatten().filter(|place| place.replaces).map(|place| &place.name).collect();
    let mut named: Vec<(Kept, ShownName, ShownName, bool)> = Vec::with_capacity(kept.len());
    for (kept, place) in kept.into_iter().zip(&places) {
        let tool = kept.tool();
        let Some(full) = full.name(&tool.server, &tool.name).cloned() else { continue };
        let (name, listed) = match place {
            Some(place) => (place.name.clone(), place.listed),
            None => match local_name(tool) {
                Some(name) if replaced.contains(&name) => (full.clone(), false),
                Some(name) if is_anothers(request, &name, tool) => {
                    faults.push(taken(tool, &name, "it goes by its full one"));
                    (full.clone(), true)
                }
                name => (name.unwrap_or_else(|| full.clone()), true),
            },
        };
        named.push((kept, name, full, listed));
    }
    if let Some(longest) = request.agent.longest {
        let pairs: Vec<Named<'_>> = named
            .iter()
            .map(|(kept, name, ..)| (name.clone(), &kept.tool().server, &kept.tool().name))
            .collect();
        let fitted = fit(&pairs, longest);
        named.iter_mut().zip(fitted).for_each(|((_, name, ..), fitted)| *name = fitted);
    }
    Ok(named.into_iter().map(|(kept, name, full, listed)| (kept.show(name, full), listed)).collect())
}

/// What a tool of a server is called in the end.
struct Place {
    name: ShownName,
    listed: bool,
    /// Whether a local tool had to go.
    replaces: bool,
}

/// Decides by the agent's policy wherever a local tool wants the name of a server's; nothing for local ones.
fn settle(
    request: &ViewRequest<'_>,
    kept: &[Kept],
    wanted: Vec<Option<ShownName>>,
    locals: &BTreeSet<ShownName>,
    faults: &mut Vec<Fault>,
) -> Result<Vec<Option<Place>>, ClashError> {
    let full = request.snapshot.names().table(NameForm::Full);
    let place = |(kept, name): (&Kept, Option<ShownName>)| {
        let tool = kept.tool();
        let Some(name) = name else { return Ok(None) };
        let listed = |name: ShownName| Ok(Some(Place { name, listed: true, replaces: false }));
        // A local tool by the full name of another is told so when it gets its own.
        if !locals.contains(&name) {
            return listed(name);
        }
        let full = full.name(&tool.server, &tool.name).unwrap_or(&name).clone();
        match request.agent.clash {
            Clash::Error => {
                let (server, tool) = (tool.server.clone(), tool.name.to_string());
                return Err(ClashError { name, server, tool });
            }
            // The local one goes by another name then, and says so.
            Clash::Prefix | Clash::Local if name == full => return listed(name),
            policy => faults.push(clash(policy, tool, &name)),
        }
        Ok(Some(match request.agent.clash {
            Clash::Mcp => Place { name, listed: true, replaces: true },
            Clash::Local => Place { name: full, listed: false, replaces: false },
            Clash::Prefix | Clash::Error => Place { name: full, listed: true, replaces: false },
        }))
    };
    kept.iter().zip(wanted).map(place).collect()
}

/// What each tool of a server is called as long as no local one wants the name; nothing for local tools.
fn server_names(request: &ViewRequest<'_>, kept: &[Kept], faults: &mut Vec<Fault>) -> Vec<Option<ShownName>> {
    let names = request.snapshot.names();
    let wishes = granted(request, kept, faults);
    let form_of = |tool: &Tool| tool.form.unwrap_or(request.form);
    // Names of one form are distinct, but tools of several forms may stand in one view: the longer one keeps it.
    let mut given: BTreeSet<ShownName> = BTreeSet::new();
    let mut all: Vec<Option<ShownName>> = vec![None; kept.len()];
    for form in NameForm::ALL {
        for (kept, place) in kept.iter().zip(&mut all) {
            let tool = kept.tool();
            if Some(&tool.server) == request.local || form_of(tool) != form {
                continue;
            }
            let of = |form: NameForm| names.table(form).name(&tool.server, &tool.name).cloned();
            let wish = tool.name_override.as_ref().filter(|wish| wishes.contains(*wish)).cloned();
            if wish.is_none() && form == NameForm::Full {
                *place = of(form);
                continue;
            }
            let Some(name) = wish.or_else(|| of(form)).or_else(|| of(NameForm::Full)) else { continue };
            *place = if given.contains(&name) || is_anothers(request, &name, tool) {
                faults.push(taken(tool, &name, "it goes by its full one"));
                of(NameForm::Full)
            } else {
                given.insert(name.clone());
                Some(name)
            };
        }
    }
    all
}

/// Whether another tool has this for its full name, or a gateway for its own.
fn is_anothers(request: &ViewRequest<'_>, name: &ShownName, tool: &Tool) -> bool {
    let names = request.snapshot.names();
    let owner = names.table(NameForm::Full).pair(name);
    owner.is_some_and(|(server, own)| (server, own) != (&tool.server, &tool.name))
        || names.gateway(name.as_str()).is_some()
}

fn taken(tool: &Tool, name: &ShownName, how: &str) -> Fault {
    let message = format!("the name {name} for the tool {} is taken; {how}", tool.name);
    let fault = Fault::warning(FaultKind::Clash, message).of(&tool.server);
    Fault { stage: Stage::Shape, tool: Some(tool.name.clone()), ..fault }
}

/// A local tool goes by its own name, as far as that can be a name for a model.
fn local_name(tool: &Tool) -> Option<ShownName> {
    ShownName::parse(tool.name.as_str()).ok()
}

/// Names that operators wrote down and that no other tool has: not by another's wish, and not by the table.
fn granted(request: &ViewRequest<'_>, kept: &[Kept], faults: &mut Vec<Fault>) -> BTreeSet<ShownName> {
    let mut wanted: BTreeMap<&ShownName, Vec<&Tool>> = BTreeMap::new();
    for kept in kept {
        if let Some(wish) = &kept.tool().name_override {
            wanted.entry(wish).or_default().push(kept.tool());
        }
    }
    let names = request.snapshot.names();
    let is_taken = |wish: &ShownName, tool: &Tool| {
        let others = |form: NameForm| {
            names.table(form).pair(wish).is_some_and(|pair| *pair != (tool.server.clone(), tool.name.clone()))
        };
        NameForm::ALL.into_iter().any(others) || names.gateway(wish.as_str()).is_some()
    };
    let mut granted = BTreeSet::new();
    for (wish, tools) in wanted {
        match tools.as_slice() {
            [tool] if !is_taken(wish, tool) => drop(granted.insert(wish.clone())),
            tools => faults.extend(tools.iter().map(|tool| taken(tool, wish, "it keeps its usual one"))),
        }
    }
    granted
}

fn clash(policy: Clash, tool: &Tool, name: &ShownName) -> Fault {
    let how = match policy {
        Clash::Prefix => "the server's tool goes by its full name",
        Clash::Mcp => "the server's tool takes its place",
        Clash::Local => "the local one takes its place",
        Clash::Error => "neither can be used",
    };
    let fault = Fault::warning(FaultKind::Clash, format!("a local tool is called {name}, too: {how}"));
    Fault { stage: Stage::Shape, tool: Some(tool.name.clone()), ..fault.of(&tool.server) }
}
