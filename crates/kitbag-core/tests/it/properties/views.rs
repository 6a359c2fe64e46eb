//! Views of any catalog by any rules: what is listed is callable, nothing else is, and equal states give equal
//! bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kitbag_core::catalog::{CatalogNames, ServerTools, Snapshot, Tool, Unreachable};
use kitbag_core::model::{AgentRules, Clash};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::names::{NameForm, ShownName};
use kitbag_core::schema::{Schema, example};
use kitbag_core::shape::{
    ArgumentChange, ArgumentChanges, Authorize, Decision, Describe, Filter, Order, PermittedBy, Rename, Rule,
    RuleError, Shaper, UseNameForm, Verdict, View, ViewRequest, ViewTool, restore,
};
use kitbag_core::text::{Globs, is_hidden};
use kitbag_core::{Limits, ServerName, UserId};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{config, size};

const VIEWS: u32 = size(1_500, 20_000);
const ORDERS: u32 = size(150, 10_000);
const FLAPS: u32 = size(40, 2_000);
const ARGUMENTS: u32 = size(1_500, 100_000);
const HOSTILE: u32 = size(1_500, 100_000);

/// Few, and much alike, so that many meet.
const SERVERS: [&str; 9] = ["a", "A", "a_b", "a-b", "fs", "mcp_a", "local", "文", "git hub"];
const TOOLS: [&str; 13] = [
    "x",
    "X",
    "x_y",
    "x-y",
    "b_x",
    "read",
    "fs_read",
    "a_x",
    "mcp_a_x",
    "mcp_local_x",
    "列",
    "look up",
    "a_tool_with_a_name_that_is_so_long_that_it_has_to_be_cut_for_every_provider",
];
const WISHES: [&str; 7] = ["x", "same", "mcp_a_x", "a_x", "fs_read", "mcp_local_x", "no name"];
const PATTERNS: [&str; 8] = ["*", "x*", "*x", "read", "a/*", "*/x", "fs*", "["];

type Tools = BTreeMap<&'static str, BTreeSet<&'static str>>;

