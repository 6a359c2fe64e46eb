//! The least a client can do over HTTP: the bytes of a request out, the bytes of an answer in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::{ARGUMENTS, CALLS, IN_FLIGHT};

const VERSIONS: &str = r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"kitbag","version":"0.1.0"}"#;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}}"#;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Posts to one address, with headers that are made once.
pub(crate) struct Posts {
    client: Client,
    url: Url,
    headers: HeaderMap,
    /// What goes into `_meta` besides the progress token.
    meta: &'static str,
    id: AtomicU64,
}

impl Posts {
    fn new(url: &str) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider);
        let tls = tls.with_safe_default_protocol_versions().unwrap();
        let tls = tls.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
        let client = Client::builder().tls_backend_preconfigured(tls).no_proxy().tcp_nodelay(true);
        let client = client.user_agent("bare/1").build().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { client, url: url.parse().unwrap(), headers, meta: "", id: AtomicU64::new(1) }
    }

    /// The newer era: nothing to agree on, and what is asked for stands in headers, too.
    pub(crate) fn modern(url: &str) -> Self {
        let mut posts = Self::new(url);
        posts.meta = VERSIONS;
        for (name, value) in
            [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")]
        {
            posts.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        posts
    }

    /// The older era: a session.
    pub(crate) async fn legacy(url: &str) -> Self {
        let mut posts = Self::new(url);
        let answer = posts.post(INITIALIZE.to_owned()).await;
        let session = answer.headers().get("mcp-session-id").unwrap().clone();
        answer.bytes().await.unwrap();
        posts.headers.insert("mcp-session-id", session);
        posts.headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
        posts.post(INITIALIZED.to_owned()).await.bytes().await.unwrap();
        posts
    }

    fn request(&self) -> String {
        let id = self.id.fetch_add(1, Ordering::Relaxed) + 1;
        let meta = self.meta;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{ARGUMENTS},"_meta":{{"progressToken":{id}{meta}}}}}}}"#
        ) + "\n"
    }

    async fn post(&self, body: String) -> Response {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
        answer
    }

    /// One call whose answer is the answer to the POST.
    pub(crate) async fn call(&self) {
        let answer = self.post(self.request()).await.bytes().await.unwrap();
        assert!(100 < answer.len(), "{answer:?}");
    }

    /// Calls a second, many in flight.
    pub(crate) async fn rate(self) -> f64 {
        let posts = Arc::new(self);
        let began = Instant::now();
        let tasks = TaskTracker::new();
        for _ in 0..IN_FLIGHT {
            let posts = posts.clone();
            tasks.spawn(async move {
                for _ in 0..CALLS / IN_FLIGHT {
                    posts.call().await;
                }
            });
        }
        tasks.close();
        tasks.wait().await;
        (CALLS / IN_FLIGHT * IN_FLIGHT) as f64 / began.elapsed().as_secs_f64()
    }
}

/// The older transport: posts, and one stream that brings every answer.
pub(crate) struct Stream {
    posts: Posts,
    answer: Response,
    buffer: Vec<u8>,
}

impl Stream {
    pub(crate) async fn open(url: &str) -> Self {
        let mut posts = Posts::new(url);
        let answer = posts.client.get(posts.url.clone()).header(ACCEPT, "text/event-stream");
        let answer = answer.send().await.unwrap();
        let mut stream = Self { posts: Posts::new(url), answer, buffer: Vec::new() };
        let first = stream.event().await;
        let place = first.split("data: ").nth(1).unwrap().trim();
        posts.url = posts.url.join(place).unwrap();
        stream.posts = posts;
        stream.exchange(INITIALIZE.to_owned()).await;
        stream.posts.post(INITIALIZED.to_owned()).await.bytes().await.unwrap();
        stream
    }

    async fn event(&mut self) -> String {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let event = self.buffer.drain(..end + 2).collect();
                return String::from_utf8(event).unwrap();
            }
            let chunk = self.answer.chunk().await.unwrap().unwrap();
            self.buffer.extend_from_slice(&chunk);
        }
    }

    async fn exchange(&mut self, body: String) {
        let Self { posts, answer, buffer } = self;
        let posted = async { posts.post(body).await.bytes().await.unwrap() };
        let read = async {
            while !buffer.ends_with(b"\n\n") {
                buffer.extend_from_slice(&answer.chunk().await.unwrap().unwrap());
            }
        };
        tokio::join!(posted, read);
        assert!(100 < buffer.len());
        buffer.clear();
    }

    /// One call.
    pub(crate) async fn call(&mut self) {
        let request = self.posts.request();
        self.exchange(request).await;
    }

    /// Calls a second, many in flight: an answer makes room for the next request.
    pub(crate) async fn rate(self) -> f64 {
        let Self { posts, mut answer, .. } = self;
        let (posts, tasks, room) = (Arc::new(posts), TaskTracker::new(), Semaphore::new(IN_FLIGHT));
        let began = Instant::now();
        let reading = async {
            let mut seen = 0;
            let mut last = 0;
            while seen < CALLS {
                let chunk = answer.chunk().await.unwrap().unwrap();
                let before = seen;
                for byte in &chunk[..] {
                    // Two ends of line in a row end an event, also across pieces.
                    seen += usize::from(last == b'\n' && *byte == b'\n');
                    last = *byte;
                }
                room.add_permits(seen - before);
            }
        };
        let posting = async {
            for _ in 0..CALLS {
                room.acquire().await.unwrap().forget();
                let posts = posts.clone();
                tasks.spawn(async move { posts.post(posts.request()).await.bytes().await.unwrap() });
            }
        };
        tokio::join!(reading, posting);
        CALLS as f64 / began.elapsed().as_secs_f64()
    }
}
