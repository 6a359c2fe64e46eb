//! The endpoint as a child process: lines in, lines out, as a host starts it.
//!
//! Reading waits for nobody: what is answered goes through tasks of its own, so a host may write for as long as it likes
//! before it reads, and a call can be cancelled meanwhile. What all of that may hold has a bound, and only there reading
//! stops until something is taken.

use std::sync::Arc;

use kitbag::connect::raw::{Frame, Framer, Message, decode};
use kitbag::{CancellationToken, UserId};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::answer::{Incoming, Speech, answer};
use crate::backlog::{Backlog, Room};
use crate::call;
use crate::client::{Client, Out};
use crate::endpoint::{Endpoint, Scope};
use crate::listen::{self, Subscription};
use crate::news::NewsSource;
use crate::rpc::{self, RpcError, code};

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Serves one client until its input ends, or until it is told to stop. At the end of the input calls in flight are
/// cancelled: nobody reads what they come back with. When told to stop they may end within
/// [`Limits::drain`](kitbag::Limits::drain).
pub async fn serve(
    endpoint: &Endpoint,
    user: UserId,
    scope: Scope,
    mut input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let Some(kit) = endpoint.kit(&user).await else {
        return Err(std::io::Error::other(format!("the user {user} is not known here")));
    };
    let limits = kit.limits();
    let (out, lines) = mpsc::channel(limits.queue);
    let writing = TaskTracker::new();
    writing.spawn(write(lines, output));
    writing.close();
    let host = Host {
        client: Client::alone(endpoint.clone(), kit, user, scope),
        out,
        backlog: Backlog::new(&limits),
        tasks: TaskTracker::new(),
        ending: stop,
        over: CancellationToken::new(),
    };
    let _over = host.over.clone().drop_guard();
    let ended = host.read(&mut input, limits.line).await;
    if host.ending.is_cancelled() {
        host.tasks.close();
        let _ = tokio::time::timeout(limits.drain, host.tasks.wait()).await;
    }
    host.over.cancel();
    host.client.parked.clear();
    drop(host);
    let _ = tokio::time::timeout(limits.drain, writing.wait()).await;
    ended
}

/// The one client there is, and what goes on for it.
struct Host {
    client: Arc<Client>,
    out: Out,
    backlog: Backlog,
    tasks: TaskTracker,
    /// Told when no further request is taken.
    ending: CancellationToken,
    /// Told when nobody reads answers any more.
    over: CancellationToken,
}

impl Host {
    /// Reads until the input ends or the end is near.
    async fn read(&self, input: &mut (impl AsyncRead + Unpin), line: usize) -> std::io::Result<()> {
        let mut framer = Framer::new(line);
        let mut is_greeted = false;
        loop {
            tokio::select! {
                biased;
                () = self.ending.cancelled() => return Ok(()),
                read = read(input, &mut framer) => if read? == 0 { break },
            }
            while framer.advance() {
                let Some(room) = self.ending.run_until_cancelled(self.room(framer.frame())).await else {
                    return Ok(());
                };
                let is_ready = self.take(framer.frame(), room);
                if is_ready && !std::mem::replace(&mut is_greeted, true) {
                    self.tell();
                }
            }
        }
        if framer.finish() {
            let room = self.room(framer.frame()).await;
            self.take(framer.frame(), room);
        }
        Ok(())
    }

    async fn room(&self, frame: Frame<'_>) -> Room {
        let (Frame::Line(bytes) | Frame::Oversized(bytes)) = frame;
        self.backlog.room(bytes.len()).await
    }