/// What may be said about one server's tools.
#[derive(Clone, Debug)]
enum Said {
    Only(&'static str),
    Never(&'static str),
    Name(&'static str, &'static str),
    Form(NameForm),
    Order(&'static str, i64),
    Describe(&'static str),
    Fail(&'static str),
}

#[derive(Clone, Debug)]
struct Plan {
    tools: Tools,
    said: BTreeMap<&'static str, Vec<Said>>,
    servers: Vec<&'static str>,
    allow: Vec<&'static str>,
    denied: BTreeSet<(&'static str, &'static str)>,
    clash: Clash,
    form: NameForm,
    local: Option<&'static str>,
    /// Whether the names know of local tools, as they should; a view must hold either way.
    told: bool,
    reserved: BTreeSet<&'static str>,
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        1 => select(PATTERNS.to_vec()).prop_map(Said::Only),
        1 => select(PATTERNS.to_vec()).prop_map(Said::Never),
        6 => (select(TOOLS.to_vec()), select(WISHES.to_vec())).prop_map(|(tool, name)| Said::Name(tool, name)),
        6 => select(NameForm::ALL.to_vec()).prop_map(Said::Form),
        1 => (select(TOOLS.to_vec()), -2_i64..3).prop_map(|(tool, order)| Said::Order(tool, order)),
        1 => select(TOOLS.to_vec()).prop_map(Said::Describe),
        1 => select(TOOLS.to_vec()).prop_map(Said::Fail),
    ]
}

fn tools() -> impl Strategy<Value = Tools> {
    btree_map(select(SERVERS.to_vec()), btree_set(select(TOOLS.to_vec()), 0..8), 0..7)
}

fn plan() -> impl Strategy<Value = Plan> {
    let rules = btree_map(select(SERVERS.to_vec()), vec(said(), 0..4), 0..8);
    let patterns = || prop_oneof![5 => Just(Vec::new()), 1 => vec(select(PATTERNS.to_vec()), 1..3)];
    let denied = btree_set((select(SERVERS.to_vec()), select(TOOLS.to_vec())), 0..6);
    let clash = select(vec![Clash::Prefix, Clash::Mcp, Clash::Local, Clash::Error]);
    let names = (select(NameForm::ALL.to_vec()), option::of(Just("local")), any::<bool>());
    let reserved = btree_set(select(WISHES[..6].to_vec()), 0..3);
    (tools(), rules, (patterns(), patterns()), denied, clash, names, reserved).prop_map(
        |(tools, said, (servers, allow), denied, clash, (form, local, told), reserved)| Plan {
            tools,
            said,
            servers,
            allow,
            denied,
            clash,
            form,
            local,
            told,
            reserved,
        },
    )
}

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn part(name: &str, tools: &BTreeSet<&str>) -> ServerTools {
    let texts: Vec<String> = tools
        .iter()
        .map(|tool| {
            json!({"name": tool, "description": format!("{tool} of {name}"), "inputSchema": {}}).to_string()
        })
        .collect();
    ServerTools::parse(&server(name), texts.iter().map(String::as_str), &Limits::default())
}

/// One rule for tools of one name, or all.
struct On<R> {
    tool: Option<&'static str>,
    rule: R,
}

impl<R: Rule> Rule for On<R> {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        match self.tool.is_none_or(|name| tool.name.as_str() == name) {
            true => self.rule.apply(tool),
            false => Ok(Verdict::keep(tool)),
        }
    }
}

struct Fails;

impl Rule for Fails {
    fn name(&self) -> &str {
        "fails"
    }

    fn apply(&self, _tool: Tool) -> Result<Verdict, RuleError> {
        Err(RuleError("always".to_owned()))
    }
}

fn globs(pattern: &str) -> Globs {
    // As files do it: what cannot be read fits nothing.
    Globs::new(&[pattern.to_owned()]).unwrap_or_else(|_| Globs::new(&[String::new()]).unwrap())
}

fn rule(shaper: Shaper, said: &Said) -> Shaper {
    match *said {
        Said::Only(pattern) => shaper.with(Filter { include: globs(pattern), exclude: Globs::default() }),
        Said::Never(pattern) => shaper.with(Filter { include: Globs::default(), exclude: globs(pattern) }),
        Said::Name(tool, name) => shaper.with(On { tool: Some(tool), rule: Rename(name.to_owned()) }),
        Said::Form(form) => shaper.with(UseNameForm(form)),
        Said::Order(tool, order) => shaper.with(On { tool: Some(tool), rule: Order(order) }),
        Said::Describe(tool) => shaper.with(On { tool: Some(tool), rule: Describe("said".to_owned()) }),
        Said::Fail(tool) => shaper.with(On { tool: Some(tool), rule: Fails }),
    }
}

struct Permit(BTreeSet<(&'static str, &'static str)>);

impl Authorize for Permit {
    fn authorize(&self, _user: &UserId, tool: &Tool) -> Decision {
        match self
            .0
            .iter()
            .any(|(server, name)| (*server, *name) == (tool.server.as_str(), tool.name.as_str()))
        {
            true => Decision::Deny("no".to_owned()),
            false => Decision::Allow,
        }
    }
}

impl Plan {
    fn names(&self) -> CatalogNames {
        let reserved = self.reserved.iter().map(|name| ShownName::parse(name).unwrap()).collect();
        let names = CatalogNames::new(Default::default(), Default::default(), Default::default(), reserved);
        match self.local {
            Some(local) if self.told => names.local(server(local)),
            _ => names,
        }
    }

    fn parts(&self) -> Vec<ServerTools> {
        self.tools.iter().map(|(name, tools)| part(name, tools)).collect()
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(self.names()).with_all(self.parts()))
    }

    fn shapers(&self) -> BTreeMap<ServerName, Shaper> {
        let shaper = |said: &[Said]| said.iter().fold(Shaper::default(), rule);
        self.said.iter().map(|(name, said)| (server(name), shaper(said))).collect()
    }

    /// Nothing if the policy is to fail, and it did.
    fn view(&self, snapshot: &Arc<Snapshot>, before: Option<&View>) -> Option<View> {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let agent = AgentRules {
            name: None,
            servers: texts(&self.servers),
            allow: texts(&self.allow),
            deny: Vec::new(),
            approve: Vec::new(),
            clash: self.clash,
            names: None,
            longest: None,
            mode: None,
            closed: None,
        };
        let view = View::new(&ViewRequest {
            snapshot,
            shapers: &self.shapers(),
            rules: &Shaper::default(),
            agent: &agent,
            form: self.form,
            user: &UserId::local(),
            permissions: &PermittedBy(&UserId::local(), &Permit(self.denied.clone())),
            local: self.local.map(server).as_ref(),
            denied: None,
            visible: &|_| true,
            servers: &[],
            before,
            same_rules: &|_| true,
        });
        assert!(view.is_ok() || self.clash == Clash::Error);
        view.ok()
    }

    /// Whether a tool should be in the view, told by the plan alone.
    fn keeps(&self, server: &str, tool: &str) -> bool {
        let by = |pattern: &str, text: &str| globs(pattern).fit(text);
        let obeys = |said: &Said| match said {
            Said::Only(pattern) => by(pattern, tool),
            Said::Never(pattern) => !by(pattern, tool),
            Said::Name(of, name) => *of != tool || ShownName::parse(name).is_ok(),
            Said::Fail(of) => *of != tool,
            Said::Form(_) | Said::Order(..) | Said::Describe(_) => true,
        };
        // One that cannot be read spoils its list.
        let fits = |list: &[&str], text: &str| {
            list.is_empty() || !list.contains(&"[") && list.iter().any(|pattern| by(pattern, text))
        };
        let wanted = self.local == Some(server)
            || fits(&self.servers, server) && fits(&self.allow, &format!("{server}/{tool}"));
        self.said.get(server).is_none_or(|said| said.iter().all(obeys))
            && wanted
            && !self.denied.iter().any(|denied| *denied == (server, tool))
    }
}

fn folded(text: &str) -> String {
    text.replace('-', "_").to_ascii_lowercase()
}

/// Every text that names a tool.
fn texts(view: &View, shown: &ViewTool) -> [String; 5] {
    let tool = &shown.tool;
    let short = view.snapshot().names().table(NameForm::Short).name(&tool.server, &tool.name);
    [
        short.unwrap_or(&shown.name).to_string(),
        shown.name.to_string(),
        shown.full.to_string(),
        format!("{}/{}", tool.server, tool.name),
        tool.name.to_string(),
    ]
}

fn own(tool: &Tool) -> (String, String) {
    (tool.server.to_string(), tool.name.to_string())
}

/// What a model reads of a view, as bytes.
fn listing(view: &View) -> String {
    let rows: Vec<Value> = view
        .tools()
        .iter()
        .map(|shown| json!({"name": shown.name.as_str(), "description": shown.tool.description, "input": *shown.tool.input}))
        .collect();
    Value::from(rows).to_string()
}

fn check_listed(view: &View) -> Result<(), TestCaseError> {
    let mut names = BTreeSet::new();
    let all = view.tools().iter().chain(view.shadowed());
    for (index, shown) in all.enumerate() {
        let name = shown.name.as_str();
        prop_assert!(names.insert(name.to_owned()), "{} twice", name);
        prop_assert!(ShownName::parse(name).is_ok() && name.len() <= 64);
        prop_assert_eq!(view.find(name), NameMatch::One(index), "{}", name);
        prop_assert_eq!(view.find(shown.full.as_str()), NameMatch::One(index), "{}", shown.full);
        if index < view.tools().len() {
            prop_assert!(Arc::ptr_eq(&view.tools()[index], view.at(index).unwrap()));
        }
    }
    Ok(())
}

/// No text leads to a tool that was left out; at most to one that has a right to it.
fn check_left_out(plan: &Plan, view: &View) -> Result<(), TestCaseError> {
    let snapshot = view.snapshot();
    let visible: BTreeSet<(String, String)> =
        view.tools().iter().chain(view.shadowed()).map(|shown| own(&shown.tool)).collect();
    for (server, tool) in
        plan.tools.iter().flat_map(|(server, tools)| tools.iter().map(move |tool| (server, tool)))
    {
        let is_kept = plan.keeps(server, tool);
        prop_assert_eq!(
            visible.contains(&((*server).to_owned(), (*tool).to_owned())),
            is_kept,
            "{}/{}",
            server,
            tool
        );
        if is_kept {
            continue;
        }
        let base = snapshot.tool(&ServerName::parse(server).unwrap(), tool).unwrap();
        let mut words = vec![format!("{server}/{tool}"), (*tool).to_owned()];
        for form in NameForm::ALL {
            words
                .extend(snapshot.names().table(form).name(&base.server, &base.name).map(ToString::to_string));
        }
        words.extend(WISHES.map(str::to_owned));
        let loose: Vec<String> =
            words.iter().flat_map(|word| [word.to_ascii_uppercase(), word.replace('_', "-")]).collect();
        for word in words.iter().chain(&loose) {
            if let NameMatch::One(index) = view.find(word) {
                let names = texts(view, view.at(index).unwrap());
                prop_assert!(
                    names.iter().any(|name| folded(name) == folded(word)),
                    "{} leads to {:?}",
                    word,
                    names
                );
            }
        }
    }
    let left: BTreeSet<_> =
        view.left_out().iter().map(|left| (left.server.to_string(), left.tool.clone())).collect();
    prop_assert!(left.is_disjoint(&visible));
    prop_assert_eq!(left.len() + visible.len(), snapshot.tools().count());
    Ok(())
}

fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut rng = super::generate::Rng::new(seed);
    for end in (1..items.len()).rev() {
        items.swap(end, rng.below(end + 1));
    }
    items
}

proptest! {
    #![proptest_config(config(VIEWS))]

    #[test]
    fn s2_11_s1_19_what_is_listed_is_callable_and_nothing_else(plan in plan()) {
        let Some(view) = plan.view(&plan.snapshot(), None) else { return Ok(()) };
        check_listed(&view)?;
        check_left_out(&plan, &view)?;
    }

    #[test]
    fn a_view_made_from_an_earlier_one_is_the_same(plan in plan(), other in tools(), seed in any::<u64>()) {
        let first = plan.snapshot();
        let Some(before) = plan.view(&first, None) else { return Ok(()) };
        let parts = other.iter().map(|(name, tools)| part(name, tools)).collect();
        let mut next = Snapshot::clone(&first);
        for (index, part) in shuffled(parts, seed).into_iter().enumerate() {
            next = match (seed >> index) & 3 {
                0 => next.without(&part.server).unwrap_or(next),
                _ => next.with(part).unwrap_or(next),
            };
        }
        let next = Arc::new(next);
        let (Some(with), Some(without)) = (plan.view(&next, Some(&before)), plan.view(&next, None)) else { return Ok(()) };
        check_listed(&with)?;
        let whole = |view: &View| {
            let all = view.tools().iter().chain(view.shadowed());
            let rows: Vec<String> =
                all.map(|shown| format!("{} {} {:?} {:?}", shown.name, shown.full, shown.tool, shown.trail)).collect();
            (rows, view.tools().len(), format!("{:?} {:?}", view.left_out(), view.faults()))
        };
        prop_assert_eq!(whole(&with), whole(&without));
        let known = |shown: &Arc<ViewTool>| before.tools().iter().find(|old| own(&old.tool) == own(&shown.tool)).cloned();
        for shown in with.tools() {
            if let Some(old) = known(shown).filter(|old| old.name == shown.name && old.tool.raw == shown.tool.raw) {
                prop_assert!(Arc::ptr_eq(&old, shown), "{} was made anew", shown.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(ORDERS))]

    #[test]
    fn s2_11_equal_states_give_equal_bytes_in_any_order(plan in plan(), seeds in vec(any::<u64>(), 4)) {
        let held = plan.snapshot();
        let Some(expected) = plan.view(&held, None).map(|view| listing(&view)) else { return Ok(()) };
        for seed in seeds {
            // All at once, from nothing.
            let at_once = Snapshot::new(plan.names()).with_all(shuffled(plan.parts(), seed));
            prop_assert_eq!(at_once.names(), held.names());
            // One by one, from the names that were kept.
            let one_by_one = shuffled(plan.parts(), seed)
                .into_iter()
                .fold(Snapshot::new(held.names().clone()), |snapshot, part| snapshot.with(part).unwrap());
            for snapshot in [at_once, one_by_one] {
                let view = plan.view(&Arc::new(snapshot), None).unwrap();
                prop_assert_eq!(&listing(&view), &expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(FLAPS))]

    #[test]
    fn a_server_that_comes_and_goes_changes_no_byte(plan in plan(), which in any::<prop::sample::Index>(), turns in vec(0..3, 100)) {
        prop_assume!(!plan.tools.is_empty());
        let first = plan.snapshot();
        let parts = plan.parts();
        let part = &parts[which.index(parts.len())];
        let Some(mut view) = plan.view(&first, None) else { return Ok(()) };
        let expected = listing(&view);
        let others = |view: &View| -> Vec<String> {
            let others = view.tools().iter().filter(|shown| shown.tool.server != part.server);
            others.map(|shown| format!("{} {} {}", shown.name, shown.tool.description, shown.tool.input)).collect()
        };
        let mut now = Snapshot::clone(&first);
        for turn in turns {
            let gone = match turn {
                0 => now.with_away(&part.server, Some(Unreachable::because("gone"))).unwrap(),
                1 => {
                    prop_assert!(now.with(part.clone()).is_none(), "nothing new");
                    now.clone()
                }
                _ => now.without(&part.server).unwrap(),
            };
            let gone = Arc::new(gone);
            if let Some(meanwhile) = plan.view(&gone, Some(&view)) {
                check_listed(&meanwhile)?;
                if turn != 2 {
                    prop_assert_eq!(&listing(&meanwhile), &expected, "last known good stays listed");
                }
                // A local tool or a wish may have its name again meanwhile; nobody else is renamed.
                if plan.local.is_none() && plan.said.is_empty() {
                    prop_assert_eq!(others(&meanwhile), others(&view));
                }
            }
            now = gone.with(part.clone()).unwrap_or_else(|| Snapshot::clone(&gone));
            now = now.with_away(&part.server, None).unwrap_or(now);
            let back = plan.view(&Arc::new(now.clone()), Some(&view)).unwrap();
            prop_assert_eq!(&listing(&back), &expected);
            view = back;
        }
    }
}

/// An argument: its schema and some values that fit it.
fn argument() -> impl Strategy<Value = (Value, Vec<Value>)> {
    select(vec![
        (json!({"type": "string", "minLength": 2}), vec![json!("ab"), json!("äöü")]),
        (json!({"type": "integer", "minimum": 3, "default": 4}), vec![json!(3), json!(12)]),
        (json!({"type": "boolean"}), vec![json!(true), json!(false)]),
        (json!({"enum": ["x", "y", 7]}), vec![json!("x"), json!(7)]),
        (
            json!({"type": "array", "items": {"type": "number"}, "maxItems": 2}),
            vec![json!([]), json!([1, 2.5])],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            vec![json!({"a": "b"})],
        ),
        (json!({"$ref": "#/$defs/thing"}), vec![json!({"n": 1})]),
        // Refers to whatever the first argument is; its values are those that fit anything.
        (json!({"$ref": "#/properties/a0"}), vec![]),
        (json!(true), vec![json!(null), json!({"any": ["thing"]})]),
        (json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), vec![json!(null), json!("")]),
    ])
}

#[derive(Clone, Debug)]
struct Shape {
    schema: Value,
    values: Vec<(String, Vec<Value>)>,
}

/// Schemas of tools with arguments `a0` to `a4`.
fn shape() -> impl Strategy<Value = Shape> {
    let more = select(vec![
        json!({}),
        json!({}),
        json!({}),
        json!({"additionalProperties": false}),
        json!({"additionalProperties": {"type": "string"}}),
        json!({"unevaluatedProperties": false}),
        json!({"allOf": [{"required": ["a1"]}]}),
        json!({"oneOf": [{"required": ["a1"]}, {"required": ["a2"]}]}),
        json!({"dependentRequired": {"a1": ["a2"]}}),
        json!({"not": {"required": ["a0", "a3"]}}),
        json!({"if": {"required": ["a2"]}, "then": {"required": ["a3"]}}),
        json!({"allOf": [{"$ref": "#/$defs/needs"}]}),
        json!({"minProperties": 1}),
        json!({"maxProperties": 2}),
        json!({"propertyNames": {"maxLength": 2}}),
        json!({"patternProperties": {"^a1": {"type": "string"}}}),
    ]);
    (vec(argument(), 1..6), any::<u8>(), more).prop_map(|(arguments, required, more)| {
        let mut schema = json!({"type": "object", "properties": {}, "$defs": {
            "thing": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "needs": {"required": ["a2"]}}});
        let first = match arguments[0].0.get("$ref").and_then(Value::as_str) {
            Some("#/properties/a0") => (json!({"type": "string"}), vec![json!("text")]),
            _ => arguments[0].clone(),
        };
        let mut values = Vec::new();
        let mut needed = Vec::new();
        for (index, (argument, fitting)) in arguments.into_iter().enumerate() {
            let name = format!("a{index}");
            let (argument, fitting) = match (index, fitting.is_empty()) {
                (0, _) => first.clone(),
                (_, true) => (argument, first.1.clone()),
                _ => (argument, fitting),
            };
            schema["properties"][&name] = argument;
            if required >> index & 1 == 1 {
                needed.push(name.clone());
            }
            values.push((name, fitting));
        }
        schema["required"] = needed.into();
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Shape { schema, values }
    })
}

/// What is done to an argument, by number: which, what, and the number of a value.
fn change(shape: &Shape, (argument, what, value): (usize, usize, usize)) -> (String, ArgumentChange) {
    let (name, values) = &shape.values[argument % shape.values.len()];
    let value = values[value % values.len()].clone();
    // An operator's value is one that the server takes; no more is promised.
    let takes: Map<String, Value> = ["properties", "patternProperties", "$defs"]
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), shape.schema.get(*key)?.clone())))
        .collect();
    let alone =
        Schema::compile(&takes.into(), &Limits::default()).unwrap().check(&json!({name.as_str(): value}));
    let change = match what % 7 {
        3 | 4 if !alone.is_empty() => ArgumentChange::Hide,
        0 | 1 => ArgumentChange::Rename(format!("r{}", what / 7)),
        2 => ArgumentChange::Rename(format!("a{}", what / 7 % 6)),
        3 => ArgumentChange::Pin(value),
        4 => ArgumentChange::Default(value),
        5 => ArgumentChange::Hide,
        _ => ArgumentChange::Describe("words".to_owned()),
    };
    (name.clone(), change)
}

