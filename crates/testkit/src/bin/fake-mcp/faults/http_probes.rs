//! Questions after the era that come to nothing, though the server could answer them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Entry, Fault, Modes};
use crate::cut::How;
use crate::http::{Asked, HttpFault, Reply, Shape};
use crate::options::Form;
use crate::wire::{self, code};

pub(super) const FAULTS: &[Entry] = &[Entry {
    label: "h20",
    modes: &["rst", "fin", "half", "500", "503", "unwell", "error", "both"],
    about: "the first server/discover is reset (rst), closed without a byte (fin), answered in half, or refused with \
            a status; unwell: with 200 and an internal error; error: with an error of the protocol in it; both: the \
            first initialize, too",
    make: |modes| {
        let initialize = AtomicBool::new(modes.has("both"));
        Arc::new(Spoilt { way: way(modes), discover: AtomicBool::new(true), initialize })
    },
}];

enum Way {
    Shaped(Shape),
    Refused(Reply),
    Unwell,
}

fn way(modes: &Modes<'_>) -> Way {
    match () {
        () if modes.has("fin") => Way::Shaped(Shape::Lost(How::Close)),
        () if modes.has("unwell") => Way::Unwell,
        () if modes.has("half") => Way::Shaped(Shape::Torn(How::Close)),
        () if modes.has("500") || modes.has("503") => {
            let reply = Reply::new(if modes.has("500") { 500 } else { 503 });
            let error = wire::error("null", code::TRANSPORT, "Internal error: not ready", "");
            Way::Refused(if modes.has("error") { reply.json(error) } else { reply })
        }
        () => Way::Shaped(Shape::Lost(How::Reset)),
    }
}

struct Spoilt {
    way: Way,
    /// Whether one is still to be spoilt.
    discover: AtomicBool,
    initialize: AtomicBool,
}

impl Spoilt {
    fn is_due(&self, asked: &Asked<'_>) -> bool {
        match asked.method {
            "server/discover" => self.discover.swap(false, Ordering::Relaxed),
            "initialize" => self.initialize.swap(false, Ordering::Relaxed),
            _ => false,
        }
    }
}

impl Fault for Spoilt {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Spoilt {
    fn intercept(&self, asked: &Asked<'_>, _: Option<&str>) -> Option<Reply> {
        match &self.way {
            Way::Refused(reply) if self.is_due(asked) => Some(reply.clone()),
            Way::Unwell if self.is_due(asked) => {
                let id =
                    serde_json::from_slice::<serde_json::Value>(&asked.http.body).ok()?["id"].to_string();
                let error = wire::error(&id, code::INTERNAL, "Internal error: warming up", "");
                Some(Reply::new(200).json(error))
            }
            _ => None,
        }
    }

    fn shape(&self, asked: &Asked<'_>) -> Shape {
        match self.way {
            Way::Shaped(shape) if self.is_due(asked) => shape,
            _ => Shape::Good,
        }
    }

    fn form(&self) -> Option<Form> {
        Some(Form::Json)
    }
}
