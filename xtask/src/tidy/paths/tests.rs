use super::*;

#[track_caller]
fn check(code: &str, expected: &[&str]) {
    let found: Vec<_> = paths(code).iter().map(|named| named.parts.join("::")).collect();
    assert_eq!(found, expected, "{code:?}");
}

#[test]
fn groups_are_written_out() {
    check("::std::fs::read(x)", &["std::fs::read", "x"]);
    check("crate::{a, b::{c, d as e}, self}", &["crate::a", "crate::b::c", "crate::b::d", "crate::self"]);
    check("crate::{\n  a::*,\n  b,\n}; c", &["crate::a", "crate::b", "c"]);
    check("Vec::<T>::new()", &["Vec", "T", "new"]);
    check("a\n  ::b", &["a::b"]);
}

#[test]
fn a_path_knows_its_line() {
    let lines: Vec<_> = paths("a\nuse b::{\n  c,\n}\n").iter().map(|named| named.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}