/// Arguments that may fit a schema: its example, with this or that added, left out or put wrong.
fn tries(shown: &Value, shape: &Shape, seed: u64) -> Vec<Map<String, Value>> {
    let mut rng = super::generate::Rng::new(seed);
    let names: Vec<String> = shown["properties"].as_object().unwrap().keys().cloned().collect();
    let pool: Vec<Value> = shape.values.iter().flat_map(|(_, values)| values.clone()).collect();
    let mut all = Vec::new();
    for _ in 0..12 {
        let mut arguments = example(shown).and_then(|made| made.as_object().cloned()).unwrap_or_default();
        for name in &names {
            match rng.below(3) {
                0 => drop(arguments.insert(name.clone(), pool[rng.below(pool.len())].clone())),
                1 if rng.below(3) == 0 => drop(arguments.shift_remove(name)),
                _ => {}
            }
        }
        if rng.below(6) == 0 {
            arguments.insert("more".to_owned(), json!("text"));
        }
        all.push(arguments);
    }
    all
}

fn shaped(shape: &Shape, changes: Vec<(String, ArgumentChange)>) -> Option<Tool> {
    let definition = json!({"name": "t", "inputSchema": shape.schema});
    let tool = Tool::parse(&server("s"), definition, &Limits::default()).unwrap();
    Shaper::default().with(ArgumentChanges(changes)).shape(tool).tool
}

