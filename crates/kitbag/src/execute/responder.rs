//! The responder of one call, run where code of the program may hang. If it panics or hangs, that ends the call.

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use kitbag_core::Limits;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::code::{Threads, Trouble};
use crate::connect::{Answer, Question, QuestionKind, Responder};

/// Whose trouble it is, in messages.
pub(crate) const ANSWERER: &str = "the responder";

/// A responder that is watched.
pub(crate) struct Watched {
    inner: Arc<dyn Responder>,
    answers: Vec<QuestionKind>,
    capabilities: Option<Box<RawValue>>,
    person: usize,
    threads: Threads,
    limits: Arc<Limits>,
    trouble: OnceLock<Trouble>,
    told: Notify,
}

impl Watched {
    pub(crate) async fn new(
        inner: &Arc<dyn Responder>,
        threads: &Threads,
        limits: &Arc<Limits>,
    ) -> Result<Arc<Self>, Trouble> {
        let (inner, threads, limits) = (inner.clone(), threads.clone(), limits.clone());
        let asked = inner.clone();
        let told = async move { (asked.answers().to_vec(), asked.capabilities(), asked.person()) };
        let (answers, capabilities, person) = threads.run(&limits, told).await?;
        let (trouble, told) = (OnceLock::new(), Notify::new());
        Ok(Arc::new(Self { inner, answers, capabilities, person, threads, limits, trouble, told }))
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
    fn answers(&self) -> &[QuestionKind] {
        &self.answers
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        let inner = self.inner.clone();
        let work = async move { inner.answer(question).await };
        Box::pin(async move {
            let answer = self.threads.run(&self.limits, work).await;
            answer.unwrap_or_else(|trouble| {
                let why = format!("the responder {trouble}");
                let _ = self.trouble.set(trouble);
                self.told.notify_one();
                Err(why)
            })
        })
    }

    fn capabilities(&self) -> Option<Box<RawValue>> {
        self.capabilities.clone()
    }

    fn person(&self) -> usize {
        self.person
    }
}
