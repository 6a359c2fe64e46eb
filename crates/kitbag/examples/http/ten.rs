//! Ten addresses of which three are of no use: how long until the other seven are listed.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use testkit::Http;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::open;

const GOOD: usize = 7;
const TOOLS: usize = 20;
const ROUNDS: usize = 9;

/// How long it takes alone, and with the three beside them.
pub(crate) async fn measure() -> (Duration, Duration) {
    let servers: Vec<Http> = (0..GOOD).map(|_| Http::start(&["--tools", &TOOLS.to_string()])).collect();
    let entry =
        |(index, url): (usize, &str)| format!("\"s{index}\": {{\"type\": \"http\", \"url\": {url:?}}}");
    let good: Vec<String> = servers.iter().map(Http::url).enumerate().map(entry).collect();
    let (silent, refusing, hole) = (silent().await, refusing(), Hole::dig().await);
    let places = [silent.local_addr(), refusing.local_addr(), Ok(hole.address)];
    let bad = places.into_iter().enumerate().map(|(index, place)| {
        format!("\"bad{index}\": {{\"type\": \"http\", \"url\": \"http://{}/mcp\"}}", place.unwrap())
    });
    let ten: Vec<String> = bad.chain(good.iter().cloned()).collect();
    let (mut alone, mut among) = (Duration::MAX, Duration::MAX);
    // In turns, and the best of each: a neighbour's work must not count for one side only.
    for _ in 0..ROUNDS {
        alone = alone.min(listed(&good).await);
        among = among.min(listed(&ten).await);
    }
    (alone, among)
}

async fn listed(entries: &[String]) -> Duration {
    let began = Instant::now();
    let (kit, _home) = open::start(&entries.join(","));
    for link in kit.links().into_iter().filter(|link| link.name().as_str().starts_with('s')) {
        link.settled().await;
        assert!(TOOLS <= link.tools().tools.len(), "{:?}", link.status());
    }
    let took = began.elapsed();
    kit.close().await;
    took
}

/// Takes every connection and never says a word.
async fn silent() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap()
}

/// Bound and not listening.
fn refusing() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    socket
}

/// An address at which connecting itself never ends: those who wait to be let in have filled the queue.
struct Hole {
    address: SocketAddr,
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl Hole {
    async fn dig() -> Self {
        let socket = refusing();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        let wait = Duration::from_millis(200);
        while let Ok(connected) = tokio::time::timeout(wait, TcpStream::connect(address)).await {
            waiting.push(connected.unwrap());
        }
        Self { address, _listener: listener, _waiting: waiting }
    }
}
