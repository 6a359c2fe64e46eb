//! How long one server may take for each thing, and who says so: its own file, or the limits.

use std::fmt;
use std::time::Duration;

use super::{Limits, ServerSpec, Transport};
use crate::fault::{Fault, FaultKind};

/// One clock and what set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timeout {
    /// How long.
    pub time: Duration,
    /// The key that binds: `timeout` or `connect_timeout` of the server, or a row of the limits.
    pub set_by: &'static str,
}

impl Timeout {
    /// What a file or a caller wants, at most the ceiling.
    fn of(wanted: Option<(Duration, &'static str)>, ceiling: (Duration, &'static str)) -> Self {
        let (time, set_by) = wanted.filter(|(time, _)| *time <= ceiling.0).unwrap_or(ceiling);
        Self { time, set_by }
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Seconds(self.time), self.set_by)
    }
}

/// A time as people write it: `2s`, `1.5s`, `20ms`.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match millis {
            0..1000 => write!(f, "{millis}ms"),
            _ if millis.is_multiple_of(1000) => write!(f, "{}s", millis / 1000),
            _ => write!(f, "{}s", ((millis + 50) / 100) as f64 / 10.0),
        }
    }
}

/// How long one server may take. The limits are the ceiling of every clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timeouts {
    /// Until it is connected.
    pub connect: Timeout,
    /// Until its tools are listed.
    pub list: Timeout,
    /// Silence during a call.
    pub idle: Timeout,
    /// A whole call.
    pub total: Timeout,
}

impl Timeouts {
    /// What a server's own file says, within the limits.
    pub fn of(spec: &ServerSpec, limits: &Limits) -> Self {
        let connect = spec.waits.connect.map(|time| (time, "connect_timeout"));
        let (idle, total) = call_clocks(spec.waits.call.map(|time| (time, "timeout")), limits);
        Self {
            connect: Timeout::of(connect, connect_ceiling(spec, limits)),
            list: Timeout { time: limits.wait_list, set_by: "wait_list" },
            idle,
            total,
        }
    }

    /// The same for one call whose caller wants it to end sooner or later than the server's file says.
    #[must_use]
    pub fn for_call(mut self, timeout: Duration, limits: &Limits) -> Self {
        (self.idle, self.total) = call_clocks(Some((timeout, "timeout of the call")), limits);
        self
    }

    /// Times in a server's file that are longer than the limits let them be.
    pub fn faults(spec: &ServerSpec, limits: &Limits) -> Vec<Fault> {
        let connect = spec.waits.connect.map(|time| ("connect_timeout", time, connect_ceiling(spec, limits)));
        let call = spec.waits.call.map(|time| {
            let idle = (limits.wait_idle, "wait_idle");
            ("call_timeout", time, idle.min((limits.wait_total, "wait_total")))
        });
        let beyond = |(_, time, (most, _)): &(&str, Duration, (Duration, &str))| most < time;
        let fault = |(key, time, (most, row)): (&str, Duration, (Duration, &str))| {
            let message = format!("a timeout of {} is above the limit {row}", Seconds(time));
            let fault =
                Fault::warning(FaultKind::Timeout, format!("{message} of {}, which binds", Seconds(most)));
            let place = spec.places.get(key).unwrap_or(&spec.origin.place);
            let key = row.trim_start_matches("wait_");
            fault
                .hint(format!("raise it: [wait] {key} = \"{}\"", Seconds(time)))
                .of(&spec.name)
                .at(place.clone())
        };
        connect.into_iter().chain(call).filter(beyond).map(fault).collect()
    }
}

fn connect_ceiling(spec: &ServerSpec, limits: &Limits) -> (Duration, &'static str) {
    match spec.transport() {
        Transport::Stdio => (limits.wait_stdio, "wait_stdio"),
        _ => (limits.wait_http, "wait_http"),
    }
}

/// Most programs end a call by one timeout, whatever the server says meanwhile: so it binds both clocks.
fn call_clocks(wanted: Option<(Duration, &'static str)>, limits: &Limits) -> (Timeout, Timeout) {
    let idle = Timeout::of(wanted, (limits.wait_idle, "wait_idle"));
    (idle, Timeout::of(wanted, (limits.wait_total, "wait_total")))
}

#[cfg(test)]
mod tests;
