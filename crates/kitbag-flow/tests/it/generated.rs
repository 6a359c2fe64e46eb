//! Drawings nobody drew: nodes, branches and loops at random, with values that fit and some that do not. What they print is what
//! the real Xircuits prints.

use fastrand::Rng;
use kitbag_flow::{Drawing, DrawingBuilder, NodeId, Value};

use crate::real::equal;

const DRAWINGS: u64 = if option_env!("KITBAG_FULL_TESTS").is_some() { 200 } else { 30 };

#[tokio::test(flavor = "multi_thread")]
async fn random_drawings_print_what_the_real_ones_print() {
    let drawings: Vec<(String, Drawing)> =
        (0..DRAWINGS).map(|seed| (format!("random_{seed}"), random(seed))).collect();
    equal(&drawings).await;
}

/// What an output holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Int,
    Bool,
    List,
    Dict,
    Any,
}

struct Maker {
    rng: Rng,
    drawing: DrawingBuilder,
    /// The outputs there are at this point of the flow.
    known: Vec<(NodeId, &'static str, Kind)>,
    left: usize,
    variables: usize,
}

fn random(seed: u64) -> Drawing {
    let mut rng = Rng::with_seed(seed);
    let left = rng.usize(4..25);
    let mut maker = Maker { rng, drawing: Drawing::build("random"), known: Vec::new(), left, variables: 0 };
    maker.chain(None, 0);
    for (node, port, _) in maker.known.clone().into_iter().rev().take(3) {
        maker.drawing.output((node, port));
    }
    maker.drawing.finish().unwrap()
}

impl Maker {
    /// Nodes one after the other, the first of them at a branch.
    fn chain(&mut self, mut branch: Option<(NodeId, &'static str)>, depth: usize) {
        let length = self.rng.usize(1..7);
        for _ in 0..length {
            if self.left == 0 && branch.is_none() {
                return;
            }
            self.left = self.left.saturating_sub(1);
            match self.rng.usize(0..10) {
                0 if depth < 3 => self.branches(&mut branch, depth),
                1 if depth < 3 => self.each(&mut branch, depth),
                2 if depth < 3 => self.caught(&mut branch, depth),
                3 => self.variable(&mut branch),
                _ => self.one(&mut branch),
            }
        }
    }

    fn add(
        &mut self,
        branch: &mut Option<(NodeId, &'static str)>,
        name: &str,
        inputs: Vec<(&'static str, Given)>,
    ) -> NodeId {
        let literals: Vec<(&str, Value)> = inputs
            .iter()
            .filter_map(|(port, given)| match given {
                Given::Literal(value) => Some((*port, value.clone())),
                Given::Port(..) => None,
            })
            .collect();
        let node = match branch.take() {
            Some((from, way)) => self.drawing.branch(from, way, name, literals),
            None => self.drawing.then(name, literals),
        };
        for (port, given) in inputs {
            if let Given::Port(from, out) = given {
                self.drawing.connect((from, out), (node, port));
            }
        }
        node
    }

    /// A value of a kind, new or of a node before; now and then of another kind.
    fn given(&mut self, kind: Kind) -> Given {
        let kind = if self.rng.usize(0..25) == 0 { Kind::Any } else { kind };
        let fits: Vec<_> =
            self.known.iter().filter(|(_, _, own)| kind == Kind::Any || *own == kind).copied().collect();
        if !fits.is_empty() && self.rng.bool() {
            let (node, port, _) = fits[self.rng.usize(0..fits.len())];
            return Given::Port(node, port);
        }
        Given::Literal(self.value(kind, 0))
    }

    fn value(&mut self, kind: Kind, depth: usize) -> Value {
        match kind {
            Kind::Text => {
                const TEXTS: [&str; 10] =
                    ["", "a", "b", "it's", "ünï cödé", "a,b,c", "line\nline", "12", "\"x\"", "{\"a\": [1]}"];
                Value::from(TEXTS[self.rng.usize(0..TEXTS.len())])
            }
            Kind::Int => Value::from(self.rng.i64(-5..30)),
            Kind::Bool => Value::from(self.rng.bool()),
            Kind::List => {
                let count = if depth < 2 { self.rng.usize(0..5) } else { 0 };
                let kind = [Kind::Text, Kind::Int, Kind::Any][self.rng.usize(0..3)];
                Value::list((0..count).map(|_| self.value(kind, depth + 1)).collect::<Vec<_>>())
            }
            Kind::Dict => {
                let count = if depth < 2 { self.rng.usize(0..4) } else { 0 };
                let keys = ["a", "b", "key", "ü"];
                Value::dict(
                    (0..count)
                        .map(|place| (keys[place], self.value(Kind::Any, depth + 1)))
                        .collect::<Vec<_>>(),
                )
            }
            Kind::Any => match self.rng.usize(0..6) {
                0 => Value::from(self.rng.f64() * 10_f64.powi(self.rng.i32(-8..20))),
                1 => self.value(Kind::Text, depth),
                2 => self.value(Kind::Int, depth),
                3 => self.value(Kind::Bool, depth),
                4 => self.value(Kind::List, depth + 1),
                _ => self.value(Kind::Dict, depth + 1),
            },
        }
    }

    fn one(&mut self, branch: &mut Option<(NodeId, &'static str)>) {
        use Kind::{Any, Bool, Dict, Int, List, Text};
        type Row = (&'static str, &'static [(&'static str, Kind)], &'static [(&'static str, Kind)]);
        const ROWS: &[Row] = &[
            ("Print", &[("msg", Any)], &[]),
            ("Print", &[("msg", List)], &[]),
            ("PrettyPrint", &[("msg", Dict)], &[]),
            ("ConcatString", &[("a", Text), ("b", Text)], &[("out", Text)]),
            ("ConcatStrings", &[("separator", Text), ("parts", Any), ("parts", Any)], &[("out", Text)]),
            ("SplitString", &[("string", Text), ("ch", Text)], &[("out", List)]),
            ("JoinArrayWithString", &[("array", List), ("sep", Text)], &[("out", Text)]),
            (
                "MakeList",
                &[("list_values", Any), ("list_values", Any), ("list_values", Text)],
                &[("output_list", List)],
            ),
            ("MakeTuple", &[("tuple_values", Any), ("tuple_values", Int)], &[("output_tuple", Any)]),
            (
                "MakeDict",
                &[("keys_list", Text), ("keys_list", Int), ("values_list", Any)],
                &[("output_dict", Dict)],
            ),
            ("ListAppend", &[("the_list", List), ("item", Any)], &[("out_list", List)]),
            ("ListGetItem", &[("the_list", List), ("index", Int)], &[("out_item", Any)]),
            ("ListSetItem", &[("the_list", List), ("index", Int), ("item", Any)], &[("out_list", List)]),
            ("DictGetItem", &[("the_dict", Dict), ("key", Text)], &[("out_item", Any)]),
            ("DictSetItem", &[("the_dict", Dict), ("key", Text), ("item", Any)], &[("out_dict", Dict)]),
            ("SetDictValue", &[("obj", Dict), ("name", Text), ("value", Any)], &[("out_dict", Dict)]),
            ("ToJson", &[("obj", Any)], &[("json_str", Text)]),
            ("ToString", &[("obj", Any)], &[("string", Text)]),
            ("DeepCopy", &[("data", List)], &[("copied_data", List)]),
            ("IsNone", &[("a", Any)], &[("out", Bool)]),
            ("StringGetLength", &[("string", Text)], &[("length", Int)]),
            ("StringWordCharacterCount", &[("text", Text)], &[("word_count", Int), ("character_count", Int)]),
            ("StringLimitToLength", &[("string", Text), ("max_length", Int)], &[("out_string", Text)]),
            ("StringStartsWith", &[("string", Text), ("prefix", Text)], &[("starts_with", Bool)]),
            ("CounterComponent", &[("start_number", Int), ("step", Int)], &[("out_number", Int)]),
        ];
        let (name, inputs, outputs) = ROWS[self.rng.usize(0..ROWS.len())];
        let inputs = inputs.iter().map(|(port, kind)| (*port, self.given(*kind))).collect();
        let node = self.add(branch, name, inputs);
        self.known.extend(outputs.iter().map(|(port, kind)| (node, *port, *kind)));
        if let Some((port, _)) = outputs.first()
            && self.rng.bool()
        {
            self.add(&mut None, "Print", vec![("msg", Given::Port(node, port))]);
        }
    }

    /// Runs what belongs to a node, and goes on behind it. What was made inside may not have run.
    fn inside(&mut self, node: NodeId, ways: &[&'static str], depth: usize) {
        for way in ways {
            let known = self.known.clone();
            self.chain(Some((node, way)), depth + 1);
            self.known = known;
        }
        self.drawing.after(node);
    }

    fn branches(&mut self, branch: &mut Option<(NodeId, &'static str)>, depth: usize) {
        let condition = self.given(Kind::Bool);
        let node = self.add(branch, "BranchComponent", vec![("condition", condition)]);
        let ways: &[&str] = if self.rng.bool() { &["when_true", "when_false"] } else { &["when_true"] };
        self.inside(node, ways, depth);
    }

    fn each(&mut self, branch: &mut Option<(NodeId, &'static str)>, depth: usize) {
        // A list of its own: one that grows in the loop would have no end.
        let items = self.value(Kind::List, 0);
        let node = self.add(branch, "ForEach", vec![("items", Given::Literal(items))]);
        let known = self.known.clone();
        self.known.extend([(node, "current_item", Kind::Any), (node, "current_index", Kind::Int)]);
        self.inside(node, &["body"], depth);
        self.known = known;
    }

    fn caught(&mut self, branch: &mut Option<(NodeId, &'static str)>, depth: usize) {
        let node = self.add(branch, "ExceptionHandler", Vec::new());
        self.inside(node, &["body", "handler"], depth);
        self.known.push((node, "exception", Kind::Any));
    }

    fn variable(&mut self, branch: &mut Option<(NodeId, &'static str)>) {
        let fresh = self.variables == 0 || self.rng.bool();
        let name = format!("v{}", if fresh { self.variables } else { self.rng.usize(0..self.variables) });
        self.variables += usize::from(fresh);
        let value = self.given(Kind::Any);
        let (node, port) = match self.rng.usize(0..3) {
            0 => {
                let name = Given::Literal(Value::from(name));
                self.add(branch, "SetVariableComponent", vec![("name", name), ("value", value)]);
                return;
            }
            1 if !fresh => {
                let name = Given::Literal(Value::from(name));
                (self.add(branch, "GetVariableComponent", vec![("name", name)]), "value")
            }
            _ => {
                let name = Given::Literal(Value::from(name));
                let node =
                    self.add(branch, "DefineVariableComponent", vec![("name", name), ("value", value)]);
                (node, "ref")
            }
        };
        self.add(&mut None, "Print", vec![("msg", Given::Port(node, port))]);
    }
}

/// What an input is given.
enum Given {
    Literal(Value),
    Port(NodeId, &'static str),
}

#[test]
fn equal_seeds_make_equal_drawings() {
    assert_eq!(random(7).text(), random(7).text());
    assert_ne!(random(7).text(), random(8).text());
}
