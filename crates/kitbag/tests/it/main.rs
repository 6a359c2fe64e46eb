//! Tests of the library as its users see it: files in, a setup or a changed registry out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod places;
mod registry;
mod setup;

use kitbag::discover::Folders;
use kitbag::{Env, Request, Setup, UserId};

/// A home, a working folder and Kitbag's own folders for one test.
struct House(tempfile::TempDir);

impl House {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> std::path::PathBuf {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn env(&self) -> Env {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        Env::new([], self.path("project")).with("HOME", &path("home")).with("KITBAG_HOME", &path("kit"))
    }

    fn folders(&self) -> Folders {
        Folders::of(&self.env())
    }

    fn request(&self) -> Request {
        Request { env: self.env(), ..Request::default() }
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
    let word = |row: &kitbag::config::layers::Server| format!("{}={}", row.name, row.state.as_str());
    setup.merged.servers.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}
