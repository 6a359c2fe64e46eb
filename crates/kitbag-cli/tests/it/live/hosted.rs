//! Fake servers at an address, started beside a farm's registry and ended with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kitbag::Kitbag;
use serde_json::{Value, json};

use super::farm::Farm;

/// A farm whose servers are reached by address.
pub(crate) struct Hosted {
    pub(crate) farm: Farm,
    hosts: RefCell<BTreeMap<String, testkit::Http>>,
}

impl Hosted {
    pub(crate) fn new() -> Self {
        Self { farm: Farm::new(), hosts: RefCell::default() }
    }

    /// A farm with one server, entered as streamable HTTP.
    pub(crate) fn of(name: &str, args: &[&str]) -> Self {
        let hosted = Self::new();
        hosted.add(name, args, &json!({}));
        hosted
    }

    /// Starts a server; its address.
    pub(crate) fn host(&self, name: &str, args: &[&str]) -> String {
        let events = self.farm.diary(name);
        let host = testkit::Http::start(&[&["--events", events.to_str().unwrap()], args].concat());
        let url = host.url().to_owned();
        self.hosts.borrow_mut().insert(name.to_owned(), host);
        url
    }

    /// Starts a server and enters it, with further keys.
    pub(crate) fn add(&self, name: &str, args: &[&str], keys: &Value) {
        let url = self.host(name, args);
        self.enter(name, &url, keys);
    }

    /// Enters an address.
    pub(crate) fn enter(&self, name: &str, url: &str, keys: &Value) {
        let mut entry = json!({"type": "http", "url": url});
        for (key, value) in keys.as_object().unwrap() {
            entry[key] = value.clone();
        }
        self.farm.enter(name, entry);
    }

    /// Where a server listens: host and port.
    pub(crate) fn address(&self, name: &str) -> String {
        self.hosts.borrow()[name].address().to_owned()
    }

    /// Ends a server at once, as a crash would.
    pub(crate) fn crash(&self, name: &str) {
        self.hosts.borrow_mut().get_mut(name).unwrap().stop();
    }

    /// Starts a server that was ended, at the address it had.
    pub(crate) fn again(&self, name: &str) {
        self.hosts.borrow_mut().get_mut(name).unwrap().start_again();
    }

    /// The same as another server.
    pub(crate) fn again_with(&self, name: &str, args: &[&str]) {
        let events = self.farm.diary(name);
        let args = [&["--events", events.to_str().unwrap()], args].concat();
        self.hosts.borrow_mut().get_mut(name).unwrap().start_again_with(&args);
    }

    /// Ends all links; the servers live on.
    pub(crate) async fn close(&self, kit: Kitbag) {
        let began = Instant::now();
        kit.close().await;
        assert!(began.elapsed() < Duration::from_secs(10), "closing took {:?}", began.elapsed());
    }

    /// The requests a server got: method, path and headers.
    pub(crate) fn requests(&self, name: &str) -> Vec<String> {
        self.farm.events(name, "http")
    }
}

/// Clocks fifty times as fast, for what must end by them.
pub(crate) fn hasty() -> kitbag::Limits {
    let mut limits = super::calm();
    limits.wait_http = Duration::from_millis(1500);
    limits.wait_list = Duration::from_millis(1500);
    limits.wait_idle = Duration::from_millis(700);
    limits.wait_total = Duration::from_millis(1500);
    limits.resume = Duration::from_millis(20);
    limits
}
