//! A real PostgreSQL server for one test, in a folder of its own, that ends with the test whatever happens to it.

use std::io::Write as _;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::stores::Place;

/// It reads until the test is gone, then ends the server; a test that is killed closes the pipe, too.
const KEEPER: &str = r#"
    "$@" & server=$!
    read _ || true
    kill -QUIT $server
    wait $server
"#;

pub(crate) struct Server {
    folder: TempDir,
    binaries: PathBuf,
    keeper: Option<Child>,
    databases: AtomicUsize,
}

impl Server {
    /// An empty one.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { folder, binaries: binaries(), keeper: None, databases: AtomicUsize::new(0) };
        if let Some((user, group)) = other_user() {
            chown(server.folder.path(), Some(user), Some(group)).unwrap();
        }
        let mut initdb = server.command("initdb");
        initdb.args(["--auth=trust", "--username=kitbag", "--encoding=UTF8", "--no-sync", "--pgdata"]);
        // A locale that sorts otherwise than by bytes, as most installations have.
        initdb.arg(server.data()).args(["--locale=C.UTF-8"]);
        let made = initdb.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.run().await;
        server
    }

    /// Starts the process, and waits until it answers.
    pub(crate) async fn run(&mut self) {
        let mut keeper = self.command("sh");
        keeper.args(["-c", KEEPER, "sh"]).arg(self.binaries.join("postgres"));
        keeper.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        keeper.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"]);
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        keeper.stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log);
        self.keeper = Some(keeper.spawn().unwrap());
        let answers = || self.psql("SELECT 1").is_ok();
        assert!(testkit::until(testkit::PATIENCE, answers).await, "{}", self.log());
    }

    /// Ends the process; what it keeps stays.
    pub(crate) fn stop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            let _ = keeper.stdin.take().map(|mut pipe| pipe.write_all(b"\n"));
            keeper.wait().unwrap();
        }
    }

    /// An empty database, and a folder for the rest.
    pub(crate) fn place(&self) -> Place {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql(&format!("CREATE DATABASE {name}")).unwrap();
        Place::with_url(&self.url(&name))
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://kitbag@localhost/{database}?host={}", self.folder.path().display())
    }

    fn psql(&self, sql: &str) -> Result<(), String> {
        let mut psql = self.command("psql");
        psql.arg("-h").arg(self.folder.path()).args(["-U", "kitbag", "-d", "postgres", "-c", sql]);
        let done = psql.output().unwrap();
        if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// One of its programs, as a user who may run it: root may not.
    fn command(&self, program: &str) -> Command {
        let own = self.binaries.join(program);
        let mut command = Command::new(if own.exists() { own } else { program.into() });
        command.current_dir(self.folder.path());
        if let Some((user, group)) = other_user() {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The newest version that is installed.
fn binaries() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let folders = versions.map(|entry| entry.unwrap().path().join("bin"));
    let newest = folders.filter(|folder| folder.join("initdb").exists()).max();
    let Some(newest) = newest else { panic!("PostgreSQL is missing: `cargo xtask test` installs it") };
    newest
}

/// PostgreSQL refuses to run as root; its package brings a user for it.
fn other_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string(Path::new("/etc/passwd")).unwrap();
    let user = users.lines().find(|line| line.starts_with("postgres:")).unwrap();
    let numbers: Vec<u32> = user.split(':').skip(2).take(2).map(|number| number.parse().unwrap()).collect();
    Some((numbers[0], numbers[1]))
}
