//! The conversation over a channel of lines that a test writes and reads.

use std::sync::Mutex as StdMutex;

use tokio::sync::Semaphore;

use super::super::channel::{Incoming, Shortcut, Unsent};
use super::*;

/// Takes batches only as far as it is allowed to, and notes what it took.
struct Gate {
    open: Arc<Semaphore>,
    written: Arc<StdMutex<Vec<String>>>,
}

/// Takes a line at once, if that is offered, and notes it as such.
struct Past(Arc<StdMutex<Vec<String>>>);

impl Shortcut for Past {
    fn take(&mut self, line: &[u8]) -> bool {
        self.0.lock().unwrap().push(format!("past: {}", String::from_utf8_lossy(line)));
        true
    }
}

/// The same as the gate, with a way past it.
struct Open(Gate);

impl Sink for Open {
    fn shortcut(&self) -> Option<Box<dyn Shortcut>> {
        Some(Box::new(Past(self.0.written.clone())))
    }

    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        self.0.send(batch).await
    }
}

impl Sink for Gate {
    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        if let Ok(permit) = self.open.acquire().await {
            permit.forget();
        }
        let mut written = self.written.lock().unwrap();
        written.extend(batch.iter().map(|out| String::from_utf8_lossy(&out.line.bytes).into_owned()));
        Ok(())
    }
}

/// What a test has the server say.
enum Said {
    Line(&'static str),
    Rest(&'static str),
    End,
}

struct Script(mpsc::Receiver<Said>);

impl LineSource for Script {
    async fn next(&mut self) -> Incoming<'_> {
        match self.0.recv().await {
            Some(Said::Line(line)) => Incoming::Line(line.as_bytes()),
            Some(Said::Rest(rest)) => Incoming::Rest(rest.as_bytes()),
            Some(Said::End) => Incoming::Closed(Closed::by_us()),
            None => std::future::pending().await,
        }
    }
}

#[derive(Default)]
struct Deaf(AtomicU64);

impl Inbound for Deaf {
    fn request(
        &self,
        _id: &RawValue,
        _method: &str,
        _params: Option<&RawValue>,
    ) -> Option<Result<String, (i32, String)>> {
        None
    }

    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}

