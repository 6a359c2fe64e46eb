//! A test in a process of its own, for what a process has only one of: memory, descriptors, a working folder.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::Command;

/// Runs one test in a process of its own, where its memory and descriptors are nobody else's. Inside that
/// process it returns true, and the test goes on.
///
/// # Panics
/// If the test fails there; the message holds what it printed.
pub fn alone(test: &str) -> bool {
    const INSIDE: &str = "LIVE_ALONE";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    println!("{text}");
    false
}
