//! A home, a project folder and a `KITBAG_HOME` for one test.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

/// Folders of one test's own, removed with it.
#[derive(Debug)]
pub struct House {
    root: tempfile::TempDir,
}

impl House {
    /// With an empty `home/`, `project/` and `kit/`.
    #[expect(clippy::new_without_default, reason = "it makes folders")]
    pub fn new() -> Self {
        let house = Self { root: tempfile::tempdir().unwrap() };
        for folder in ["home", "project", "kit"] {
            std::fs::create_dir(house.path(folder)).unwrap();
        }
        house
    }

    /// A path under `home/`, `project/`, `kit/config/`, `kit/state/` and so on.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// The same as a string.
    pub fn at(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and the folders above it.
    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    /// What a file holds.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file below a folder, with what it holds; locks apart.
    pub fn files(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                match kind.is_dir() {
                    true => folders.push(entry.path()),
                    false if entry.file_name() == "write.lock" => {}
                    false if kind.is_symlink() => {
                        let target = std::fs::read_link(entry.path()).unwrap();
                        files.push((entry.path(), target.into_os_string().into_encoded_bytes()));
                    }
                    false => files.push((entry.path(), std::fs::read(entry.path()).unwrap())),
                }
            }
        }
        files.sort();
        files
    }

    /// The environment of a program that lives here: nothing of the machine but its `PATH`.
    pub fn vars(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap();
        [
            ("PATH", path),
            ("HOME", self.at("home")),
            ("KITBAG_HOME", self.at("kit")),
            ("COLUMNS", "100".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// A text with this house's own paths taken out.
    pub fn plain(&self, text: &str) -> String {
        text.replace(&self.at("project"), "[project]")
            .replace(&self.at("home"), "[home]")
            .replace(&self.at("kit"), "[kit]")
    }

    /// The folder of a golden config file, or the file.
    pub fn golden(name: &str) -> String {
        format!("{}/../../testdata/config/{name}", env!("CARGO_MANIFEST_DIR"))
    }
}
