use crate::tidy::tests::said;

/// `expected`: the line and the call of each finding.
#[track_caller]
fn check(path: &str, text: &str, expected: &[(usize, &str)]) {
    let found = said(super::check, path, text);
    let begins = |(line, call): &(usize, &str)| format!("{path}:{line}: `{call}(` in a test: ");
    assert_eq!(found.len(), expected.len(), "{text:?}: {found:?}");
    for (found, expected) in found.iter().zip(expected.iter().map(begins)) {
        assert!(found.starts_with(&expected), "{found} is not {expected}…");
    }
}

const TESTS: [&str; 3] =
    ["crates/kitbag/tests/it/a.rs", "crates/kitbag/src/a/tests.rs", "crates/testkit/src/house.rs"];

#[test]
fn f40_no_test_sleeps() {
    for path in TESTS {
        check(path, "fn f() {\n    std::thread::sleep(D);\n}", &[(2, "sleep")]);
        check(path, "fn f() {\n    tokio::time::sleep(D).await;\n}", &[(2, "sleep")]);
        check(path, "use std::thread::sleep;\nfn f() { sleep(D) }", &[(2, "sleep")]);
        check(
            path,
            "sleep_until(end).await;\nthread::park_timeout(D);",
            &[(1, "sleep_until"), (2, "park_timeout")],
        );
        check(path, "// sleep(D)\nkit.call(\"sleep(1)\"); no_sleep(); let sleep = 1;", &[]);
    }
}

#[test]
fn f40_no_test_judges_by_the_clock() {
    for path in TESTS {
        check(path, "assert!(began.elapsed() < Duration::from_secs(5));", &[(1, "elapsed")]);
        check(path, "let took = began.elapsed();\nassert!(took < SOON);", &[(1, "elapsed")]);
        check(path, "began.at_least(D);\nlet elapsed = 1;", &[]);
    }
}

#[test]
fn f40_what_is_no_test_may_sleep() {
    for path in
        ["crates/kitbag/src/a.rs", "crates/kitbag/examples/a.rs", "crates/testkit/src/bin/fake-mcp/a.rs"]
    {
        check(path, "fn f() { thread::sleep(began.elapsed()) }", &[]);
    }
    check("crates/testkit/src/wait.rs", "thread::sleep(PAUSE); began.elapsed()", &[]);
    let both =
        "fn f() { sleep(D) }\n#[cfg(test)]\nmod tests {\n    fn g() { sleep(D) }\n}\nfn h() { sleep(D) }";
    check("crates/kitbag/src/a.rs", both, &[(4, "sleep")]);
}
