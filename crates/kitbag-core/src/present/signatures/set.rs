//! The parameters of an object schema as a tree: those that always hold, and for every `anyOf` or `oneOf` the
//! parameters of each branch.

use serde_json::{Map, Value};

use super::kind::{is_null, next_target};
use super::params::Param;

/// References, parts and branches in a row that are followed.
pub(super) const DEEPEST: usize = 8;
/// Parameters of one tool, those of all branches together.
const MOST: usize = 500;
/// Parts of a schema that are looked at, whatever they refer to.
const MOST_STEPS: usize = 2_000;
/// The schema of a parameter that is required and described nowhere.
const ANY: &Value = &Value::Bool(true);

/// The parameters of one object.
#[derive(Debug, Default)]
pub(crate) struct ParameterSet<'a> {
    /// Those that hold whichever branch is taken, in the order written.
    pub(crate) common: Vec<Param<'a>>,
    /// For each choice its branches: one of them must hold beside `common`.
    pub(crate) choices: Vec<Vec<ParameterSet<'a>>>,
    /// Whether something was left out because there is too much of it.
    pub(crate) cut: bool,
    /// Names that are required and not defined in the same part.
    needed: Vec<&'a str>,
}

impl<'a> ParameterSet<'a> {
    /// Those of `schema`, whose references are those of `root`.
    pub(crate) fn of(root: &'a Value, schema: &'a Value) -> Self {
        let mut search = Search { root, path: Vec::new(), params: MOST, steps: MOST_STEPS };
        let mut set = search.set(schema, DEEPEST);
        set.define_needed(&[]);
        set.hoist();
        set.cut = search.steps == 0 || search.params == 0;
        set
    }

    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.common.is_empty() && self.choices.is_empty()
    }

    /// All parameters by name, each once; required where every way to call the tool requires it.
    pub(crate) fn flat(&self) -> Vec<Param<'a>> {
        let mut all = self.common.clone();
        for branches in &self.choices {
            let flat: Vec<Vec<Param<'a>>> = branches.iter().map(ParameterSet::flat).collect();
            for param in flat.iter().flatten() {
                let is_same = |other: &&Param<'a>| other.name == param.name;
                let required =
                    flat.iter().all(|branch| branch.iter().find(is_same).is_some_and(|p| p.required));
                match all.iter_mut().find(|known| known.name == param.name) {
                    Some(known) => known.required |= required,
                    None => all.push(Param { required, ..*param }),
                }
            }
        }
        all
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.common.iter().position(|param| param.name == name)
    }

    /// A branch may require what stands beside the choice: it is told in the branch, as defined there.
    fn define_needed(&mut self, outer: &[Param<'a>]) {
        for name in std::mem::take(&mut self.needed) {
            match self.position(name) {
                Some(place) => self.common[place].required = true,
                None => {
                    let known = outer.iter().find(|param| param.name == name);
                    let schema = known.map_or(ANY, |param| param.schema);
                    self.common.push(Param { name, schema, required: true });
                }
            }
        }
        let outer: Vec<Param<'a>> = self.common.iter().chain(outer).copied().collect();
        self.choices.iter_mut().flatten().for_each(|branch| branch.define_needed(&outer));
    }

    /// What all branches of a choice say alike is said once, beside it; a choice of nothing is none.
    fn hoist(&mut self) {
        for branches in &mut self.choices {
            branches.iter_mut().for_each(ParameterSet::hoist);
            let Some((first, rest)) = branches.split_first() else { continue };
            let in_all =
                |param: &&Param<'a>| rest.iter().all(|branch| branch.common.iter().any(|p| p.is_like(param)));
            let shared: Vec<Param<'a>> = first.common.iter().filter(in_all).copied().collect();
            for branch in branches.iter_mut() {
                branch.common.retain(|param| !shared.iter().any(|other| other.name == param.name));
            }
            for param in shared {
                match self.common.iter_mut().find(|known| known.name == param.name) {
                    Some(known) => known.required |= param.required,
                    None => self.common.push(param),
                }
            }
        }
        self.choices.retain(|branches| !branches.iter().all(ParameterSet::is_empty));
    }
}

struct Search<'a> {
    root: &'a Value,
    /// The parts that led here, by their place in memory: one that leads back to itself says nothing new.
    path: Vec<*const Value>,
    params: usize,
    steps: usize,
}

impl<'a> Search<'a> {
    fn set(&mut self, schema: &'a Value, room: usize) -> ParameterSet<'a> {
        let mut set = ParameterSet::default();
        self.collect(schema, &mut set, room);
        set
    }

    /// Adds what a part says that certainly holds.
    fn collect(&mut self, schema: &'a Value, set: &mut ParameterSet<'a>, room: usize) {
        let Value::Object(object) = schema else { return };
        let here = std::ptr::from_ref(schema);
        let (Some(steps), false) = (self.steps.checked_sub(1), self.path.contains(&here)) else { return };
        self.steps = steps;
        self.own(object, set);
        let Some(room) = room.checked_sub(1) else { return };
        self.path.push(here);
        if let Some(target) = next_target(self.root, schema) {
            self.collect(target, set, room);
        }
        let listed = |keyword: &str| {
            object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
        };
        listed("allOf").iter().for_each(|part| self.collect(part, set, room));
        for choice in ["anyOf", "oneOf"] {
            let branches: Vec<&'a Value> = listed(choice).iter().filter(|branch| !is_null(branch)).collect();
            match branches.as_slice() {
                [] => {}
                [only] => self.collect(only, set, room),
                several => {
                    let branches = several.iter().map(|branch| self.set(branch, room)).collect();
                    set.choices.push(branches);
                }
            }
        }
        self.path.pop();
    }

    fn own(&mut self, object: &'a Map<String, Value>, set: &mut ParameterSet<'a>) {
        for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if set.position(name).is_none()
                && let Some(left) = self.params.checked_sub(1)
            {
                self.params = left;
                set.common.push(Param { name, schema, required: false });
            }
        }
        let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !set.needed.contains(&name) && set.needed.len() < MOST {
                set.needed.push(name);
            }
        }
    }
}
