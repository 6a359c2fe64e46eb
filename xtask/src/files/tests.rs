use super::*;

#[test]
fn git_and_walk_both_find_the_sources() {
    let root = crate::shell::root();
    let walked = from_walk(root).unwrap();
    assert!(walked.iter().any(|path| path == "xtask/src/files.rs"), "{walked:?}");
    assert!(!walked.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    let loaded = load(root).unwrap();
    assert!(loaded.iter().any(|file| file.path == "xtask/src/files.rs"));
}
