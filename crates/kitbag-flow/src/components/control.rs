//! What decides which nodes run: branches, loops, and what catches failures.

use std::sync::Arc;

use kitbag::BoxFuture;

use super::CONTROL;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Value, item, items};

pub(super) fn all() -> Vec<Arc<dyn Component>> {
    vec![
        Arc::new(Branch),
        Arc::new(Loop),
        Arc::new(Each { face: FOR_EACH, of: |items| Ok(items) }),
        Arc::new(Each { face: REVERSE, of: |items| item(&items, &Value::Int(-1)) }),
        Arc::new(Catch),
    ]
}

/// One of two ways.
struct Branch;

impl Component for Branch {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::optional("condition")],
            branches: &["when_true", "when_false"],
            ..Face::new("BranchComponent", CONTROL, "Runs one of two branches")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let way = if call.get("condition")?.truth() { "when_true" } else { "when_false" };
            call.branch(way).await?;
            Ok(Next::Follow)
        })
    }
}

/// Again and again while a condition holds.
struct Loop;

impl Component for Loop {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::optional("condition")],
            branches: &["body"],
            ..Face::new("LoopComponent", CONTROL, "Runs its body while a condition holds")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            if !call.get("condition")?.truth() {
                return Ok(Next::Follow);
            }
            body(call).await?;
            Ok(Next::Again)
        })
    }
}

async fn body(call: &Call) -> Result<(), Raised> {
    if call.branch("body").await? { Ok(()) } else { Err(Raised::no_attribute("NoneType", "do")) }
}

/// Once for each of several values.
struct Each {
    face: Face,
    of: fn(Value) -> Result<Value, Raised>,
}

const FOR_EACH: Face = Face {
    inputs: &[Input::required("items")],
    outputs: &["current_item", "current_index"],
    branches: &["body"],
    ..Face::new("ForEach", CONTROL, "Runs its body for each item")
};

/// As its library has it: it goes forward over the last item.
const REVERSE: Face = Face {
    inputs: &[Input::required("items")],
    outputs: &["current_item", "current_index"],
    branches: &["body"],
    ..Face::new(
        "ReverseForEach",
        CONTROL,
        "Runs its body for each part of the last item, as its library does",
    )
};

impl Component for Each {
    fn face(&self) -> &Face {
        &self.face
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let over = (self.of)(call.get("items")?)?;
            let fixed = match &over {
                Value::List(_) => Vec::new(),
                other => items(other)?,
            };
            for place in 0.. {
                // A list may grow while its items are gone through.
                let next = match &over {
                    Value::List(list) => list.get(place),
                    _ => fixed.get(place).cloned(),
                };
                let Some(value) = next else { break };
                call.set("current_item", value)?;
                call.set("current_index", place)?;
                body(call).await?;
                if let Value::Dict(dict) = &over
                    && dict.len() != fixed.len()
                {
                    return Err(Raised::new("RuntimeError", "dictionary changed size during iteration"));
                }
            }
            Ok(Next::Follow)
        })
    }
}

/// A branch whose failures are handled by another one.
struct Catch;

impl Component for Catch {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            outputs: &["exception"],
            branches: &["body", "handler"],
            ..Face::new("ExceptionHandler", CONTROL, "Runs its body, and its handler if that fails")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            match guarded(call, "body").await {
                Ok(()) => {}
                Err(raised) if !raised.can_be_handled() => return Err(raised),
                Err(raised) => {
                    call.set("exception", raised.to_string())?;
                    call.print(&raised.to_string());
                    guarded(call, "handler").await?;
                }
            }
            Ok(Next::Follow)
        })
    }
}

async fn guarded(call: &Call, branch: &str) -> Result<(), Raised> {
    if call.branch(branch).await? { Ok(()) } else { Err(Raised::no_attribute("NoneType", "comp")) }
}
