//! A test that sleeps is slow when it is green and red when the machine is busy; one that judges by how long something
//! took is the same. Tests wait for the event itself: [`ALLOWED`] is the one place that looks again and again.

use super::rust::RustFile;
use super::{Finding, House};

/// Where the functions are that tests wait with.
const ALLOWED: &str = "crates/testkit/src/wait.rs";

/// Code for tests alone, though it is no test itself; the programs in it are servers, which may take their time.
const FOR_TESTS: &str = "crates/testkit/src/";
const PROGRAMS: &str = "crates/testkit/src/bin/";

/// Calls that wait for time to pass.
const SLEEPS: &[&str] = &["sleep", "sleep_ms", "sleep_until", "park_timeout"];

pub(super) fn check(house: &House) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in house.rust.iter().filter(|file| file.path != ALLOWED) {
        for (index, line) in tests_of(file).lines().enumerate() {
            let mut fail = |what: &str, instead: &str| {
                let text = format!("`{what}` in a test: {instead}");
                findings.push(Finding::fail(&file.path, index + 1, text));
            };
            for name in SLEEPS.iter().filter(|name| is_called(line, name)) {
                fail(
                    &format!("{name}("),
                    "wait for the event itself, with `testkit::until` or a paused clock",
                );
            }
            if is_called(line, "elapsed") {
                fail(
                    "elapsed(",
                    "await it with `testkit::in_time`, or ask `testkit::Since` for a lower bound",
                );
            }
        }
    }
    findings
}

/// The code of a file that only tests run, line by line where it stands.
fn tests_of(file: &RustFile) -> String {
    let for_tests = file.path.starts_with(FOR_TESTS) && !file.path.starts_with(PROGRAMS);
    if for_tests || file.is_test() {
        return file.code.clone();
    }
    let is_shipped = |(code, shipped): (char, char)| if code == shipped && code != '\n' { ' ' } else { code };
    file.code.chars().zip(file.shipped.chars()).map(is_shipped).collect()
}

/// Whether a function or method of this name is called in a line.
fn is_called(line: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    let calls = |(at, _): (usize, &str)| {
        let after = line[at + name.len()..].trim_start();
        !line[..at].ends_with(goes_on) && (after.starts_with('(') || after.starts_with("::<"))
    };
    line.match_indices(name).any(calls)
}

#[cfg(test)]
mod tests;
