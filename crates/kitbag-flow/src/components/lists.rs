//! Lists and tuples.

use super::{Row, UTILS};
use crate::component::{Call, Face, Input};
use crate::raised::Raised;
use crate::value::{Value, item, set_item};

pub(super) const ROWS: &[Row] = &[
    Row {
        face: Face {
            inputs: &[Input::list("list_values")],
            outputs: &["output_list"],
            ..Face::new("MakeList", UTILS, "A list of its inputs")
        },
        work: |call| {
            let list = call.get("list_values")?;
            call.set("output_list", list.clone())?;
            call.print(&format!("Constructed List: {}", list.text()));
            Ok(())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::tuple("tuple_values")],
            outputs: &["output_tuple"],
            ..Face::new("MakeTuple", UTILS, "A tuple of its inputs")
        },
        work: |call| {
            let tuple = call.get("tuple_values")?;
            call.set("output_tuple", tuple.clone())?;
            call.print(&format!("Constructed Tuple: {}", tuple.text()));
            Ok(())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("the_list"), Input::required("item")],
            outputs: &["out_list"],
            ..Face::new("ListAppend", UTILS, "Appends to a list, in place")
        },
        work: append,
    },
    Row {
        face: Face {
            inputs: &[Input::required("the_list"), Input::required("index")],
            outputs: &["out_item"],
            ..Face::new("ListGetItem", UTILS, "An item of a list")
        },
        work: |call| call.set("out_item", item(&call.get("the_list")?, &call.get("index")?)?),
    },
    Row {
        face: Face {
            inputs: &[Input::required("the_list"), Input::required("index"), Input::required("item")],
            outputs: &["out_list"],
            ..Face::new("ListSetItem", UTILS, "Replaces an item of a list, in place")
        },
        work: |call| {
            let list = call.get("the_list")?;
            set_item(&list, &call.get("index")?, call.get("item")?)?;
            call.set("out_list", list)
        },
    },
];

fn append(call: &Call) -> Result<(), Raised> {
    let list = match call.get("the_list")? {
        Value::None => Value::list([]),
        other => other,
    };
    let Value::List(own) = &list else { return Err(Raised::no_attribute(list.type_name(), "append")) };
    own.push(call.get("item")?);
    call.set("out_list", list)
}
