//! What must end by itself, and what does not.

use std::process::Command;
use std::time::Duration;

use super::run_within;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn what_takes_too_long_is_ended_and_named() {
    let error = run_within(Command::new("tail").args(["-f", "/dev/null"]), Duration::ZERO).unwrap_err();
    assert_eq!(error.to_string(), "`tail -f /dev/null` did not end within 0ns");
}

#[test]
fn what_ends_is_judged_by_its_status() {
    run_within(&mut Command::new("true"), PATIENCE).unwrap();
    let error = run_within(&mut Command::new("false"), PATIENCE).unwrap_err();
    assert!(error.to_string().starts_with("`false` failed"), "{error}");
}
