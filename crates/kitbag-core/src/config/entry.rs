//! One entry of a file: read by itself, so that its mistakes are its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::dialect::{Dialect, Quirk, TimeUnit};
use super::source::Source;
use super::tree::{KeyValue, Node, Position};
use crate::fault::{Fault, FaultKind, Severity, SourceLocation};
use crate::model::{Extra, Input, Limits, Origin, Piece, ServerSpec, ServerTarget, SpecTimeouts, ToolFilter};
use crate::names::ServerName;
use crate::text::nearest;

mod auth;
mod described;
mod keys;
mod link;
mod values;
mod waits;

pub use described::{EntryKey, entry_keys, kept_keys};
use keys::Field;

/// What an entry is.
pub(super) enum Entry {
    /// A server.
    Server(Box<ServerSpec>),
    /// Only a switch for a server defined elsewhere.
    Toggle(bool),
}

/// What an entry is, unless an error makes it unusable, and what there is to say about it.
pub(super) struct Read {
    pub(super) entry: Option<Entry>,
    pub(super) faults: Vec<Fault>,
    /// How many more there were.
    pub(super) dropped: usize,
}

/// What a file says for all its entries.
pub(super) struct Given<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) dialect: &'static Dialect,
    pub(super) limits: &'a Limits,
    /// Faults the file has so far; beyond the bound they keep their place but show no line.
    pub(super) said: usize,
    pub(super) inputs: &'a HashMap<String, Input>,
}

/// What every part of the reading needs.
struct Context<'a> {
    name: &'a ServerName,
    source: &'a Source<'a>,
    dialect: &'static Dialect,
    faults: Vec<Fault>,
    /// Most faults kept; the first error is kept in any case, it says why the entry is unusable.
    most: usize,
    said: usize,
    dropped: usize,
    places: BTreeMap<&'static str, SourceLocation>,
}

impl Context<'_> {
    fn say(&mut self, fault: Fault, at: Position) {
        let is_full = self.most <= self.faults.len();
        if is_full && (fault.severity < Severity::Error || self.is_broken()) {
            self.dropped += 1;
            return;
        }
        let fault = fault.of(self.name);
        let is_shown = self.said + self.faults.len() < self.most;
        self.faults.push(if is_shown {
            self.source.mark(fault, at)
        } else {
            fault.at(self.source.place(at))
        });
    }

    fn is_broken(&self) -> bool {
        self.faults.iter().any(|fault| fault.severity == Severity::Error)
    }

    fn wrong_type(&mut self, pair: &KeyValue, expected: &str) {
        let message = format!("{:?} must be {expected}, found {}", pair.key, pair.value.kind());
        self.say(Fault::error(FaultKind::WrongType, message), pair.value.at);
    }

    fn remember(&mut self, key: &'static str, at: Position) {
        self.places.insert(key, self.source.place(at));
    }
}

/// The pairs of an entry by what they mean.
struct Fields<'a>(Vec<(Field, &'a KeyValue)>);

impl<'a> Fields<'a> {
    fn get(&self, field: Field) -> Option<&'a KeyValue> {
        self.0.iter().rev().find(|(known, _)| *known == field).map(|(_, pair)| *pair)
    }

    fn all(&self, field: Field) -> impl Iterator<Item = &'a KeyValue> {
        self.0.iter().filter(move |(known, _)| *known == field).map(|(_, pair)| *pair)
    }

    fn has(&self, field: Field) -> bool {
        self.get(field).is_some()
    }
}

