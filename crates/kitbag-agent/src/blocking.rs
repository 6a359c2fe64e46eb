//! An agent for callers without a runtime. It lives on a thread with a runtime of its own, so it can also be made and used
//! by code that runs inside another runtime: nothing there is waited for, and nothing can deadlock.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use kitbag::{Kitbag, OpenError, OpenOptions, Setup};
use tokio::sync::mpsc;

use crate::agent::{Agent, AgentError, AgentState, ConnectionState, Report};

/// Something to say, and where the answer goes.
struct Job {
    text: String,
    answer: SyncSender<Result<Report, AgentError>>,
}

/// Why an agent could not be started. Servers that are away are no reason, unless one is `required`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A required server is missing.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system gives no thread or no runtime.
    #[error("no thread for the agent: {0}")]
    Thread(#[from] std::io::Error),
    /// The agent's thread ended.
    #[error("the thread of the agent has ended")]
    Ended,
}

/// An agent that is asked without `async`.
#[derive(Debug)]
pub struct BlockingAgent {
    jobs: Option<mpsc::Sender<Job>>,
    kit: Kitbag,
    state: std::sync::mpsc::Receiver<Result<(), OpenError>>,
    thread: Option<JoinHandle<()>>,
}

impl BlockingAgent {
    /// Starts the servers of a setup, waits for them as long as the setup says, and makes an agent of the kit. Inside a
    /// runtime nothing is waited for: the servers join by themselves, and the first message waits for them.
    pub fn start(
        setup: Setup,
        options: OpenOptions,
        make: impl FnOnce(Kitbag) -> Agent + Send + 'static,
    ) -> Result<Self, StartError> {
        let (jobs, work) = mpsc::channel(1);
        let (tell_kit, told_kit) = sync_channel(1);
        let (tell_state, state) = sync_channel(1);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let live = move || {
            runtime.block_on(async {
                let wait =
                    options.wait.unwrap_or(options.limits.as_ref().unwrap_or(&setup.limits).wait_agent);
                let kit = Kitbag::start(setup, options);
                let _ = tell_kit.send(kit.clone());
                kit.wait(wait).await;
                let opened = kit.check_required();
                let is_open = opened.is_ok();
                let _ = tell_state.send(opened);
                if is_open {
                    serve(make(kit.clone()), work).await;
                }
                kit.close().await;
            });
        };
        let thread = std::thread::Builder::new().name("kitbag agent".to_owned()).spawn(live)?;
        let kit = told_kit.recv().map_err(|_| StartError::Ended)?;
        let agent = Self { jobs: Some(jobs), kit, state, thread: Some(thread) };
        if tokio::runtime::Handle::try_current().is_err() {
            agent.state.recv().map_err(|_| StartError::Ended)??;
        }
        Ok(agent)
    }

    /// Says something, and waits for the end of the run.
    pub fn send(&mut self, text: impl Into<String>) -> Result<Report, AgentError> {
        let (answer, answered) = sync_channel(1);
        let job = Job { text: text.into(), answer };
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.try_send(job).is_ok());
        match answered.recv() {
            Ok(done) if sent => done,
            _ => Err(self.ended()),
        }
    }

    fn ended(&self) -> AgentError {
        let why = match self.state.try_recv() {
            Ok(Err(error)) => error.to_string(),
            _ => StartError::Ended.to_string(),
        };
        AgentError::NotRunning { why }
    }

    /// Whether it has the tools of servers.
    pub fn state(&self) -> AgentState {
        AgentState::of(&self.kit, Some(&self.kit.own_view()))
    }

    /// How its servers are, all of them together.
    pub fn connection(&self) -> ConnectionState {
        ConnectionState::of(&self.kit)
    }

    /// The kit its tools come from.
    pub fn kit(&self) -> &Kitbag {
        &self.kit
    }
}

impl Drop for BlockingAgent {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Bounded: the kit closes within its limits.
            let _ = thread.join();
        }
    }
}

async fn serve(mut agent: Agent, mut work: mpsc::Receiver<Job>) {
    while let Some(job) = work.recv().await {
        let done = agent.send(job.text).finish().await;
        let _ = job.answer.send(done);
    }
}
