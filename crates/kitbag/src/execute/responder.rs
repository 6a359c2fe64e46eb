//! The responder of one call, run where code of the program may hang. If it panics or hangs, that ends the call.

use std::sync::{Arc, OnceLock};

use kitbag_core::Limits;
use tokio::sync::Notify;

use super::guarded::guarded_now;
use crate::code::{Threads, Trouble};
use crate::connect::{Answer, Ask, Question, Responder};

/// A responder that is watched.
pub(crate) struct Watched {
    inner: Arc<dyn Responder>,
    answers: Vec<Ask>,
    threads: Threads,
    limits: Arc<Limits>,
    trouble: OnceLock<Trouble>,
    told: Notify,
}

impl Watched {
    pub(crate) fn new(inner: &Arc<dyn Responder>, threads: &Threads, limits: &Arc<Limits>) -> Arc<Self> {
        let answers = guarded_now(|| inner.answers().to_vec()).unwrap_or_default();
        let (inner, threads, limits) = (inner.clone(), threads.clone(), limits.clone());
        Arc::new(Self { inner, answers, threads, limits, trouble: OnceLock::new(), told: Notify::new() })
    }

    /// Waits for something, unless the responder is in trouble before, or was when it came.
    pub(crate) async fn unless_troubled<T>(&self, work: impl Future<Output = T>) -> Result<T, Trouble> {
        let done = tokio::select! {
            biased;
            () = self.told.notified() => None,
            done = work => Some(done),
        };
        match (self.trouble.get(), done) {
            (None, Some(done)) => Ok(done),
            (Some(trouble), _) => Err(trouble.clone()),
            (None, None) => Err(Trouble::Panicked("no words".to_owned())),
        }
    }
}

impl Responder for Watched {
    fn answers(&self) -> &[Ask] {
        &self.answers
    }

    fn answer(&self, question: Question) -> Answer<'_> {
        let inner = self.inner.clone();
        let work = async move { inner.answer(question).await };
        Box::pin(async move {
            let answer = self.threads.run(&self.limits, work).await;
            answer.unwrap_or_else(|trouble| {
                let why = format!("whoever answers {trouble}");
                let _ = self.trouble.set(trouble);
                self.told.notify_one();
                Err(why)
            })
        })
    }

    fn person(&self) -> usize {
        self.inner.person()
    }
}
