use super::*;
use crate::files::File;

#[test]
fn f64_a_variable_that_is_read_is_explained() {
    let house = |docs: &str, path: &str| {
        let code = "let home = env.filled(\"KITBAG_HOME\");\nlet key = map.get(\"key\");\n";
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        House::new(vec![file(DOCS, docs), file(path, code)])
    };
    let source = "crates/kitbag/src/a.rs";
    assert!(check(&house("| `KITBAG_HOME` | moves |", source)).is_empty());
    let findings = check(&house("", source));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].line == 1 && findings[0].text.contains("KITBAG_HOME"), "{findings:?}");
    assert!(check(&house("", "crates/kitbag/src/tests/a.rs")).is_empty());
}
