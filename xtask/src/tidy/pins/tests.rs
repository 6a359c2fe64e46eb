use super::*;
use crate::files::File;

#[track_caller]
fn check(workspace: &str, library: &str, expected: &[(&str, usize)]) {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let house = House::new(vec![
        file(WORKSPACE, &format!("[workspace.dependencies]\n{workspace}\n")),
        file(LIBRARIES[1], &format!("[package]\nname = \"kitbag\"\n[dependencies]\n{library}\n")),
    ]);
    let found = super::check(&house);
    let found: Vec<_> = found.iter().map(|finding| (finding.file.as_str(), finding.line)).collect();
    assert_eq!(found, expected, "{workspace} {library}");
}

#[test]
fn f36_no_library_depends_on_exactly_one_version() {
    check("a = \"=1.2.3\"", "a.workspace = true", &[(WORKSPACE, 2)]);
    check(
        "b = \"1\"\na = { version = \"=1.2.3\" }",
        "a = { workspace = true, optional = true }",
        &[(WORKSPACE, 3)],
    );
    check("", "a = \"=1.2.3\"", &[(LIBRARIES[1], 4)]);
    check("", "a = { version = \"= 1.2.3\", features = [\"x\"] }", &[(LIBRARIES[1], 4)]);
    check(
        "a = \"1.2\"\nb = \"=1\"",
        "a.workspace = true\nc = { version = \"0.3\", features = [\"b\"] }",
        &[],
    );
    check("a = \"=1\"", "[dev-dependencies]\na.workspace = true", &[]);
    check("a = \"=1\"", "[target.'cfg(unix)'.dependencies]\na.workspace = true", &[(WORKSPACE, 2)]);
}
