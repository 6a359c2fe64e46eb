use kitbag_core::{Limits, Secret};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::super::era::Era;
use super::super::super::wire::{self, Line, Param, Speech};
use super::super::address::Route;
use super::*;
use kitbag_core::text::Redactor;

const LONG: Duration = Duration::from_secs(30);

/// A server of which every answer is written by the test.
struct Scripted {
    listener: TcpListener,
    posts: Posts,
    stop: CancellationToken,
    _answers: Answers,
}

impl Scripted {
    /// A client at it that has ended its handshake; the second stream it asks for, not answered yet.
    async fn shaken(limits: &Limits) -> (Self, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Secret::new(format!("http://{}/mcp", listener.local_addr().unwrap()));
        let remote = Remote::new(&url, &[], limits, Redactor::new([]), &Route::default()).unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let (_, posts, answers) = Streamable::start(remote, Arc::default(), &tasks, &stop);
        let mut scripted = Self { listener, posts, stop, _answers: answers };
        let accepted = async {
            let (mut post, _) = scripted.listener.accept().await.unwrap();
            assert!(heard(&mut post).await.contains("notifications/initialized"));
            post.write_all(b"HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                .await
                .unwrap();
        };
        let ((), ()) = tokio::join!(
            accepted,
            say(&mut scripted.posts, None, wire::notification("notifications/initialized".into(), "{}"))
        );
        let (mut get, _) = scripted.listener.accept().await.unwrap();
        assert!(heard(&mut get).await.starts_with("GET "));
        (scripted, get)
    }

    async fn call(&mut self) {
        let name = [("name", Param::Text("ask"))];
        let call = wire::request(Vec::new(), 7, "tools/call".into(), &name, Speech::from(Era::Legacy), "{}");
        say(&mut self.posts, Some(7), call).await;
    }

    /// Whether a call has been sent, after a moment in which it could have been.
    async fn is_called(&self, moment: Duration) -> bool {
        let Ok(accepted) = tokio::time::timeout(moment, self.listener.accept()).await else { return false };
        heard(&mut accepted.unwrap().0).await.contains("tools/call")
    }
}

async fn say(posts: &mut Posts, id: Option<u64>, line: Line) {
    posts.send(&mut vec![Outgoing { id, line }]).await.unwrap();
}

/// One request, head and body.
async fn heard(connection: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let shown = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = shown.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if length.unwrap_or(0) <= body.len() {
                return shown;
            }
        }
        assert!(0 < connection.read_buf(&mut text).await.unwrap(), "{shown}");
    }
}

/// Some servers ask on the second stream, and what they ask before it stands is lost.
#[tokio::test]
async fn no_call_is_sent_before_the_second_stream_stands() {
    let mut limits = Limits::default();
    limits.resume = LONG * 2;
    let (mut scripted, mut get) = Scripted::shaken(&limits).await;
    scripted.call().await;
    assert!(!scripted.is_called(Duration::from_millis(200)).await, "sent too early");
    get.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").await.unwrap();
    assert!(scripted.is_called(LONG).await);
    scripted.stop.cancel();
}

#[tokio::test]
async fn a_second_stream_that_is_not_answered_holds_no_call_for_long() {
    let mut limits = Limits::default();
    limits.resume = Duration::from_millis(20);
    let (mut scripted, _get) = Scripted::shaken(&limits).await;
    scripted.call().await;
    assert!(scripted.is_called(LONG).await);
    scripted.stop.cancel();
}

/// However long a server wants us to wait, be it more than a number holds.
#[tokio::test]
async fn what_a_stream_says_about_waiting_is_bounded() {
    let limits = Limits::default();
    let (scripted, _get) = Scripted::shaken(&limits).await;
    let pause = |retry: &str| {
        let mut events = super::super::events::Events::new(limits.line);
        let text = format!("retry: {retry}\n\n");
        assert_eq!(events.take(&mut text.as_bytes()), Ok(None));
        scripted.posts.0.pause(events.retry(), 1)
    };
    let check = |retry: &str, least: Duration| {
        let pause = pause(retry);
        assert!(
            least <= pause && pause <= least.mul_f64(1.25).min(limits.restart_most),
            "{retry}: {pause:?}"
        );
    };
    check("2000", Duration::from_secs(2));
    check("86400000", limits.restart_most);
    check(&"9".repeat(100), limits.restart_most);
    check("soon", limits.resume);
    check("-1", limits.resume);
    scripted.stop.cancel();
}

/// Session ids and challenges are headers.
#[tokio::test]
async fn headers_and_challenges_are_bounded() {
    let limits = Limits::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Secret::new(format!("http://{}/mcp", listener.local_addr().unwrap()));
    let remote = Remote::new(&url, &[], &limits, Redactor::new([]), &Route::default()).unwrap();
    let answer = async |head: String| {
        let answered = async {
            let (mut post, _) = listener.accept().await.unwrap();
            heard(&mut post).await;
            let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            post.write_all(head.as_bytes()).await.unwrap();
        };
        tokio::join!(answered, remote.post(&remote.address.url, HeaderMap::new(), b"{}".to_vec())).1
    };
    let session = |length: usize| answer(format!("200 OK\r\nMcp-Session-Id: {}", "s".repeat(length)));
    assert!(session(60 << 10).await.is_ok());
    let Err(Trouble::Said(RequestError::BadAnswer(why))) = session(70 << 10).await else { panic!() };
    assert!(why.ends_with("more than 65536"), "{why}");
    let refused =
        answer(format!("401 No\r\nWWW-Authenticate: Bearer error_description={}", "r".repeat(50_000))).await;
    let refusal = remote.refusal(refused.unwrap()).await;
    let said = remote.said(&refusal).into_error().to_string();
    assert!(said.contains("rrr") && said.len() <= 400, "{said}");
}

#[test]
fn f83_a_body_that_is_no_response_is_named_as_what_it_is() {
    let said = |body: &str| not_a_response(body.as_bytes()).to_string();
    assert_eq!(said(""), "the answer cannot be used: an empty body");
    let other = "the answer cannot be used: a body that is not a JSON-RPC response to the request";
    assert_eq!((said("{}"), said("It works!")), (other.to_owned(), other.to_owned()));
}
