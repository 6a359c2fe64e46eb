//! SIGINT, SIGTERM and SIGHUP end this process within a bound, whatever it is doing. The runtime has one thread, and that
//! may be stuck in a computation or a write nobody reads, so a thread of its own listens and, when the orderly way takes
//! too long, ends the process as it is. The guards end the servers then.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

use crate::exit::Exit;

/// How long the orderly way may take, in milliseconds.
static MOST: LazyLock<AtomicU64> =
    LazyLock::new(|| AtomicU64::new(millis(kitbag::Limits::default().wait_signal)));

/// Takes the bound over from the configuration.
pub(crate) fn within(most: Duration) {
    MOST.store(millis(most), Ordering::Relaxed);
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Listens for signals. Once dropped, a signal ends the process at once.
pub(crate) struct Interrupts(Arc<Heard>);

#[derive(Default)]
struct Heard {
    told: Notify,
    /// Nobody goes the orderly way any more.
    over: AtomicBool,
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        let heard = Arc::new(Heard::default());
        let (mut signals, listener) = (Signals::new([SIGINT, SIGTERM, SIGHUP])?, heard.clone());
        let listen = move || {
            let mut signals = signals.forever();
            let mut signal = signals.next();
            // An interrupt while a model answers is about that answer, each time: a person asked for it.
            while signal == Some(SIGINT) && cancel(&RUN) {
                signal = signals.next();
            }
            // One while a question is open is about the question, once: a server may ask for ever.
            if signal == Some(SIGINT) && cancel(&OPEN) {
                signals.next();
            }
            if !listener.over.load(Ordering::Relaxed) {
                listener.told.notify_one();
                let most = Duration::from_millis(MOST.load(Ordering::Relaxed));
                let late = std::thread::Builder::new().name("signal bound".to_owned());
                let late = late.spawn(move || {
                    std::thread::sleep(most);
                    end();
                });
                // Whoever asks twice does not want to wait; without a thread for the bound nobody can.
                if late.is_ok() {
                    signals.next();
                }
            }
            end();
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        Ok(Self(heard))
    }

    /// Waits for a signal.
    pub(crate) async fn next(&self) {
        self.0.told.notified().await;
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
    }
}

/// Told when the question that is open is cancelled.
static OPEN: LazyLock<Mutex<Option<Arc<Notify>>>> = LazyLock::new(Mutex::default);

/// Told when the answer that is being made is cancelled.
static RUN: LazyLock<Mutex<Option<Arc<Notify>>>> = LazyLock::new(Mutex::default);

type Cancelled = LazyLock<Mutex<Option<Arc<Notify>>>>;

fn held(slot: &'static Cancelled) -> MutexGuard<'static, Option<Arc<Notify>>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cancel(slot: &'static Cancelled) -> bool {
    held(slot).take().inspect(|open| open.notify_one()).is_some()
}

/// An answer of a model that is being made: an interrupt cancels it, and nothing else.
pub(crate) struct OpenRun(Arc<Notify>);

impl OpenRun {
    pub(crate) fn new() -> Self {
        let cancelled = Arc::new(Notify::new());
        *held(&RUN) = Some(cancelled.clone());
        Self(cancelled)
    }

    /// Waits until it is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.0.notified().await;
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        *held(&RUN) = None;
    }
}

/// A question that is open: the first interrupt cancels it and nothing else, the next one ends the process.
pub(crate) struct OpenQuestion(Arc<Notify>);

impl OpenQuestion {
    pub(crate) fn new() -> Self {
        let cancelled = Arc::new(Notify::new());
        *held(&OPEN) = Some(cancelled.clone());
        Self(cancelled)
    }

    /// Waits until it is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.0.notified().await;
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        *held(&OPEN) = None;
    }
}

/// Ends the process and waits for nothing.
fn end() -> ! {
    signal_hook::low_level::exit(Exit::Interrupted as i32)
}