/// Reads one entry by its dialect's rules.
pub(super) fn read(name: ServerName, place: SourceLocation, node: &Node, given: &Given<'_>) -> Read {
    let (source, dialect, most) = (given.source, given.dialect, given.limits.config_faults);
    let mut context = Context {
        name: &name,
        source,
        dialect,
        faults: Vec::new(),
        most,
        said: given.said,
        dropped: 0,
        places: BTreeMap::new(),
    };
    let Some(pairs) = node.map() else {
        let fault =
            Fault::error(FaultKind::WrongType, format!("a server is a map of keys, found {}", node.kind()));
        context.say(fault.hint("write {\"command\": …} or {\"url\": …}"), node.at);
        return Read { entry: None, faults: context.faults, dropped: 0 };
    };
    let mut unknown = Vec::new();
    let fields = classify(pairs, &mut unknown);
    let enabled = values::enabled(&mut context, &fields);
    if let Some(enabled) = enabled.filter(|_| is_toggle(&fields, &unknown)) {
        return Read { entry: Some(Entry::Toggle(enabled)), faults: context.faults, dropped: 0 };
    }
    misspelt(&mut context, &fields, &unknown);
    let link = link::read(&mut context, &fields, node.at);
    let filter = filter(&mut context, &fields);
    let waits = SpecTimeouts {
        connect: waits::connect(&mut context, &fields),
        call: waits::call(&mut context, &fields),
    };
    let required = values::flag(&mut context, &fields, Field::Required, "required").unwrap_or(false);
    let lazy = values::flag(&mut context, &fields, Field::Lazy, "lazy").unwrap_or(false);
    let concurrency = values::count(&mut context, &fields, Field::Concurrency, "concurrency");
    let per_user = values::flag(&mut context, &fields, Field::PerUser, "per_user").unwrap_or(false);
    let mask_results =
        values::flag(&mut context, &fields, Field::MaskResults, "mask_results").unwrap_or(false);
    let description = values::text(&mut context, &fields, Field::Description, "description");
    let own = fields.get(Field::Inputs).and_then(|pair| pair.value.list()).unwrap_or_default();
    let mut inputs: Vec<Input> = own.iter().filter_map(input).collect();
    inputs.extend(asked_for(link.as_ref(), given.inputs));
    let is_kept = |field: Field, pair: &KeyValue| {
        field == Field::Kept || field == Field::Tools && pair.value.map().is_some()
    };
    let kept = fields.0.iter().filter(|(field, pair)| is_kept(*field, pair)).map(|(_, pair)| *pair);
    let extra = Extra(
        unknown.iter().copied().chain(kept).map(|pair| (pair.key.clone(), pair.value.to_json())).collect(),
    );
    if enabled.is_none() && !dialect.enabled {
        let fault = Fault::note(
            FaultKind::MissingField,
            format!("switched off: {} wants \"enabled\": true", dialect.title),
        );
        context.say(fault.hint("add \"enabled\": true"), node.at);
    }
    let usable = !context.is_broken();
    let Context { faults, dropped, places, .. } = context;
    let entry = link.filter(|_| usable).map(|link| {
        Entry::Server(Box::new(ServerSpec {
            rules: crate::model::ServerRules::default(),
            origin: Origin { dialect: dialect.id, place },
            enabled: enabled.unwrap_or(dialect.enabled),
            name: name.clone(),
            link,
            filter,
            waits,
            required,
            lazy,
            concurrency,
            fallback: None,
            per_user,
            mask_results,
            description,
            inputs,
            extra,
            places,
        }))
    });
    Read { entry, faults, dropped }
}

/// An input the user is to be asked for; one without an id cannot be referred to.
pub(super) fn input(node: &Node) -> Option<Input> {
    let text = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    let id = text("id")?;
    Some(Input {
        description: text("description").unwrap_or_else(|| id.clone()),
        password: node.get("password").and_then(Node::bool).unwrap_or(false),
        options: node.get("options").map(values::strings).unwrap_or_default(),
        default: text("default"),
        id,
    })
}

/// Of the inputs a file declares for all its servers those that this one's texts refer to, once each.
fn asked_for(link: Option<&ServerTarget>, declared: &HashMap<String, Input>) -> Vec<Input> {
    let mut seen = BTreeSet::new();
    let pieces =
        link.map(ServerTarget::templates).unwrap_or_default().into_iter().flat_map(|(_, text)| text.pieces());
    let ids = pieces.filter_map(|piece| if let Piece::Input(id) = piece { Some(id) } else { None });
    ids.filter(|id| seen.insert(*id)).filter_map(|id| declared.get(id)).cloned().collect()
}

/// Sorts the pairs by meaning; nested `transport` and `connection` maps count as if written flat.
fn classify<'a>(pairs: &'a [KeyValue], unknown: &mut Vec<&'a KeyValue>) -> Fields<'a> {
    let mut fields = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let nested =
            matches!(pair.key.as_str(), "transport" | "connection").then(|| pair.value.map()).flatten();
        match (nested, keys::field(&pair.key)) {
            (Some(inner), _) => fields.extend(classify(inner, unknown).0),
            (None, Some(field)) => fields.push((field, pair)),
            (None, None) => unknown.push(pair),
        }
    }
    Fields(fields)
}

