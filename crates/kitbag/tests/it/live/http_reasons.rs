//! Why an address cannot be used: one reason, within its clock, naming the class, the address and the root.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use kitbag::LinkState;
use serde_json::json;

use super::Hosted;
use super::farm::{Opens as _, Use as _};
use super::hosted::hasty;
use testkit::PATIENCE;

/// Opens one address until its first try is over; the reason.
async fn reason(hosted: &Hosted, url: &str) -> String {
    hosted.enter("x", url, &json!({"headers": {"Authorization": "Bearer canary-token-4f1b"}}));
    let mut limits = hasty();
    // The second try is not this test's.
    limits.restart_first = Duration::from_secs(60);
    limits.restart_most = Duration::from_secs(60);
    let kit = hosted.farm.start(limits);
    let over = |state| matches!(state, LinkState::Failed | LinkState::Reconnecting);
    let ended = super::until(PATIENCE, || over(kit.on("x").status().state)).await;
    assert!(ended, "{url}: {:?}", kit.on("x").status());
    let reason = kit.on("x").status().error.unwrap().to_string();
    kit.close().await;
    let log = hosted.farm.log("x");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 1, "{url}: {log}");
    assert!(lines[0].starts_with("ERROR ") && lines[0].contains(&reason), "{url}: {log}");
    assert!(!log.contains("canary") && !log.contains("hunter22") && !log.contains("sekrit"), "{log}");
    reason
}

#[track_caller]
fn names(reason: &str, class: &str, url: &str, root: &str) {
    assert!(reason.starts_with(class), "{reason}");
    assert!(reason.contains(url), "{reason}");
    assert!(reason.contains(root), "no {root:?} in {reason}");
}

#[tokio::test]
async fn s4_3_a_malformed_url_is_an_error_at_connection_time() {
    for (url, root) in
        [("${NO_SUCH:-not a url}", "relative URL"), ("${NO_SUCH:-ftp://h.example/x}", "only http and https")]
    {
        let why = reason(&Hosted::new(), url).await;
        names(&why, "invalid url: ", "", root);
    }
}

#[tokio::test]
async fn s4_6_every_failure_names_class_address_and_root_once() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://me:hunter22@127.0.0.1:{free}/mcp?api_key=sekrit99&v=1");
    let shown = format!("@127.0.0.1:{free}/mcp?api_key=***&v=1");
    names(&reason(&Hosted::new(), &url).await, "connection: ", &shown, "refused");
    // A secret may stand anywhere in an address; where it came from tells it.
    let path = format!("http://127.0.0.1:{free}/${{MY_TOKEN:-sekritpath}}/mcp");
    let masked = format!("http://127.0.0.1:{free}/***/mcp");
    names(&reason(&Hosted::new(), &path).await, "connection: ", &masked, "refused");
    let unknown = "http://no-such-host.invalid/mcp";
    names(&reason(&Hosted::new(), unknown).await, "connection: ", unknown, "lookup");
    names(
        &reason(&Hosted::new(), "http://169.254.169.254/mcp").await,
        "connection: ",
        "169.254",
        "credentials",
    );
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let tls = format!("https://{}/mcp", plain.local_addr().unwrap());
    let speaks_no_tls = std::thread::spawn(move || {
        let (mut stream, _) = plain.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    names(&reason(&Hosted::new(), &tls).await, "connection: ", &tls, "does not speak TLS");
    speaks_no_tls.join().unwrap();
    let nothing = Hosted::new();
    let missing = nothing.host("y", &[]).replace("/mcp", "/nothing-here");
    names(&reason(&nothing, &missing).await, "refused: answered 404", &missing, "not found");
    for (fault, root) in [
        ("h09:html", "text/html"),
        ("h09:xml", "application/xml"),
        ("h09:text", "text/plain"),
        ("h09:empty", "nothing"),
    ] {
        let hosted = Hosted::new();
        let url = hosted.host("y", &["--fault", fault]);
        names(&reason(&hosted, &url).await, "not MCP: ", &url, root);
    }
    let hosted = Hosted::new();
    let url = hosted.host("y", &["--fault", "h17"]);
    names(&reason(&hosted, &url).await, "auth required: ", &url, "invalid_token");
}

#[tokio::test]
async fn s4_5_what_never_answers_ends_by_the_clock() {
    // It is connected to, and then nothing.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", hole.local_addr().unwrap());
    names(&reason(&Hosted::new(), &url).await, "timeout: ", &url, "");
    let sse = format!("http://{}/sse", hole.local_addr().unwrap());
    let hosted = Hosted::new();
    hosted.enter("x", &sse, &json!({"type": "sse"}));
    let kit = hosted.farm.start(hasty());
    kit.reaches("x", LinkState::Reconnecting).await;
    names(&kit.on("x").status().error.unwrap().to_string(), "timeout: ", &sse, "");
    kit.close().await;
    for head in [SLOW_HEAD, SLOW_BODY] {
        let url = slow(head);
        names(&reason(&Hosted::new(), &url).await, "timeout: ", &url, "within");
    }
}

/// What goes before a head that never ends, and before such a body.
pub(super) const SLOW_HEAD: &str = "HTTP/1.1 200 OK\r\nX-Slow: ";
pub(super) const SLOW_BODY: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";

/// A server that answers byte by byte, for ever; its address.
pub(super) fn slow(head: &'static str) -> String {
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", slow.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in slow.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                // An answer before the question would be another fault.
                let _ = stream.read(&mut [0; 64]);
                let _ = stream.write_all(head.as_bytes());
                testkit::wait_until(PATIENCE, || stream.write_all(b" ").is_err());
            });
        }
    });
    url
}

/// A listener whose queue is full takes no further connection: the first packet is never answered.
pub(super) struct BlackHole {
    listener: TcpListener,
    _held: Vec<TcpStream>,
}

impl BlackHole {
    pub(super) fn new() -> Self {
        let hole =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
        let hole = hole.unwrap();
        let any = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
        rustix::net::bind(&hole, &any).unwrap();
        rustix::net::listen(&hole, 0).unwrap();
        let listener = TcpListener::from(hole);
        let at = listener.local_addr().unwrap();
        let brief = Duration::from_millis(200);
        let mut held = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&at, brief) {
            held.push(stream);
            assert!(held.len() < 64, "it swallows nothing");
        }
        Self { listener, _held: held }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.listener.local_addr().unwrap())
    }
}

#[tokio::test]
async fn s4_5_a_black_hole_is_known_for_what_it_is() {
    let hole = BlackHole::new();
    names(&reason(&Hosted::new(), &hole.url()).await, "timeout: ", &hole.url(), "");
}