proptest! {
    #![proptest_config(config(ARGUMENTS))]

    #[test]
    fn s3_6_what_a_model_may_say_the_server_takes(
        shape in shape(),
        changes in vec((0_usize..5, 0_usize..42, any::<usize>()), 1..5),
        seed in any::<u64>(),
    ) {
        let limits = Limits::default();
        let changes: Vec<_> = changes.into_iter().map(|numbers| change(&shape, numbers)).collect();
        let Some(tool) = shaped(&shape, changes.clone()) else { return Ok(()) };
        let Ok(own) = Schema::compile(tool.own_input().unwrap(), &limits) else { return Ok(()) };
        let shown = Schema::compile(&tool.input, &limits);
        let shown = shown.map_err(|why| TestCaseError::fail(format!("{why}: {changes:?} {}", tool.input)))?;
        for given in tries(&tool.input, &shape, seed) {
            if !shown.check(&Value::Object(given.clone())).is_empty() {
                continue;
            }
            let mut sent = given.clone();
            restore(&tool.undo, &mut sent);
            prop_assert_eq!(
                own.check(&Value::Object(sent.clone())), [],
                "{:?}\nshown {}\ngave {:?}, sent {:?}", changes, tool.input, given, sent
            );
        }
    }

    /// Names only: every byte comes back.
    #[test]
    fn s3_6_renamed_arguments_come_back_byte_by_byte(shape in shape(), seed in any::<u64>()) {
        let names: Vec<&String> = shape.values.iter().map(|(name, _)| name).collect();
        let changes = names.iter().map(|name| ((*name).clone(), ArgumentChange::Rename(format!("{name}_renamed")))).collect();
        let Some(tool) = shaped(&shape, changes) else { return Ok(()) };
        for given in tries(&shape.schema, &shape, seed) {
            let mut sent: Map<String, Value> = given
                .iter()
                .map(|(key, value)| {
                    let renamed = if names.contains(&key) { format!("{key}_renamed") } else { key.clone() };
                    (renamed, value.clone())
                })
                .collect();
            restore(&tool.undo, &mut sent);
            prop_assert_eq!(Value::Object(sent).to_string(), Value::Object(given).to_string());
        }
    }
}

