//! Fake servers at an address, started beside a farm's registry and ended with it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Farm, Http};

/// A farm whose servers are reached by address.
#[derive(Debug)]
pub struct Hosted {
    /// Where the addresses are written down.
    pub farm: Farm,
    hosts: RefCell<BTreeMap<String, Http>>,
}

impl Hosted {
    /// Without servers.
    #[expect(clippy::new_without_default, reason = "it makes folders")]
    pub fn new() -> Self {
        Self { farm: Farm::new(), hosts: RefCell::default() }
    }

    /// A farm with one server, entered as streamable HTTP.
    pub fn of(name: &str, args: &[&str]) -> Self {
        let hosted = Self::new();
        hosted.add(name, args, &json!({}));
        hosted
    }

    /// Starts a server; its address.
    pub fn host(&self, name: &str, args: &[&str]) -> String {
        let events = self.farm.diary(name);
        let host = Http::start(&[&["--events", events.to_str().unwrap()], args].concat());
        let url = host.url().to_owned();
        self.hosts.borrow_mut().insert(name.to_owned(), host);
        url
    }

    /// Starts a server and enters it, with further keys.
    pub fn add(&self, name: &str, args: &[&str], keys: &Value) {
        let url = self.host(name, args);
        self.enter(name, &url, keys);
    }

    /// Enters an address.
    pub fn enter(&self, name: &str, url: &str, keys: &Value) {
        let mut entry = json!({"type": "http", "url": url});
        for (key, value) in keys.as_object().unwrap() {
            entry[key] = value.clone();
        }
        self.farm.enter(name, entry);
    }

    /// Where a server listens: host and port.
    pub fn address(&self, name: &str) -> String {
        self.hosts.borrow()[name].address().to_owned()
    }

    /// Ends a server at once, as a crash would.
    pub fn crash(&self, name: &str) {
        self.hosts.borrow_mut().get_mut(name).unwrap().stop();
    }

    /// Starts a server that was ended, at the address it had.
    pub fn again(&self, name: &str) {
        self.hosts.borrow_mut().get_mut(name).unwrap().start_again();
    }

    /// The same as another server.
    pub fn again_with(&self, name: &str, args: &[&str]) {
        let events = self.farm.diary(name);
        let args = [&["--events", events.to_str().unwrap()], args].concat();
        self.hosts.borrow_mut().get_mut(name).unwrap().start_again_with(&args);
    }

    /// The requests a server got: method, path and headers.
    pub fn requests(&self, name: &str) -> Vec<String> {
        self.farm.events(name, "http")
    }
}
