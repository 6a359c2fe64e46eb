//! One timer thread for everything that answers later, started when first needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(crate) struct Later {
    plan: Mutex<Plan>,
    wake: Condvar,
}

#[derive(Default)]
struct Plan {
    due: BinaryHeap<Reverse<Entry>>,
    count: u64,
    running: bool,
}

struct Entry {
    at: Instant,
    number: u64,
    job: Job,
}

impl Later {
    /// Runs `job` after `delay`; jobs of the same moment in the order they came.
    pub(crate) fn after(self: &Arc<Self>, delay: Duration, job: impl FnOnce() + Send + 'static) {
        let mut plan = self.lock();
        plan.count += 1;
        let entry = Entry { at: Instant::now() + delay, number: plan.count, job: Box::new(job) };
        plan.due.push(Reverse(entry));
        if !plan.running {
            plan.running = true;
            let own = Arc::clone(self);
            thread::spawn(move || own.work());
        }
        self.wake.notify_one();
    }

    fn work(&self) {
        let mut plan = self.lock();
        loop {
            let now = Instant::now();
            let wait = plan.due.peek().map(|Reverse(next)| next.at.saturating_duration_since(now));
            plan = match wait {
                None => self.wake.wait(plan).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    let job = plan.due.pop().map(|Reverse(entry)| entry.job);
                    drop(plan);
                    job.into_iter().for_each(|job| job());
                    self.lock()
                }
                Some(wait) => self.wake.wait_timeout(plan, wait).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Entry {}
