use crate::tidy::tests::said;

#[track_caller]
fn check(text: &str, count: usize) {
    for path in ["crates/kitbag-core/src/config/entry.rs", "crates/kitbag/src/setup.rs"] {
        assert_eq!(said(super::check, path, text).len(), count, "{text}");
    }
    for path in
        ["crates/kitbag-core/src/config/dialect.rs", "crates/kitbag-core/src/config/tests/dialects.rs"]
    {
        assert_eq!(said(super::check, path, text).len(), 0, "{path}: {text}");
    }
}

#[test]
fn f38_code_outside_the_dialect_table_compares_no_dialect_id() {
    check(r#"if context.dialect.id == "goose" {}"#, 1);
    check(r#"if "goose" == context.dialect.id {}"#, 1);
    check(r#"if dialect.id != ALL[0].id {}"#, 1);
    check("if !matches!(\n    document.dialect.id,\n    \"gemini\" | \"qwen\"\n) {}", 1);
    check(r#"match dialect.id { "zed" => {} }"#, 1);
    check(r#"if row.origin.dialect == "zed" {}"#, 1);
    check("if row.origin.dialect == host {}", 0);
    check("wanted.contains(dialect.id); // dialect.id == \"zed\"", 0);
    check("Origin { dialect: dialect.id, place }", 0);
}
