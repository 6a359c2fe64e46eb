use crate::tidy::tests::said;

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(said(super::check, path, text), expected, "{path} {text:?}");
}

#[test]
fn a_stage_uses_earlier_stages_only() {
    let config = "crates/kitbag-core/src/config.rs";
    let later = |line: usize| format!("{config}:{line}: stage `config` uses the later stage `present`");
    check(config, "use crate::names::ToolName;\nuse crate::config::raw;", &[]);
    check(config, "// crate::present\nlet x = \"crate::present\";", &[]);
    check(config, "use crate::{\n    names,\n    present::Text,\n};", &[&later(3)]);
    check(config, "\nfn f() { crate::present::f() }", &[&later(2)]);
    check(config, "use super::present;", &[&later(1)]);
    let inner = "crates/kitbag-core/src/config/dialect.rs";
    check(inner, "use super::present;", &[]);
    check(inner, "use super::super::present;", &[&later(1).replace("config.rs", "config/dialect.rs")]);
    check("crates/kitbag-core/src/lib.rs", "pub use crate::present::Text;", &[]);
    check("crates/kitbag-core/src/names.rs", "use crate::fault::Fault;", &[]);
    for stage in ["shape", "present", "search"] {
        check(&format!("crates/kitbag-core/src/{stage}.rs"), "use crate::schema::Schema;", &[]);
    }
}

#[test]
fn the_library_has_its_order_too() {
    check("crates/kitbag/src/registry/write.rs", "use crate::discover::find;", &[]);
    check(
        "crates/kitbag/src/discover.rs",
        "use crate::connect::Link;",
        &["crates/kitbag/src/discover.rs:1: stage `discover` uses the later stage `connect`"],
    );
}

#[test]
fn a_module_without_a_place_is_named() {
    check(
        "crates/kitbag/src/misc/x.rs",
        "",
        &[
            "crates/kitbag/src/misc/x.rs:1: module `misc` has no place in the stage order (xtask/src/tidy/stages.rs)",
        ],
    );
}
