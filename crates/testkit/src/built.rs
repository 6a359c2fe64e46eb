//! Tests of any crate need the fake server's binary, and cargo builds only the binaries of the crate under
//! test. So it is built here, before its first use.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, io};

/// The path of a binary of this workspace (`fake-mcp`), fresh: cargo is asked once per process (under nextest
/// once per run), in the profile and target folder of the running program, one process at a time.
///
/// # Panics
/// If it cannot be built; the message holds what cargo said.
pub fn bin(name: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = built.get(name) {
        return path.clone();
    }
    match Place::of_this_program().and_then(|place| place.build(name)) {
        Ok(path) => built.entry(name.into()).or_insert(path).clone(),
        Err(error) => panic!("cannot build {name}: {error}"),
    }
}

/// A file below `target/tools`, where `cargo xtask test` installs what tests need beyond the toolchain.
///
/// # Panics
/// If it is missing: a skipped test would look like a good one.
pub fn tool(path: &str) -> PathBuf {
    let file = match Place::of_this_program() {
        Ok(place) => place.target.join("tools").join(path),
        Err(error) => panic!("cannot look for {path}: {error}"),
    };
    assert!(file.exists(), "{} is missing; `cargo xtask test` installs it", file.display());
    file
}

/// Where the running program was built.
struct Place {
    target: PathBuf,
    triple: Option<OsString>,
    profile: String,
}

impl Place {
    fn of_this_program() -> io::Result<Self> {
        let program = env::current_exe()?;
        let mut folders = program.ancestors().skip(1).peekable();
        folders.next_if(|folder| ["deps", "examples"].iter().any(|name| folder.ends_with(name)));
        let odd = || io::Error::other(format!("{} is in no target folder", program.display()));
        let profile = folders.next().and_then(Path::file_name).and_then(OsStr::to_str).ok_or_else(odd)?;
        let above = folders.next().ok_or_else(odd)?;
        let tagged = |folder: &Path| folder.join("CACHEDIR.TAG").exists();
        match folders.next().filter(|folder| tagged(folder)) {
            // target/<triple>/<profile>, as `--target` makes it.
            Some(target) => Ok(Self {
                target: target.into(),
                triple: above.file_name().map(OsStr::to_owned),
                profile: profile.into(),
            }),
            None => Ok(Self { target: above.into(), triple: None, profile: profile.into() }),
        }
    }

    fn build(&self, name: &str) -> io::Result<PathBuf> {
        let mut folder = self.target.clone();
        folder.extend(&self.triple);
        folder.push(&self.profile);
        let path = folder.join(name);
        let lock = folder.join(format!(".testkit-{name}.lock"));
        let mut lock = File::options().create(true).truncate(false).read(true).write(true).open(lock)?;
        lock.lock()?;
        // nextest starts a process per test: what one of them built is fresh for the others.
        let run = env::var("NEXTEST_RUN_ID").unwrap_or_default();
        let mut last = String::new();
        lock.read_to_string(&mut last)?;
        if !run.is_empty() && last == run && path.exists() {
            return Ok(path);
        }
        self.cargo(name)?;
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(run.as_bytes())?;
        fs::canonicalize(path)
    }

    fn cargo(&self, name: &str) -> io::Result<()> {
        let manifest = manifest();
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // All crates' features together, and by the example those of their tests: what the tests were built with is
        // not compiled again with others.
        cargo.args(["build", "--offline", "--quiet", "--workspace", "--bin", name, "--example", "echo_rate"]);
        cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&self.target);
        cargo.arg("--profile").arg(if self.profile == "debug" { "dev" } else { &self.profile });
        if let Some(triple) = &self.triple {
            cargo.arg("--target").arg(triple);
        }
        let output = cargo.output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
        }
        Ok(())
    }
}

/// Of this crate, beside the one under test: what was compiled into this program may come from a cache that another folder
/// filled.
fn manifest() -> PathBuf {
    let tested = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let beside = tested.and_then(|tested| Some(tested.parent()?.join("testkit").join("Cargo.toml")));
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    beside.filter(|manifest| manifest.exists()).unwrap_or_else(built)
}