    /// Takes one line; whether the client says with it that it is ready to hear more than answers.
    fn take(&self, frame: Frame<'_>, room: Room) -> bool {
        let line = match frame {
            Frame::Line(line) if line.trim_ascii().is_empty() => return false,
            Frame::Line(line) => line,
            Frame::Oversized(_) => {
                let message = "the message is larger than `line` in `kitbag limits`";
                self.say(rpc::refusal(&RpcError::new(code::INVALID_REQUEST, message)), room);
                return false;
            }
        };
        match decode(line) {
            Ok(Message::Request { id, method, params }) => {
                match Incoming::new(id, &method, params) {
                    Ok(request) => self.request(request, room),
                    Err(error) => self.say(rpc::answer(id, &Err(error)), room),
                }
                false
            }
            Ok(message) => {
                let is_ready = matches!(
                    &message, Message::Notification { method, .. } if method == "notifications/initialized"
                );
                self.client.told(message);
                is_ready
            }
            Err(error) => {
                self.say(rpc::refusal(&RpcError::new(code::PARSE, error.to_string())), room);
                false
            }
        }
    }

    fn request(&self, request: Incoming, room: Room) {
        if request.method == listen::METHOD && request.speech() == Speech::Modern {
            return self.subscribe(request, room);
        }
        let (client, out) = (self.client.clone(), self.out.clone());
        self.spawn(room, async move {
            let outcome = call::or_told(&request, answer(&client, &request, &out).await);
            let _ = out.send(rpc::answer(&request.id, &outcome)).await;
        });
    }

    /// A request that stays open until it is cancelled, or we end.
    fn subscribe(&self, request: Incoming, room: Room) {
        let running = match request.check_modern().and_then(|()| self.client.begin(&request.id)) {
            Ok(running) => running,
            Err(error) => return self.say(rpc::answer(&request.id, &Err(error)), room),
        };
        let (client, out, ending) = (self.client.clone(), self.out.clone(), self.ending.clone());
        self.spawn(room, async move {
            let opened = running.cancel.run_until_cancelled(Subscription::open(&client, &request)).await;
            let mut subscription = match opened {
                Some(Ok(subscription)) => subscription,
                Some(Err(error)) => return drop(out.send(rpc::answer(&request.id, &Err(error))).await),
                None => return,
            };
            let messages = async {
                while let Some(message) = subscription.next().await {
                    out.send(message).await.ok()?;
                }
                Some(())
            };
            tokio::select! {
                // Whoever cancels a request hears nothing more of it.
                () = running.cancel.cancelled() => return,
                () = ending.cancelled() => {}
                _ = messages => {}
            }
            let _ = out.send(subscription.end()).await;
        });
    }

    /// Tells a client of the older era what changes, from now on.
    fn tell(&self) {
        let mut news = NewsSource::since_read(&self.client);
        let (out, ending, over) = (self.out.clone(), self.ending.clone(), self.over.clone());
        self.tasks.spawn(async move {
            let telling = async {
                while let Some(news) = news.next().await {
                    out.send(news.plain()).await.ok()?;
                }
                Some(())
            };
            tokio::select! {
                () = ending.cancelled() => {}
                () = over.cancelled() => {}
                _ = telling => {}
            }
        });
    }

    /// Says something once there is room for it.
    fn say(&self, line: String, room: Room) {
        let out = self.out.clone();
        self.spawn(room, async move {
            let _ = out.send(line).await;
        });
    }

    fn spawn(&self, room: Room, work: impl Future<Output = ()> + Send + 'static) {
        let over = self.over.clone();
        self.tasks.spawn(async move {
            over.run_until_cancelled(work).await;
            drop(room);
        });
    }
}

/// Cancel-safe: what was read is in the framer.
async fn read(input: &mut (impl AsyncRead + Unpin), framer: &mut Framer) -> std::io::Result<usize> {
    input.read_buf(framer.room(CHUNK)).await
}

/// Writes lines; all that wait are written together.
async fn write(mut lines: mpsc::Receiver<String>, mut output: impl AsyncWrite + Unpin) {
    let (mut taken, mut bytes) = (Vec::new(), Vec::new());
    while 0 < lines.recv_many(&mut taken, 64).await {
        for line in taken.drain(..) {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
        bytes.clear();
    }
}