    fn noise(&self, _line: &[u8], _why: NotAMessage) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Stage {
    peer: Peer,
    open: Arc<Semaphore>,
    written: Arc<StdMutex<Vec<String>>>,
    says: mpsc::Sender<Said>,
    deaf: Arc<Deaf>,
}

fn stage() -> Stage {
    staged(|gate| gate)
}

fn staged<S: Sink>(sink: impl FnOnce(Gate) -> S) -> Stage {
    let (open, written) = (Arc::new(Semaphore::new(0)), Arc::<StdMutex<Vec<String>>>::default());
    let (says, script) = mpsc::channel(16);
    let deaf = Arc::new(Deaf::default());
    let bounds =
        Bounds { line: 1 << 20, queue: 8, questions: 2, unanswered: 8, late: Duration::from_secs(1) };
    let sink = sink(Gate { open: open.clone(), written: written.clone() });
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let peer = Peer::start(sink, Script(script), deaf.clone(), bounds, "{}".into(), &tasks, &stop);
    Stage { peer, open, written, says, deaf }
}

fn clocks(ms: u64) -> Clocks {
    Clocks::of(Duration::from_millis(ms))
}

async fn ask(stage: &Stage, method: &'static str, ms: u64) -> Result<Box<RawValue>, RequestError> {
    stage
        .peer
        .request(method, &[], super::super::era::Era::Legacy, clocks(ms), RequestContext::default())
        .await
}

/// It was reported as not delivered, so it must not be delivered later.
#[tokio::test(start_paused = true)]
async fn a_request_given_up_in_the_queue_is_never_written() {
    let stage = stage();
    let (stuck, queued) = tokio::join!(ask(&stage, "stuck", 200), async {
        // Once the writer, which nothing else keeps busy, has taken the first one.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        ask(&stage, "queued", 50).await
    });
    assert!(matches!(stuck, Err(RequestError::Timeout { sent: true, .. })), "{stuck:?}");
    assert!(matches!(queued, Err(RequestError::Timeout { sent: false, .. })), "{queued:?}");
    stage.open.add_permits(10);
    let _ = ask(&stage, "last", 50).await;
    let written = stage.written.lock().unwrap().concat();
    assert!(written.contains("stuck") && written.contains("last"), "{written}");
    assert!(!written.contains("queued"), "{written}");
}

#[tokio::test(start_paused = true)]
async fn a_logger_with_ids_fails_no_call() {
    let stage = stage();
    stage.open.add_permits(10);
    let (outcome, ()) = tokio::join!(ask(&stage, "x", 60_000), async {
        for line in [r#"{"level":"error","id":1,"msg":"x"}"#, r#"{"id":1,"broken"#, r#"{"id":1}"#] {
            stage.says.send(Said::Line(line)).await.unwrap();
        }
        stage.says.send(Said::Line(r#"{"jsonrpc":"2.0","id":1,"result":{"right":true}}"#)).await.unwrap();
    });
    assert_eq!(outcome.unwrap().get(), r#"{"right":true}"#);
    assert_eq!(stage.deaf.0.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_read_fails_its_call() {
    let stage = stage();
    stage.open.add_permits(10);
    let (outcome, sent) = tokio::join!(
        ask(&stage, "x", 60_000),
        stage.says.send(Said::Line(r#"{"jsonrpc":"2.0","id":1,"result":{"cut"#))
    );
    sent.unwrap();
    assert!(matches!(outcome, Err(RequestError::BadAnswer(_))), "{outcome:?}");
}

/// The last line may lack its end, but not half of itself.
#[tokio::test(start_paused = true)]
async fn half_an_answer_at_the_end_is_a_lost_call() {
    for (rest, whole) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a""#, false),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
    ] {
        let stage = stage();
        stage.open.add_permits(10);
        let (outcome, ()) = tokio::join!(ask(&stage, "x", 60_000), async {
            // Not before the request has been written: then it would not have been lost.
            while stage.written.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            stage.says.send(Said::Rest(rest)).await.unwrap();
            stage.says.send(Said::End).await.unwrap();
        });
        match outcome {
            Ok(_) => assert!(whole),
            Err(error) => assert!(!whole && matches!(error, RequestError::Lost(_)), "{error:?}"),
        }
    }
}

/// A call that is alone is written by its caller; one that is not waits its turn, and nothing is overtaken.
#[tokio::test(start_paused = true)]
async fn only_a_call_that_is_alone_goes_past_the_queue() {
    let stage = staged(Open);
    let first = async {
        let (one, two) = tokio::join!(ask(&stage, "one", 100), ask(&stage, "two", 100));
        assert!(matches!(one, Err(RequestError::Timeout { sent: true, .. })), "{one:?}");
        // It was taken by the writer, which stands before the gate.
        assert!(matches!(two, Err(RequestError::Timeout { .. })), "{two:?}");
    };
    first.await;
    let written = stage.written.lock().unwrap().clone();
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(written[0].starts_with("past: ") && written[0].contains("one"), "{written:?}");

    // What was queued earlier goes first, even if nothing is in flight.
    let stage = staged(Open);
    stage.peer.notify("notifications/first", "{}");
    let (second, ()) = tokio::join!(ask(&stage, "second", 100), async {
        tokio::task::yield_now().await;
        stage.open.add_permits(10);
    });
    assert!(second.is_err());
    let written = stage.written.lock().unwrap().concat();
    let (first, second) = (written.find("notifications/first"), written.find("\"second\""));
    assert!(first.is_some() && first < second && !written.contains("past: "), "{written}");

    // Once all is written the way is free again.
    let _ = ask(&stage, "third", 50).await;
    assert!(stage.written.lock().unwrap().concat().contains("past: "));
}

/// Nothing is kept for a caller who went away, whether before the answer came or just after.
#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_took_is_not_kept() {
    let stage = staged(Open);
    for (id, line) in [
        (1, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (2, r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}"#),
    ] {
        let mut call = Box::pin(ask(&stage, "x", 60_000));
        assert!(futures_util::poll!(&mut call).is_pending());
        stage.says.send(Said::Line(line)).await.unwrap();
        while !stage.peer.0.lock().answers.contains_key(&id) {
            tokio::task::yield_now().await;
        }
        drop(call);
        let pending = stage.peer.0.lock();
        assert!(pending.slots.is_empty() && pending.answers.is_empty());
    }
    drop(Box::pin(ask(&stage, "x", 60_000)));
    stage.says.send(Said::Line(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)).await.unwrap();
    assert!(ask(&stage, "last", 50).await.is_err());
    assert!(stage.peer.0.lock().answers.is_empty(), "an answer to nobody");
    let written = stage.written.lock().unwrap().concat();
    assert!(!written.contains("cancelled"), "what was answered need not be stopped: {written}");
}

#[tokio::test(start_paused = true)]
async fn f26_an_initialize_is_never_cancelled() {
    for (method, cancels) in [("initialize", 0), ("tools/list", 1)] {
        let stage = stage();
        stage.open.add_permits(100);
        let late = ask(&stage, method, 50).await.unwrap_err();
        assert!(matches!(late, RequestError::Timeout { sent: true, .. }), "{late:?}");
        // What comes next is written after whatever is said about it.
        ask(&stage, "ping", 50).await.unwrap_err();
        let written = stage.written.lock().unwrap().concat();
        assert_eq!(written.matches(r#""requestId":1,"#).count(), cancels, "{written}");
    }
}
