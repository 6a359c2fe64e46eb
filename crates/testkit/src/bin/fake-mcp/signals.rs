//! TERM is noted in the events and then obeyed, or not.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::events::Events;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obedience {
    Dies,
    Stubborn,
}

/// Without events and with the usual obedience the system does it all, and no thread is needed.
pub(crate) fn watch(events: Arc<Events>, obedience: Obedience) {
    if !events.are_kept() && obedience == Obedience::Dies {
        return;
    }
    let Ok(mut signals) = Signals::new([SIGTERM]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            events.note(&["term"]);
            if obedience == Obedience::Dies {
                let _ = low_level::emulate_default_handler(signal);
            }
        }
    });
}

/// From here on the polite signals do nothing.
pub(crate) fn turn_deaf() {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let _ = flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// The signal whose handler means "I am ready": a parent can see handlers from outside.
pub(crate) const READY: i32 = SIGUSR1;

pub(crate) fn show_ready() {
    let _ = flag::register(READY, Arc::new(AtomicBool::new(false)));
}
