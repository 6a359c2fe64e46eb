//! Tool lists without end.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Entry, Fault, N, Take};
use crate::list;
use crate::server::Server;
use crate::wire::Request;

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s20",
        modes: &[],
        about: "pages without end, a new cursor and a new tool on each",
        make: |_| Arc::new(Pages(Cursors::Endless)),
    },
    Entry {
        label: "s21",
        modes: &["same", "empty", "cycle"],
        about: "the same page for ever: the same cursor, an empty one, or three in turn",
        make: |modes| {
            Arc::new(Pages(match modes.0.first().copied() {
                Some("empty") => Cursors::Empty,
                Some("cycle") => Cursors::Cycle,
                _ => Cursors::Same,
            }))
        },
    },
    Entry {
        label: "s22",
        modes: &[N],
        about: "N tools (20000) in one list, each of a second N bytes (2000): `s22:20000,2000`",
        make: |modes| Arc::new(Many { tools: modes.number(20_000), bytes: modes.second_number(2000) }),
    },
];

enum Cursors {
    Endless,
    Same,
    Empty,
    Cycle,
}

struct Pages(Cursors);

impl Fault for Pages {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if request.method != "tools/list" {
            return Take::Leave;
        }
        let cursor = request.params.cursor.as_deref();
        let page = cursor.and_then(|cursor| cursor.strip_prefix("page-")).and_then(|page| page.parse().ok());
        let page: usize = page.unwrap_or(0);
        let next = match self.0 {
            Cursors::Endless => format!("page-{}", page + 1),
            Cursors::Same => "same".into(),
            Cursors::Empty => String::new(),
            Cursors::Cycle => format!("page-{}", page % 3 + 1),
        };
        let own = list::definition(&format!("page_{page}"), 400);
        let line = if matches!(self.0, Cursors::Endless) && 0 < page {
            list::page(request.id, request.speech, [Cow::Owned(own)].into_iter(), Some(&next))
        } else {
            list::page(request.id, request.speech, list::good(), Some(&next))
        };
        server.answer(&line);
        Take::Mine
    }
}

struct Many {
    tools: usize,
    bytes: usize,
}

impl Fault for Many {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if request.method != "tools/list" {
            return Take::Leave;
        }
        let made = |number| Cow::Owned(list::definition(&format!("many_{number:05}"), self.bytes));
        let tools = list::good().chain((1..).map(made)).take(self.tools);
        server.answer(&list::page(request.id, request.speech, tools, None));
        Take::Mine
    }
}
