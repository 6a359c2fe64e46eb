//! Printing, the time, the environment and chance.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use kitbag::BoxFuture;

use super::{Row, UTILS};
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Value, pretty};

pub(super) const ROWS: &[Row] = &[
    Row {
        face: Face { inputs: &[Input::optional("msg")], ..Face::new("Print", UTILS, "Prints a value") },
        work: |call| {
            call.print(&call.get("msg")?.text());
            Ok(())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("msg")],
            ..Face::new("PrettyPrint", UTILS, "Prints a value over several lines")
        },
        work: |call| {
            call.print(&pretty(&call.get("msg")?, 4));
            Ok(())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("time_zone")],
            outputs: &["time_str"],
            ..Face::new("GetCurrentTime", UTILS, "The time now, of a time zone such as Asia/Tokyo")
        },
        work: |call| {
            let now = now(call, "time_zone")?;
            call.set("time_str", now.strftime("%Y-%m-%dT%H:%M:%S%.6f%:z").to_string())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("timezone")],
            outputs: &["year", "month", "day"],
            ..Face::new("GetCurrentDate", UTILS, "The date today, of a time zone such as Asia/Tokyo")
        },
        work: |call| {
            let now = now(call, "timezone")?;
            call.set("year", now.year().to_string())?;
            call.set("month", now.month().to_string())?;
            call.set("day", now.day().to_string())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::optional("in_timer"), Input::optional("timer_message")],
            outputs: &["out_timer", "elapsed_time"],
            ..Face::new("TimerComponent", UTILS, "The time since another one of these")
        },
        work: timer,
    },
    Row {
        face: Face {
            inputs: &[Input::required("greater_than"), Input::required("less_than")],
            outputs: &["value"],
            ..Face::new("GetRandomNumber", UTILS, "A whole number between two, both included")
        },
        work: random,
    },
    Row {
        face: Face {
            inputs: &[Input::required("var_name")],
            outputs: &["var_value"],
            ..Face::new("GetEnvVar", UTILS, "A variable of the environment")
        },
        work: |call| {
            let name = call.text("var_name")?;
            let value = call.host().env().get(&name).map(Value::from).unwrap_or_default();
            if value.is_none() {
                call.print(&format!("Warning: Environment variable '{name}' is not set."));
            }
            call.set("var_value", value)
        },
    },
];

/// Now, where a name says; in UTC without one, and by the clock of the machine where there is no such zone.
fn now(call: &Call, port: &str) -> Result<Zoned, Raised> {
    let name = call.text_or(port, "UTC")?;
    let zone = if name == "UTC" { Ok(TimeZone::UTC) } else { TimeZone::get(&name) };
    Ok(Timestamp::now().to_zoned(zone.unwrap_or_else(|_| TimeZone::system())))
}

fn timer(call: &Call) -> Result<(), Raised> {
    let now = Timestamp::now().as_microsecond() as f64 / 1e6;
    let before = call.get("in_timer")?;
    let elapsed = match before {
        Value::Float(before) if before != 0.0 => {
            let elapsed = Value::Float(now - before);
            let name = call.text_or("timer_message", "current timer component")?;
            call.print(&format!("The elapsed time for {name} is {} seconds.", elapsed.text()));
            elapsed
        }
        _ => {
            call.print("Starting new timer.");
            Value::Int(0)
        }
    };
    call.set("out_timer", now)?;
    call.set("elapsed_time", elapsed)
}

fn random(call: &Call) -> Result<(), Raised> {
    let (Value::Int(least), Value::Int(most)) = (call.get("greater_than")?, call.get("less_than")?) else {
        return Err(Raised::type_error("greater_than and less_than must be int"));
    };
    if most < least {
        return Err(Raised::value_error(format!("empty range for randrange() ({least}, {})", most + 1)));
    }
    call.set("value", Value::Int(fastrand::i128(least..=most)))
}

/// Waits.
pub(super) struct Sleep;

impl Component for Sleep {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::optional("sleep_timer")],
            ..Face::new("SleepComponent", UTILS, "Waits for so many seconds, 5 if nothing is said")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let given = call.get("sleep_timer")?;
            let given = if given.truth() { given } else { Value::Float(5.0) };
            let seconds = match &given {
                Value::Int(seconds) => *seconds as f64,
                Value::Float(seconds) => *seconds,
                other => {
                    let kind = other.type_name();
                    return Err(Raised::type_error(format!(
                        "'{kind}' object cannot be interpreted as an integer"
                    )));
                }
            };
            call.print(&format!("Sleeping for {} seconds.", given.text()));
            let most = call.host().bounds().flow_sleep;
            let time = Duration::try_from_secs_f64(seconds)
                .map_err(|_| Raised::value_error("sleep length must be non-negative"))?;
            if most < time {
                let text = format!("{} seconds is more than {most:?} (limit flow_sleep)", given.text());
                return Err(Raised::limit(text));
            }
            tokio::time::sleep(time).await;
            Ok(Next::Follow)
        })
    }
}