/// Text with something in it that nobody sees.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => select(vec!["read", " ", "\n", "\t", "ä", "漢", "\"", "type", "object", "string"]).prop_map(str::to_owned),
        3 => select(vec![
            "\u{200b}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{e0041}", "\u{ad}", "\u{1b}[2J", "\u{0}", "\r",
            "\u{85}", "\u{7f}", "\u{fe0f}", "\u{2028}", "\u{e000}", "\u{fffe}", "\u{3164}",
        ])
        .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// A text that is mostly harmless: not every definition should be refused.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => Just("plain".to_owned()), 1 => hostile()]
}

fn hostile_schema() -> impl Strategy<Value = Value> {
    let leaf = (hostile(), text(), text(), hostile()).prop_map(|(about, value, default, pattern)| {
        json!({"description": about, "enum": [value, "b"], "default": default, "pattern": pattern, "title": about})
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (vec((text(), inner), 0..3), hostile(), text(), hostile()).prop_map(
            |(properties, about, key, comment)| {
                let properties: Map<String, Value> = properties.into_iter().collect();
                let required: Vec<String> = properties.keys().cloned().collect();
                let mut schema = json!({"type": "object", "properties": properties, "required": required,
                "description": about, "$comment": comment, "examples": [{"plain": comment}]});
                schema[key] = json!([about]);
                schema
            },
        )
    })
}

