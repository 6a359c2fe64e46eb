//! Addresses behind a proxy, as the binary's own environment names it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::Hosted;
use crate::house::{Ran, Runs as _};

/// A proxy on this machine that knows one host by name, and what it was asked for.
struct Proxy {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn before(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let log = asked.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, log) = (server.clone(), log.clone());
                std::thread::spawn(move || forward(client, &server, &log));
            }
        });
        Self { url, asked }
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// One request, sent on with a path in place of the whole address, and its answer.
fn forward(mut client: TcpStream, server: &str, log: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let (mut first, mut head, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(size) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = size.trim().parse().ok()?;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    log.lock().unwrap().push(first.trim().to_owned());
    let first = first.replacen("http://mcp.corp.invalid", "", 1);
    let mut upstream = TcpStream::connect(server).ok()?;
    upstream.write_all(format!("{first}{head}Connection: close\r\n\r\n").as_bytes()).ok()?;
    upstream.write_all(&body).ok()?;
    // Nobody may count on the connection for the next request.
    let (mut answer, mut status) = (BufReader::new(upstream), String::new());
    answer.read_line(&mut status).ok()?;
    client.write_all(format!("{status}Connection: close\r\n").as_bytes()).ok()?;
    std::io::copy(&mut answer, &mut client).ok()?;
    Some(())
}

#[test]
fn f53_addresses_are_reached_through_the_proxy_of_the_environment() {
    let hosted = Hosted::new();
    hosted.host("x", &[]);
    let proxy = Proxy::before(hosted.address("x"));
    hosted.farm.settings("[limits]\nrestart_first = \"10ms\"\nrestart_most = \"10ms\"\n");
    // Only the proxy knows this name.
    hosted.enter("x", "http://mcp.corp.invalid/mcp", &json!({}));
    let call = |vars: &[(&str, &str)]| -> Ran {
        let mut run = hosted.farm.house.ask(&["call", "x/add", "a=2", "b=3", "--wait", "60s"]);
        for (name, value) in vars {
            run = run.env(name, value);
        }
        run.run()
    };
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let before = proxy.count();
        assert_eq!(call(&[(name, &proxy.url)]).exits(0).out.trim(), "5", "{name}");
        assert!(before < proxy.count(), "{name}");
    }
    let asked = proxy.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|line| line.contains(" http://mcp.corp.invalid/mcp ")), "{asked:?}");
    // Not where an exception is made, and not by a proxy for other addresses. Nobody listens at
    // this address, which is reached without asking a name server.
    let closed = TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap();
    hosted.enter("x", &format!("http://{closed}/mcp"), &json!({}));
    for vars in [
        vec![("HTTP_PROXY", &*proxy.url), ("NO_PROXY", "0.0.0.0")],
        vec![("HTTP_PROXY", &*proxy.url), ("no_proxy", "other,0.0.0.0")],
        vec![("HTTPS_PROXY", &*proxy.url)],
    ] {
        let before = proxy.count();
        let ran = call(&vars).exits(4);
        assert!(ran.err.contains("refused"), "{ran:?}");
        assert_eq!(before, proxy.count(), "{vars:?}");
    }
    // What is on this machine is reached without one.
    hosted.enter("x", &format!("http://{}/mcp", hosted.address("x")), &json!({}));
    let before = proxy.count();
    call(&[("HTTP_PROXY", &proxy.url)]).exits(0);
    assert_eq!(before, proxy.count());
}
