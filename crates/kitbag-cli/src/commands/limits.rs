//! `kitbag limits`: all limits and timeouts in force.

use kitbag_core::model::LimitValue;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{lines, table};

pub(crate) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let rows = context.setup()?.limits.rows();
    if context.global.json {
        let row = |row: &kitbag_core::model::LimitRow| match row.bound {
            LimitValue::Bytes(value) => json!({"name": row.name, "bytes": value, "what": row.what}),
            LimitValue::Items(value) => json!({"name": row.name, "items": value, "what": row.what}),
            LimitValue::Time(value) => {
                json!({"name": row.name, "time_ms": value.as_millis() as u64, "what": row.what})
            }
        };
        context.print_json(&Value::Array(rows.iter().map(row).collect()));
        return Ok(Exit::Done);
    }
    let mut table = table();
    for row in rows {
        table.add_row([row.name.to_owned(), shown(row.bound), row.what.to_owned()]);
    }
    let text = lines(&table);
    context.print(text);
    Ok(Exit::Done)
}

fn shown(bound: LimitValue) -> String {
    match bound {
        LimitValue::Items(value) => value.to_string(),
        LimitValue::Time(value) => format!("{value:?}"),
        LimitValue::Bytes(value) if value % (1 << 20) == 0 => format!("{}MiB", value >> 20),
        LimitValue::Bytes(value) if value % (1 << 10) == 0 => format!("{}KiB", value >> 10),
        LimitValue::Bytes(value) => format!("{value}B"),
    }
}
