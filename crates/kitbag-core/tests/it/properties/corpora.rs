//! The definitions of real servers: every one is taken over, named, shown with an example and given back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kitbag_core::catalog::{ServerTools, Snapshot, Tool};
use kitbag_core::model::AgentRules;
use kitbag_core::names::NameForm;
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::schema::{Schema, example};
use kitbag_core::shape::{
    AllowAll, ArgumentChange, ArgumentChanges, PermittedBy, Rename, Shaper, View, ViewRequest, restore,
};
use kitbag_core::{Limits, ServerName, UserId};
use serde_json::{Map, Value};

/// Servers and their definitions, as text.
fn servers() -> Vec<(String, Vec<String>)> {
    let all = testkit::corpus::all();
    let mut all: Vec<_> = all.into_iter().map(|one| (one.server.clone(), one.texts())).collect();
    all.sort();
    all
}

fn parts() -> Vec<ServerTools> {
    let limits = Limits::default();
    let part = |(name, texts): &(String, Vec<String>)| {
        ServerTools::parse(&ServerName::parse(name).unwrap(), texts.iter().map(String::as_str), &limits)
    };
    servers().iter().map(part).collect()
}

pub(crate) fn view(snapshot: &Arc<Snapshot>, shapers: &BTreeMap<ServerName, Shaper>, form: NameForm) -> View {
    View::new(&ViewRequest {
        snapshot,
        shapers,
        rules: &Shaper::default(),
        agent: &AgentRules::default(),
        form,
        user: &UserId::local(),
        permissions: &PermittedBy(&UserId::local(), &AllowAll),
        local: None,
        denied: None,
        visible: &|_| true,
        servers: &[],
        before: None,
        same_rules: &|_| true,
    })
    .unwrap()
}

#[test]
fn s4_12_t24_real_definitions_are_taken_over_and_named() {
    let parts = parts();
    let count: usize = servers().iter().map(|(_, texts)| texts.len()).sum();
    assert_eq!(count, 527 + 305);
    let rejected: Vec<_> = parts
        .iter()
        .flat_map(|part| part.rejected.iter().map(move |reason| (&part.server, reason)))
        .collect();
    assert!(rejected.is_empty(), "{rejected:#?}");
    let snapshot = Arc::new(Snapshot::default().with_all(parts));
    for form in NameForm::ALL {
        let view = view(&snapshot, &BTreeMap::new(), form);
        assert_eq!((view.tools().len(), view.left_out().len(), view.faults().len()), (count, 0, 0));
        let names: BTreeSet<&str> = view.tools().iter().map(|shown| shown.name.as_str()).collect();
        assert_eq!(names.len(), count);
        for (index, shown) in view.tools().iter().enumerate() {
            assert!(shown.name.as_str().len() <= 64);
            assert_eq!(view.find(shown.name.as_str()), NameMatch::One(index));
            assert_eq!(
                view.find(&format!("{}/{}", shown.tool.server, shown.tool.name)),
                NameMatch::One(index)
            );
        }
    }
}

#[test]
fn s3_6_examples_of_real_definitions_are_valid() {
    let limits = Limits::default();
    let snapshot = Arc::new(Snapshot::default().with_all(parts()));
    let view = view(&snapshot, &BTreeMap::new(), NameForm::Full);
    for shown in view.tools() {
        let examples = shown.examples();
        assert_eq!(examples.len(), 1, "{}", shown.name);
        assert_eq!(shown.input(&limits).as_ref().unwrap().check(&examples[0]), [], "{}", shown.name);
        assert_eq!(shown.own_input(&limits).as_ref().unwrap().check(&examples[0]), [], "{}", shown.name);
    }
}

/// Arguments with as much in them as can be made: all that are described, or those that are required.
fn arguments(tool: &Tool) -> Map<String, Value> {
    let mut all = Value::clone(&tool.input);
    let names: Vec<Value> = properties(tool).into_iter().map(Value::from).collect();
    all["required"] = names.into();
    let made = example(&all).or_else(|| example(&tool.input)).unwrap();
    made.as_object().unwrap().clone()
}

fn properties(tool: &Tool) -> Vec<String> {
    tool.input["properties"].as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

#[test]
fn s3_6_real_definitions_survive_new_names_and_come_back() {
    let limits = Limits::default();
    let (mut filled, mut changed) = (0, 0);
    for tool in parts().iter().flat_map(|part| &part.tools) {
        let names = properties(tool);
        let changes = names
            .iter()
            .map(|name| (name.clone(), ArgumentChange::Rename(format!("{name}_renamed"))))
            .collect();
        let rules = Shaper::default().with(Rename("renamed".to_owned())).with(ArgumentChanges(changes));
        let shaped = rules.shape(Tool::clone(tool));
        let after = shaped.tool.unwrap_or_else(|| panic!("{}: {:?}", tool.name, shaped.trail));
        assert_eq!((after.name_override.unwrap().as_str(), &after.name), ("renamed", &tool.name));
        let own = Schema::compile(tool.own_input().unwrap(), &limits).unwrap();
        let new = Schema::compile(&after.input, &limits).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
        let given = arguments(tool);
        assert_eq!(own.check(&Value::Object(given.clone())), [], "{}", tool.name);
        let shown: Map<String, Value> =
            given.iter().map(|(key, value)| (format!("{key}_renamed"), value.clone())).collect();
        assert_eq!(new.check(&Value::Object(shown.clone())), [], "{}: {}", tool.name, after.input);
        let mut back = shown;
        restore(&after.undo, &mut back);
        assert_eq!(
            Value::Object(back).to_string(),
            Value::Object(given.clone()).to_string(),
            "{}",
            tool.name
        );
        filled += usize::from(given.len() == names.len());
        changed += usize::from(!names.is_empty());
    }
    assert!(800 < filled && 700 < changed, "{filled} {changed}");
}
