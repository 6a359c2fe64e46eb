use serde_json::{Value, json};

use super::*;
use crate::model::Limits;
use crate::names::ServerName;

fn tool(definition: Value) -> Tool {
    Tool::parse(&ServerName::parse("s").unwrap(), definition, &Limits::default()).unwrap()
}

struct Panics;

impl Rule for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn apply(&self, _tool: Tool) -> Result<Verdict, RuleError> {
        panic!("on purpose")
    }
}

#[test]
fn s3_7_a_rule_that_panics_costs_its_tool() {
    let shaped = Shaper::default().with(Panics).shape(tool(json!({"name": "a"})));
    assert!(shaped.tool.is_none());
    assert_eq!(shaped.trail[0].outcome, Outcome::Failed("panicked: on purpose".to_owned()));
}
