//! Tests of the library as its users see it: files in, a setup or a changed registry out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod face;
mod live;
mod places;
mod registry;
mod setup;

use kitbag::files::Folders;
use kitbag::{DiscoverOptions, Env, Setup, UserId};

/// The house of one test, and what the library makes of it.
struct House(testkit::House);

impl std::ops::Deref for House {
    type Target = testkit::House;

    fn deref(&self) -> &testkit::House {
        &self.0
    }
}

impl House {
    fn new() -> Self {
        Self(testkit::House::new())
    }

    fn env(&self) -> Env {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        Env::new([], self.path("project")).with("HOME", &path("home")).with("KITBAG_HOME", &path("kit"))
    }

    fn folders(&self) -> Folders {
        Folders::of(&self.env())
    }

    fn request(&self) -> DiscoverOptions {
        DiscoverOptions { env: self.env(), ..DiscoverOptions::default() }
    }

    fn setup(&self) -> Setup {
        Setup::discover(&self.request()).unwrap()
    }

    /// Names and states, as `name=state` words.
    fn states(&self) -> String {
        states(&self.setup())
    }
}

fn states(setup: &Setup) -> String {
    let word =
        |row: &kitbag_core::config::layers::MergedServer| format!("{}={}", row.name, row.state.as_str());
    setup.merged.servers.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}