fn hostile_definition() -> impl Strategy<Value = Value> {
    let texts = (hostile(), hostile(), hostile(), text());
    (texts, hostile_schema(), hostile_schema()).prop_map(|((about, title, hint, name), input, output)| {
        let mut input = input;
        input["type"] = json!("object");
        json!({"name": name, "title": title, "description": about, "inputSchema": input,
            "outputSchema": output, "annotations": {"title": hint}, "_meta": {"x": about}})
    })
}

fn check_text(text: &str, lines: bool) -> Result<(), TestCaseError> {
    let bad = |c: char| is_hidden(c) || c.is_control() && !(lines && matches!(c, '\n' | '\t'));
    prop_assert!(!text.chars().any(bad), "{:?}", text);
    Ok(())
}

fn check_value(value: &Value) -> Result<(), TestCaseError> {
    match value {
        Value::String(text) => check_text(text, true),
        Value::Array(items) => items.iter().try_for_each(check_value),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            check_text(key, false)?;
            check_value(value)
        }),
        _ => Ok(()),
    }
}

proptest! {
    #![proptest_config(config(HOSTILE))]

    #[test]
    fn t20_no_hidden_character_reaches_a_model(definitions in vec(hostile_definition(), 1..4)) {
        let texts: Vec<String> = definitions.iter().map(Value::to_string).collect();
        let part = ServerTools::parse(&server("s"), texts.iter().map(String::as_str), &Limits::default());
        prop_assert_eq!(part.tools.len() + part.rejected.len(), definitions.len());
        for rejected in &part.rejected {
            check_text(&rejected.why, false)?;
            check_text(rejected.tool.as_deref().unwrap_or_default(), false)?;
        }
        let plan = Plan {
            tools: Tools::new(),
            said: BTreeMap::new(),
            servers: vec![],
            allow: vec![],
            denied: BTreeSet::new(),
            clash: Clash::Prefix,
            form: NameForm::Full,
            local: None,
            told: false,
            reserved: BTreeSet::new(),
        };
        let snapshot = Arc::new(Snapshot::default().with_all([part]));
        let view = plan.view(&snapshot, None).unwrap();
        for shown in view.tools() {
            let tool = &shown.tool;
            check_text(shown.name.as_str(), false)?;
            check_text(tool.name.as_str(), false)?;
            check_text(tool.title.as_deref().unwrap_or_default(), false)?;
            check_text(&tool.description, true)?;
            check_value(&tool.input)?;
            tool.output.iter().try_for_each(|output| check_value(output))?;
            shown.examples().iter().try_for_each(check_value)?;
            view.notes_of(shown).iter().try_for_each(|note| check_text(&note.message, false))?;
        }
    }
}
