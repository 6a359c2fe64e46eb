//! What is said of servers while Kitbag serves: a line when one is ready or fails, and no flood where one keeps changing.

use std::collections::BTreeMap;
use std::time::Duration;

use kitbag::{LinkState, ServerStatus};
use kitbag_core::text::visible;

use crate::terminal::{BAD, GOOD, ODD, plural, styled};

#[cfg(test)]
mod tests;

/// Between two lines about one server, at first; doubles with each, up to the most.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// More servers than this, and only what is wrong is told of each.
const MANY: usize = 20;

/// What was told of each server, so that nothing is told twice.
#[derive(Default)]
pub(super) struct News(BTreeMap<String, Told>);

/// The last line about one server.
struct Told {
    what: (LinkState, String),
    /// Nothing more is told of it before.
    quiet_until: Duration,
    pause: Duration,
}

impl News {
    /// The lines there are to print now, and when to look again though nothing changes. Times are since whenever serving began.
    pub(super) fn tell(&mut self, now: Duration, rows: &[ServerStatus]) -> (Vec<String>, Option<Duration>) {
        self.0.retain(|name, _| rows.iter().any(|row| row.name == *name));
        let (mut lines, mut again) = (Vec::new(), None);
        for row in rows {
            let Some((what, line)) = line(row) else { continue };
            let told = self.0.get(&row.name);
            if told.is_some_and(|told| told.what == what) {
                continue;
            }
            if let Some(told) = told.filter(|told| now < told.quiet_until) {
                again = [again, Some(told.quiet_until)].into_iter().flatten().min();
                continue;
            }
            // What was calm for long is news again.
            let before = told.filter(|told| now < told.quiet_until + LONGEST_PAUSE);
            let pause =
                before.map_or(Duration::ZERO, |told| (told.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE));
            let is_first_good = told.is_none() && what.0 == LinkState::Ready;
            self.0.insert(row.name.clone(), Told { what, quiet_until: now + pause, pause });
            if !(is_first_good && MANY < rows.len()) {
                lines.push(line);
            }
        }
        (lines, again)
    }
}

/// What is said of a server in its state, and by what two such lines are the same; nothing while it is on its way.
fn line(row: &ServerStatus) -> Option<((LinkState, String), String)> {
    let status = &row.status;
    let (style, more) = match status.state {
        LinkState::Ready => (GOOD, status.tools.map(|count| plural(count, "tool")).unwrap_or_default()),
        LinkState::Failed | LinkState::Degraded | LinkState::Reconnecting => {
            (if status.state == LinkState::Failed { BAD } else { ODD }, reason(row))
        }
        // A start that came to nothing and is tried again.
        LinkState::Starting if 0 < status.failures => (ODD, reason(row)),
        LinkState::Held => (ODD, "kitbag trust".to_owned()),
        _ => return None,
    };
    let class = status.reason().map(|reason| format!("{:?}{:?}", reason.class, reason.address));
    let what = (status.state, class.filter(|_| status.state != LinkState::Ready).unwrap_or_default());
    let state = styled(style, status.state.as_str());
    let colon = if more.is_empty() { "" } else { ": " };
    Some((what, format!("{} {state}{colon}{more}", visible(&row.name))))
}

fn reason(row: &ServerStatus) -> String {
    row.status.reason().map(|reason| visible(&reason.to_string())).unwrap_or_default()
}
