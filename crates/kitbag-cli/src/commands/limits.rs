//! `kitbag limits`: every bound and clock, as it is in force.

use kitbag::model::Bound;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{lines, table};

pub(crate) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let rows = context.setup()?.limits.rows();
    if context.global.json {
        let row = |row: &kitbag::model::Row| match row.bound {
            Bound::Bytes(value) => json!({"name": row.name, "bytes": value, "what": row.what}),
            Bound::Items(value) => json!({"name": row.name, "items": value, "what": row.what}),
            Bound::Time(value) => {
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

fn shown(bound: Bound) -> String {
    match bound {
        Bound::Items(value) => value.to_string(),
        Bound::Time(value) => format!("{value:?}"),
        Bound::Bytes(value) if value % (1 << 20) == 0 => format!("{}MiB", value >> 20),
        Bound::Bytes(value) if value % (1 << 10) == 0 => format!("{}KiB", value >> 10),
        Bound::Bytes(value) => format!("{value}B"),
    }
}
