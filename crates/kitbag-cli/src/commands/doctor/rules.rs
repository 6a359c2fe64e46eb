//! Rules that match nothing, as far as the names of servers and the lists of their tools are known.

use std::borrow::Cow;

use kitbag::connect::StartServers;
use kitbag::{Fault, FaultKind, Kitbag, OpenOptions, ServerSpec, Setup, UserId};
use kitbag_core::catalog::Snapshot;
use kitbag_core::config::settings::{Pattern, PatternOwner};
use kitbag_core::shape::{KnownTools, unmatched};

use crate::context::Context;
use crate::exit::Failure;
use crate::live;

/// Slips in the names of servers, which need no list of tools.
pub(in crate::commands) fn misnamed(setup: &Setup) -> Vec<Fault> {
    of(setup, &Snapshot::default())
}

/// Everything that matches nothing of what is known by these lists.
pub(super) fn of(setup: &Setup, snapshot: &Snapshot) -> Vec<Fault> {
    let patterns = patterns(setup);
    let patterns: Vec<&Pattern> = patterns.iter().map(AsRef::as_ref).collect();
    if patterns.is_empty() { Vec::new() } else { unmatched(&patterns, &known(setup, snapshot)) }
}

/// The same of the rules that decide about one tool: those of its server, of the agent, and of the user's groups.
pub(in crate::commands) fn about(
    setup: &Setup,
    snapshot: &Snapshot,
    server: Option<&str>,
    agent: Option<&str>,
) -> Vec<Fault> {
    let mut patterns = patterns(setup);
    patterns.retain(|pattern| match &pattern.owner {
        PatternOwner::Server(name) | PatternOwner::Entry(name) => server.is_none_or(|server| server == name),
        PatternOwner::Agent(name) => agent == Some(name),
        PatternOwner::Group(name) => is_member(setup, name),
    });
    let patterns: Vec<&Pattern> = patterns.iter().map(AsRef::as_ref).collect();
    if patterns.is_empty() { Vec::new() } else { unmatched(&patterns, &known(setup, snapshot)) }
}

/// Whether the user a setup is for belongs to a group.
fn is_member(setup: &Setup, group: &str) -> bool {
    let memberships = setup.settings.iter().flat_map(|(_, settings)| &settings.memberships);
    let mut own = memberships.filter(|(user, _)| *user == setup.user).flat_map(|(_, groups)| groups);
    own.any(|own| own.value == group) || setup.user == UserId::local() && group == UserId::local().as_str()
}

/// The same by the lists that are remembered; says which servers had none. Nothing is started for it.
pub(super) fn by_remembered(context: &mut Context, setup: Setup) -> Result<Vec<Fault>, Failure> {
    let all = patterns(&setup).into_iter().map(Cow::into_owned).collect::<Vec<Pattern>>();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    live::block_on(async {
        let options = OpenOptions { start: StartServers::OnDemand, ..OpenOptions::default() };
        let kit = Kitbag::start(setup, options);
        let (setup, snapshot) = (kit.setup(), kit.snapshot());
        let faults = of(&setup, &snapshot);
        let known = known(&setup, &snapshot);
        let unknown = known.unknown(&all.iter().collect::<Vec<_>>());
        if !unknown.is_empty() {
            context.remark(format!(
                "the tools of {} are not known yet, so rules about them are not checked; `kitbag doctor --connect` does",
                unknown.join(", ")
            ));
        }
        Ok(faults)
    })
}

/// What the settings say, and what the entries of servers in use say.
fn patterns(setup: &Setup) -> Vec<Cow<'_, Pattern>> {
    let written = setup.settings.iter().flat_map(|(_, settings)| &settings.patterns);
    let mut all: Vec<Cow<'_, Pattern>> = written.map(Cow::Borrowed).collect();
    for spec in setup.used() {
        let own: Vec<Pattern> = of_entry(spec).filter(|own| !is_written(&all, own)).collect();
        all.extend(own.into_iter().map(Cow::Owned));
    }
    all
}

/// The settings end up in the same lists as the entry, and are known with their place.
fn is_written(all: &[Cow<'_, Pattern>], own: &Pattern) -> bool {
    let PatternOwner::Entry(server) = &own.owner else { return false };
    let owner = PatternOwner::Server(server.clone());
    all.iter().any(|other| other.owner == owner && other.key == own.key && other.text == own.text)
}

fn of_entry(spec: &ServerSpec) -> impl Iterator<Item = Pattern> {
    let lists = [("include", &spec.filter.include), ("exclude", &spec.filter.exclude)];
    lists.into_iter().flat_map(move |(key, list)| {
        list.iter().filter(|text| !text.is_empty()).map(move |text| Pattern {
            owner: PatternOwner::Entry(spec.name.to_string()),
            key,
            text: text.clone(),
            place: spec.places.get(key).unwrap_or(&spec.origin.place).clone(),
        })
    })
}

fn known(setup: &Setup, snapshot: &Snapshot) -> KnownTools {
    let mut known = KnownTools::default();
    known.add_server("local");
    setup.merged.servers.iter().for_each(|row| known.add_server(&row.name));
    setup.catalog.iter().for_each(|part| known.add_server(part.server.as_str()));
    for part in snapshot.parts() {
        // Of a list that was cut nobody knows what the rest has.
        let is_cut = snapshot.list_notes(&part.server).iter().any(|note| note.kind == FaultKind::ListCut);
        let left_out = part.rejected.iter().filter_map(|rejected| rejected.tool.clone());
        if !is_cut {
            known
                .add_tools(&part.server, part.tools.iter().map(|tool| tool.name.to_string()).chain(left_out));
        }
        part.tools.iter().filter_map(|tool| tool.category.as_deref()).for_each(|own| known.add_category(own));
    }
    for rules in setup.used().map(|spec| &spec.rules) {
        let of_tools = rules.tools.iter().filter_map(|(_, rules)| rules.category.as_deref());
        of_tools.chain(rules.category.as_deref()).for_each(|category| known.add_category(category));
    }
    known
}
