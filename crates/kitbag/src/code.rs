//! Code of others (hooks, tools, approvers, permits, responders) runs on threads of its own: it may never give way, on
//! whatever runtime, and then costs the call it was run for and nothing else. No thread is started before there is such
//! code to run.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use kitbag_core::Limits;
use kitbag_core::model::Seconds;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

#[cfg(test)]
mod tests;

/// How long a thread waits for more to do.
const IDLE: Duration = Duration::from_secs(10);
/// The most of a panic's words that is told.
const WORDS: usize = 300;

/// Why somebody's code gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It panicked, with these words.
    Panicked(String),
    /// It did not give way for this long.
    Hung(Duration),
    /// It was not run: all threads for such code are taken by others.
    Refused(usize),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(words) => write!(f, "panicked: {words}"),
            Self::Hung(time) => write!(f, "hangs: it has not yielded for {}", Seconds(*time)),
            Self::Refused(threads) => {
                write!(f, "is not run: all {threads} threads for the program's own code are taken")
            }
        }
    }
}

impl Trouble {
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let words = payload.downcast_ref::<&str>().copied();
        let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let words = kitbag_core::text::visible(words.unwrap_or("no words"));
        Self::Panicked(words.chars().take(WORDS).collect())
    }
}

/// The threads of one Kitbag for code of others.
#[derive(Clone, Default)]
pub(crate) struct Threads(Arc<Owner>);

/// Ends the threads with the last handle.
#[derive(Default)]
struct Owner(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    /// As many as there are calls that wait for one.
    jobs: VecDeque<(Arc<Mutex<Stage>>, Job)>,
    threads: usize,
    idle: usize,
    /// Threads whose work was given up and has not ended.
    stuck: usize,
    closed: bool,
}

/// What is done on a thread; what comes of it is told by what it gives.
type Job = Box<dyn FnOnce() -> Tell + Send>;
type Tell = Box<dyn FnOnce()>;
type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// How far one piece of work is. Changed under the lock of the state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    Ended,
    GivenUp,
}

/// Somebody waits for a piece of work; it is given up when they no longer do.
struct Waiting<'a>(&'a Shared, Arc<Mutex<Stage>>);

impl Waiting<'_> {
    /// Why nothing came of it within its time: it hangs, or never got a thread.
    fn trouble(&self, limits: &Limits) -> Trouble {
        match *self.1.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Waiting => Trouble::Refused(limits.code_threads),
            Stage::Running | Stage::Ended | Stage::GivenUp => Trouble::Hung(limits.wait_code),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        let mut stage = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        state.stuck += usize::from(*stage == Stage::Running);
        if *stage != Stage::Ended {
            *stage = Stage::GivenUp;
        }
    }
}

impl Threads {
    /// Runs somebody's asynchronous code. Waiting for something else is bounded by whoever calls this; not giving way is
    /// bounded here.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        limits: &Limits,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Trouble> {
        let (most, time) = (limits.code_threads, limits.wait_code);
        let woken = Arc::new(Woken::default());
        let mut work: Work<T> = Box::pin(work);
        loop {
            let (done, ended) = oneshot::channel();
            let (waker, runtime) = (Waker::from(woken.clone()), Handle::current());
            let waiting = self.begin(most, move || {
                let _inside = runtime.enter();
                let mut work = work;
                let poll = || work.as_mut().poll(&mut Context::from_waker(&waker));
                let polled = match catch_unwind(AssertUnwindSafe(poll)) {
                    Ok(Poll::Ready(value)) => Ok(Ok(value)),
                    Ok(Poll::Pending) => Ok(Err(work)),
                    Err(payload) => Err(Trouble::panicked(&*payload)),
                };
                Box::new(move || drop(done.send(polled)))
            })?;
            work = match tokio::time::timeout(time, ended).await {
                Ok(Ok(ended)) => match ended? {
                    Ok(value) => return Ok(value),
                    Err(work) => work,
                },
                Ok(Err(_)) => return Err(Trouble::Panicked("while it was dropped".to_owned())),
                Err(_) => return Err(waiting.trouble(limits)),
            };
            woken.0.notified().await;
        }
    }

    /// Runs somebody's code that does not wait for anything; the thread that asks waits for it.
    pub(crate) fn run_now<T: Send + 'static>(
        &self,
        limits: &Limits,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Trouble> {
        let (done, ended) = mpsc::sync_channel(1);
        let runtime = Handle::try_current().ok();
        let waiting = self.begin(limits.code_threads, move || {
            let _inside = runtime.as_ref().map(Handle::enter);
            let ran = catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Trouble::panicked(&*payload));
            Box::new(move || drop(done.send(ran)))
        })?;
        let ended = ended.recv_timeout(limits.wait_code);
        ended.unwrap_or_else(|_| Err(waiting.trouble(limits)))
    }

    fn begin(
        &self,
        most: usize,
        job: impl FnOnce() -> Tell + Send + 'static,
    ) -> Result<Waiting<'_>, Trouble> {
        let shared = &self.0.0;
        let mut state = shared.lock();
        if most <= state.stuck {
            return Err(Trouble::Refused(state.stuck));
        }
        let stage = Arc::new(Mutex::new(Stage::Waiting));
        state.jobs.push_back((stage.clone(), Box::new(job)));
        if state.idle < state.jobs.len() && state.threads < most {
            let worker = shared.clone();
            let thread = std::thread::Builder::new().name("kitbag code".to_owned());
            if thread.spawn(move || serve(&worker)).is_ok() {
                state.threads += 1;
            } else if state.threads == 0 {
                state.jobs.clear();
                return Err(Trouble::Refused(0));
            }
        }
        shared.more.notify_one();
        drop(state);
        Ok(Waiting(shared, stage))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece of work that somebody still waits for; none when this thread is not needed.
    fn next(&self) -> Option<(Arc<Mutex<Stage>>, Job)> {
        let mut state = self.lock();
        loop {
            while let Some((stage, job)) = state.jobs.pop_front() {
                if started(&stage) {
                    return Some((stage, job));
                }
                // Dropping it runs code of others, which may panic, or come back here.
                drop(state);
                let _ = catch_unwind(AssertUnwindSafe(|| drop(job)));
                state = self.lock();
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let (next, waited) = self.more.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = next;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        None
    }

    /// Ends work that is as far as this. Says whether it was given up before.
    fn end(&self, stage: &Mutex<Stage>, at: Stage) -> bool {
        let mut state = self.lock();
        let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
        let is_given_up = *stage == Stage::GivenUp;
        if *stage == at {
            state.stuck -= usize::from(is_given_up);
            *stage = Stage::Ended;
        }
        is_given_up
    }
}

/// Starts a piece of work, unless it was given up.
fn started(stage: &Mutex<Stage>) -> bool {
    let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
    let is_waiting = *stage == Stage::Waiting;
    if is_waiting {
        *stage = Stage::Running;
    }
    is_waiting
}

fn serve(shared: &Shared) {
    while let Some((stage, job)) = shared.next() {
        let told = catch_unwind(AssertUnwindSafe(job));
        // Ended before anybody hears of it: whoever does no longer waits, and nothing hangs for that.
        let is_given_up = shared.end(&stage, Stage::Running);
        // What was given up is dropped here, which may panic as well, or hang.
        let _ = catch_unwind(AssertUnwindSafe(|| told.map(|tell| tell())));
        if is_given_up {
            shared.end(&stage, Stage::GivenUp);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.more.notify_all();
    }
}

#[derive(Default)]
struct Woken(Notify);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // Kept until somebody waits, so that no waking is lost.
        self.0.notify_one();
    }
}