fn is_toggle(fields: &Fields<'_>, unknown: &[&KeyValue]) -> bool {
    unknown.is_empty()
        && fields.0.iter().all(|(field, _)| {
            matches!(field, Field::Enabled | Field::Disabled | Field::Name | Field::Description)
        })
}

/// A key nobody reads is kept in silence, unless somebody reads one that differs by a slip. If that one
/// restricts, the entry is not used: it would offer what was probably meant to be kept away.
fn misspelt(context: &mut Context<'_>, fields: &Fields<'_>, unknown: &[&KeyValue]) {
    let named = |pair: &&&KeyValue| !pair.key.starts_with(['_', '$', '/']) && !pair.key.starts_with("x-");
    // More keys than faults that could be shown are not a slip of the pen.
    for pair in unknown.iter().filter(named).take(context.most) {
        let Some(near) = nearest(&pair.key, keys::worth_a_hint()) else { continue };
        let fault = match keys::field(near) {
            Some(field) if keys::restricts(field) => unknown_key(pair),
            // The right key stands beside it: then this one is something else.
            Some(field) if fields.has(field) => continue,
            _ => Fault::warning(FaultKind::UnknownKey, format!("unknown key {:?}", pair.key)),
        };
        context.say(fault.hint(format!("did you mean {near:?}?")), pair.at);
    }
}

fn unknown_key(pair: &KeyValue) -> Fault {
    Fault::error(FaultKind::UnknownKey, format!("unknown key {:?}", pair.key))
}

fn filter(context: &mut Context<'_>, fields: &Fields<'_>) -> ToolFilter {
    let mut filter = ToolFilter {
        include: fields
            .get(Field::Include)
            .map(|pair| values::list(context, pair, "include"))
            .unwrap_or_default(),
        // Two programs' spellings in one entry: what either keeps away stays away.
        exclude: fields.all(Field::Exclude).flat_map(|pair| values::list(context, pair, "exclude")).collect(),
    };
    if context.dialect.has(Quirk::EmptyIncludeIsAll) && filter.include.is_empty() {
        return filter; // There an empty list means all tools.
    }
    if let Some(pair) =
        fields.get(Field::Include).filter(|pair| pair.value.list().is_some_and(<[Node]>::is_empty))
    {
        nothing_included(context, pair, &mut filter);
    }
    // `tools` is a list of names to one program, {include, exclude} to another, approval modes to a third.
    if let Some(pair) = fields.get(Field::Tools) {
        match (pair.value.list(), pair.value.map()) {
            (Some([]), _) => nothing_included(context, pair, &mut filter),
            (Some(_), _) => filter.include = values::names(context, pair),
            (_, Some(inner)) => nested_filter(context, inner, &mut filter),
            _ => context.wrong_type(pair, "a list of tool names"),
        }
    }
    filter
}

/// `{include, exclude}`, whose other keys may be names of tools.
fn nested_filter(context: &mut Context<'_>, pairs: &[KeyValue], filter: &mut ToolFilter) {
    for pair in pairs {
        let is_list = pair.value.list().is_some() || pair.value.text().is_some();
        match (pair.key.as_str(), nearest(&pair.key, ["include", "exclude"])) {
            ("include", _) if pair.value.list().is_some_and(<[Node]>::is_empty) => {
                nothing_included(context, pair, filter);
            }
            ("include", _) => filter.include.extend(values::list(context, pair, "include")),
            ("exclude", _) => filter.exclude.extend(values::list(context, pair, "exclude")),
            (_, Some(near)) if is_list => {
                context.say(unknown_key(pair).hint(format!("did you mean {near:?}?")), pair.at);
            }
            _ => {}
        }
    }
}

/// An empty list of tools to take means none, which is worth a word.
fn nothing_included(context: &mut Context<'_>, pair: &KeyValue, filter: &mut ToolFilter) {
    filter.exclude.push("*".to_owned());
    let fault = Fault::note(
        FaultKind::WrongValue,
        format!("{:?} is empty: no tool of this server is taken", pair.key),
    );
    context.say(fault.hint("remove the key, or write [\"*\"], to take all"), pair.at);
}

/// The unit a dialect gives to a bare `timeout`, in words.
fn unit_word(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Seconds => "seconds",
        TimeUnit::Guess => "no stated unit",
    }
}
