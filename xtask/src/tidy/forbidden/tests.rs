use crate::tidy::tests::said;

/// `expected`: the line and the word of each finding.
#[track_caller]
fn check(path: &str, text: &str, expected: &[(usize, &str)]) {
    let found = said(super::check, path, text);
    assert_eq!(found.len(), expected.len(), "{text:?}: {found:?}");
    for (found, (line, word)) in found.iter().zip(expected) {
        assert!(
            found.starts_with(&format!("{path}:{line}: ")) && found.contains(&format!("`{word}`")),
            "{found}"
        );
    }
}

#[test]
fn unfinished_code_is_forbidden_outside_tests() {
    for word in ["todo!", "unimplemented!", "dbg!"] {
        let text = format!("fn f() {{\n    {word}()\n}}");
        check("a.rs", &text, &[(2, word)]);
        check("a/tests.rs", &text, &[]);
        check("a.rs", &format!("#[cfg(test)]\nmod tests {{ {text} }}"), &[]);
        check("a.rs", &format!("// {word}\nconst X: &str = \"{word}\";"), &[]);
    }
    check("a.rs", "my_todo!()", &[]);
}

#[test]
fn silence_is_forbidden_everywhere() {
    for path in ["a.rs", "tests/it/a.rs"] {
        check(path, "#[test]\n#[ignore = \"slow\"]\nfn f() {}", &[(2, "#[ignore")]);
        check(path, "#[allow(dead_code)]\nfn f() {}", &[(1, "#[allow(")]);
        check(path, "#![allow(dead_code)]", &[(1, "#![allow(")]);
    }
}

#[test]
fn modules_have_names_of_their_own() {
    for word in ["mod utils", "mod helpers", "mod common", "mod manager"] {
        check("a.rs", &format!("pub {word};"), &[(1, word)]);
        check("a.rs", &format!("{word}_of_x {{}}"), &[]);
    }
}

#[test]
fn core_is_pure() {
    let core = "crates/kitbag-core/src/config.rs";
    check(core, "use std::{\n    fs,\n    io,\n};", &[(2, "std::fs")]);
    check(core, "std::env::var(x)", &[(1, "std::env::var")]);
    check(core, "use std::net::IpAddr;", &[(1, "std::net::IpAddr")]);
    check(core, "use std::time::{Duration, Instant};", &[(1, "std::time::Instant")]);
    check(core, "use std::time::SystemTime;", &[(1, "std::time::SystemTime")]);
    check(core, "tokio::spawn(x)", &[(1, "tokio::spawn")]);
    check(core, "use std::time::Duration; env!(x)", &[]);
    check("crates/kitbag-core/src/config/tests.rs", "use std::fs;", &[]);
    check("crates/kitbag/src/discover.rs", "use std::fs;", &[]);
}
