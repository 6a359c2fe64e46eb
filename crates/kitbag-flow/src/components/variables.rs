//! Variables, counters and comparisons.

use super::{CONTROL, Row};
use crate::component::{Call, Face, Input};
use crate::raised::Raised;
use crate::value::{Dialect, Value, add, compare, read};

pub(super) const ROWS: &[Row] = &[
    Row {
        face: Face {
            inputs: &[Input::optional("name"), Input::optional("value")],
            outputs: &["ref"],
            ..Face::new("DefineVariableComponent", CONTROL, "Makes a variable, and refers to it")
        },
        work: |call| {
            let name = store(call)?;
            call.refer("ref", &name)
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("name"), Input::optional("value")],
            ..Face::new("SetVariableComponent", CONTROL, "Sets a variable")
        },
        work: |call| store(call).map(|_| ()),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("name")],
            outputs: &["value"],
            ..Face::new("GetVariableComponent", CONTROL, "Refers to a variable")
        },
        work: |call| call.refer("value", &call.text("name")?),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("start_number"), Input::optional("step")],
            outputs: &["out_number"],
            ..Face::new("CounterComponent", CONTROL, "Counts how often the flow comes by")
        },
        work: |call| {
            let next = match call.state() {
                Value::None => call.get("start_number")?,
                before => plus(&before, &call.get("step")?)?,
            };
            call.remember(next.clone());
            call.set("out_number", next)
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("a"), Input::optional("b"), Input::optional("op")],
            outputs: &["out"],
            ..Face::new("ComparisonComponent", CONTROL, "Compares two numbers by == != < <= > >=")
        },
        work: |call| {
            let op = call.text("op")?;
            let (a, b) = (written(&call.get("a")?)?, written(&call.get("b")?)?);
            call.set("out", compare(&a, op.trim(), &b)?)
        },
    },
];

fn store(call: &Call) -> Result<String, Raised> {
    let name = call.text("name")?;
    call.context().set(&name, call.get("value")?);
    Ok(name)
}

/// `+=`, whose message differs from that of `+`.
fn plus(a: &Value, b: &Value) -> Result<Value, Raised> {
    if let Value::List(list) = a {
        // A list grows in place, by whatever can be gone through.
        crate::value::items(b)?.into_iter().for_each(|value| list.push(value));
        return Ok(a.clone());
    }
    add(a, b).map_err(|raised| match a {
        Value::Str(_) | Value::Tuple(_) => raised,
        _ => Raised::new(raised.kind(), raised.to_string().replace("for +:", "for +=:")),
    })
}

/// A value as it is compared: the text of it is read again as Python, so that `"3"` is the number.
fn written(value: &Value) -> Result<Value, Raised> {
    let text = value.text();
    read(&text, Dialect::Python).map_err(|_| {
        Raised::new("NameError", format!("{text:?} cannot be compared: only values of Python can, not names"))
    })
}
