//! A Kitbag on servers of a benchmark's choice, in a home of its own.

use kitbag::{DiscoverOptions, Env, Kitbag, OpenOptions, Setup};
use tempfile::TempDir;

/// Starts these entries (`"name": {…}`, separated by commas) and waits for none; the home goes when dropped.
pub(crate) fn start(entries: &str) -> (Kitbag, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mcp.json");
    std::fs::write(&file, format!("{{\"mcpServers\": {{{entries}}}}}")).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let vars = [("KITBAG_HOME".into(), home.path().into()), ("PATH".into(), path)];
    let request = DiscoverOptions {
        env: Env::new(vars, home.path()),
        configs: vec![file],
        ..DiscoverOptions::default()
    };
    (Kitbag::start(Setup::discover(&request).unwrap(), OpenOptions::default()), home)
}
