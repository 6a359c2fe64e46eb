use std::path::Path;

use super::{LOCK, PrivateFolder};

#[test]
fn what_a_killed_run_left_is_taken_away_and_what_is_in_use_is_not() {
    let house = tempfile::tempdir().unwrap();
    let below = house.path().join("agents");
    let used = PrivateFolder::new(&below).unwrap();
    used.write(Path::new("mcp.json"), "{}").unwrap();
    let left = below.join("left");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join(LOCK), "").unwrap();
    let next = PrivateFolder::new(&below).unwrap();
    assert!(used.path().join("mcp.json").exists() && next.path().exists() && !left.exists());
    let gone = used.path().to_owned();
    drop(used);
    assert!(!gone.exists());
}

#[cfg(unix)]
#[test]
fn nobody_else_can_look_into_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = tempfile::tempdir().unwrap();
    let folder = PrivateFolder::new(&house.path().join("agents")).unwrap();
    let file = folder.write(Path::new("mcp.json"), "{}").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.path()), mode(Path::new(&file))), (0o700, 0o600));
}
