use super::*;
use crate::files::File;

/// What is found in these files, as `file:line name public-file:line`.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
    let findings = check(&House::new(files.iter().map(file).collect()));
    findings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn defines(code: &str, expected: &[(&str, bool)]) {
    let found: Vec<_> = definitions(code).iter().map(|defined| (defined.name, defined.is_public)).collect();
    assert_eq!(found, expected, "{code}");
}

const CORE: &str = "crates/kitbag-core/src/a.rs";
const LIBRARY: &str = "crates/kitbag/src/b.rs";

#[test]
fn f33_a_public_name_is_defined_once() {
    for (first, second) in [
        ("pub struct Note;", "pub enum Note { A }"),
        ("pub trait Note {}", "pub type Note = u8;"),
        ("pub struct Note;", "struct Note;"),
        ("pub(crate) struct Note;", "pub union Note { a: u8 }"),
        ("pub struct Note;", "mod inner {\n    pub(super) struct Note(u8);\n}"),
    ] {
        let found = found(&[(CORE, first), (LIBRARY, second)]);
        assert_eq!(found.len(), 1, "{first} {second}: {found:?}");
        assert!(found[0].contains("type `Note` is defined twice"), "{found:?}");
        assert!(found[0].contains(CORE) && found[0].contains(LIBRARY), "both places: {found:?}");
    }
    let thrice =
        found(&[(CORE, "pub struct Note;"), (LIBRARY, "struct Note;\nmod a {\n    struct Note;\n}")]);
    assert_eq!(thrice.len(), 2, "{thrice:?}");
    assert!(thrice[1].starts_with("crates/kitbag/src/b.rs:3: "), "{thrice:?}");
}

#[test]
fn f33_names_that_nobody_else_sees_may_be_alike() {
    for (first, second) in [
        ("struct Note;", "pub(crate) struct Note;"),
        ("pub struct Note;", "fn f() {\n    struct Note;\n    enum Inner { A }\n}"),
        ("pub struct Note;", "#[cfg(test)]\nmod tests {\n    struct Note;\n}"),
        ("pub struct Note;", "impl Iterator for Other {\n    type Note = u8;\n}"),
        ("pub struct Note;", "pub use core::Note;\n// struct Note;"),
    ] {
        assert_eq!(found(&[(CORE, first), (LIBRARY, second)]), Vec::<String>::new(), "{first} {second}");
    }
    let other = [(CORE, "pub struct Note;"), ("crates/testkit/src/a.rs", "pub struct Note;")];
    assert_eq!(found(&other), Vec::<String>::new());
    let test = [(CORE, "pub struct Note;"), ("crates/kitbag/src/b/tests.rs", "struct Note;")];
    assert_eq!(found(&test), Vec::<String>::new());
}

#[test]
fn types_are_found_wherever_they_are_defined() {
    defines(
        "#[derive(Debug)]\npub struct A<T>(T);\npub(in crate::x) enum B { C }",
        &[("A", true), ("B", false)],
    );
    defines("pub unsafe trait A { type B; fn f() { struct C; } }\nstruct D;", &[("A", true), ("D", false)]);
    defines(
        "impl A { fn f(&self) -> Vec<u8> { struct C; if x { enum D {} } } }\npub type E = fn();",
        &[("E", true)],
    );
    defines(
        "macro_rules! m { ($name:ident) => { pub struct $name; } }\nm! { pub struct A { a: u8 } }",
        &[("A", true)],
    );
    defines("pub struct A { union: u8, r#type: u8 }\nconst UNION: u8 = union + 1;", &[("A", true)]);
    defines(
        "pub const fn f() -> u8 { 1 }\npub struct A {\n    f: u8,\n}\nenum B {}",
        &[("A", true), ("B", false)],
    );
}
