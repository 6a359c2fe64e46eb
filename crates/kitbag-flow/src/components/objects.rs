//! Dictionaries, JSON, copies, and nothing at all.

use super::{Row, UTILS};
use crate::component::{Call, Face, Input};
use crate::raised::Raised;
use crate::value::{Dialect, Value, dumps, item, items, read, set_item};

pub(super) const ROWS: &[Row] = &[
    Row {
        face: Face {
            inputs: &[Input::list("keys_list"), Input::list("values_list")],
            outputs: &["output_dict"],
            ..Face::new("MakeDict", UTILS, "A dictionary of keys and values")
        },
        work: make_dict,
    },
    Row {
        face: Face {
            inputs: &[Input::optional("obj"), Input::required("name"), Input::required("value")],
            outputs: &["out_dict"],
            ..Face::new("SetDictValue", UTILS, "Sets a key of a dictionary, of a new one if it is empty")
        },
        work: |call| {
            let given = call.get("obj")?;
            let dict = if given.truth() { given } else { Value::dict([]) };
            set_item(&dict, &call.get("name")?, call.get("value")?)?;
            call.set("out_dict", dict)
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("obj"), Input::required("name")],
            outputs: &["value"],
            ..Face::new("GetDictValue", UTILS, "The value of a key")
        },
        work: |call| call.set("value", item(&call.get("obj")?, &call.get("name")?)?),
    },
    Row {
        face: Face {
            inputs: &[Input::required("the_dict"), Input::required("key")],
            outputs: &["out_item"],
            ..Face::new("DictGetItem", UTILS, "The value of a key")
        },
        work: |call| call.set("out_item", item(&call.get("the_dict")?, &call.get("key")?)?),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("the_dict"), Input::required("key"), Input::required("item")],
            outputs: &["out_dict"],
            ..Face::new("DictSetItem", UTILS, "Sets a key of a dictionary, in place")
        },
        work: |call| {
            let given = call.get("the_dict")?;
            let dict = if given.is_none() { Value::dict([]) } else { given };
            set_item(&dict, &call.get("key")?, call.get("item")?)?;
            call.set("out_dict", dict)
        },
    },
    Row {
        face: Face {
            inputs: &[Input::required("obj")],
            outputs: &["json_str"],
            ..Face::new("ToJson", UTILS, "A value as JSON")
        },
        work: |call| call.set("json_str", dumps(&call.get("obj")?)?),
    },
    Row {
        face: Face {
            inputs: &[Input::required("json_str")],
            outputs: &["obj"],
            ..Face::new("FromJson", UTILS, "The value that JSON stands for")
        },
        work: from_json,
    },
    Row {
        face: Face {
            inputs: &[Input::optional("data")],
            outputs: &["copied_data"],
            ..Face::new("DeepCopy", UTILS, "A copy that shares nothing")
        },
        work: |call| call.set("copied_data", call.get("data")?.deep_copy()),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("a")],
            outputs: &["out"],
            ..Face::new("IsNone", UTILS, "Whether there is no value")
        },
        work: |call| call.set("out", call.get("a")?.is_none()),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("a")],
            outputs: &["out"],
            ..Face::new("IsNotNone", UTILS, "Whether there is a value")
        },
        work: |call| call.set("out", !call.get("a")?.is_none()),
    },
];

fn make_dict(call: &Call) -> Result<(), Raised> {
    let values = items(&call.get("values_list")?)?;
    let dict = Value::dict([]);
    for (place, key) in items(&call.get("keys_list")?)?.into_iter().enumerate() {
        set_item(&dict, &key, values.get(place).cloned().unwrap_or_default())?;
    }
    call.set("output_dict", dict.clone())?;
    call.print(&format!("Constructed Dictionary: {}", dict.text()));
    Ok(())
}

fn from_json(call: &Call) -> Result<(), Raised> {
    let given = call.get("json_str")?;
    let Some(text) = given.as_str() else {
        let kind = given.type_name();
        let text = format!("the JSON object must be str, bytes or bytearray, not {kind}");
        return Err(Raised::type_error(text));
    };
    let value = read(text, Dialect::Json).map_err(|why| Raised::new("JSONDecodeError", why))?;
    call.set("obj", value)
}
