use super::*;

fn folders(root: &Path) -> Folders {
    Folders { config: root.join("config"), state: root.join("state"), cache: root.join("cache") }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "state").collect();
    names.sort();
    names
}

#[test]
fn f93_a_file_that_changed_since_it_was_read_is_not_written() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("theirs.json");
    let lock = lock(&folders(root.path())).unwrap();
    fs::write(&file, "one").unwrap();
    let opened = lock.open(&file).unwrap();
    // Another program, which knows of no lock of ours.
    fs::write(&file, "two").unwrap();
    for refused in [opened.write("mine"), opened.write_with_copy("mine").map(|_| ()), opened.delete()] {
        assert!(refused.unwrap_err().to_string().contains("somebody else changed it"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(names(root.path()), ["theirs.json"], "neither a copy nor a half-written file");
    }
    fs::remove_file(&file).unwrap();
    assert!(opened.write("mine").is_err() && !file.exists(), "a file that went is not brought back");
    let opened = lock.open(&file).unwrap();
    fs::write(&file, "new").unwrap();
    assert!(opened.write("mine").is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new", "a file that came is not overwritten");
}

#[test]
fn f93_the_copy_is_of_the_bytes_that_were_read() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("theirs.json");
    let lock = lock(&folders(root.path())).unwrap();
    fs::write(&file, "one").unwrap();
    fs::write(root.path().join("theirs.json.kitbag-1.bak"), "older").unwrap();
    let copy = lock.open(&file).unwrap().write_with_copy("two").unwrap().unwrap();
    assert_eq!(copy, root.path().join("theirs.json.kitbag-2.bak"));
    assert_eq!(fs::read_to_string(copy).unwrap(), "one");
    assert_eq!(names(root.path()), ["theirs.json", "theirs.json.kitbag-1.bak", "theirs.json.kitbag-2.bak"]);
}

#[cfg(unix)]
#[test]
fn f103_a_link_that_moved_since_it_was_read_is_not_written_through() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    let lock = lock(&folders(root.path())).unwrap();
    fs::write(path("a"), "same").unwrap();
    fs::write(path("b"), "same").unwrap();
    std::os::unix::fs::symlink(path("a"), path("link")).unwrap();
    let opened = lock.open(&path("link")).unwrap();
    fs::remove_file(path("link")).unwrap();
    std::os::unix::fs::symlink(path("b"), path("link")).unwrap();
    assert!(opened.write("mine").is_err());
    assert_eq!(fs::read_to_string(path("a")).unwrap(), "same");
    assert_eq!(fs::read_to_string(path("b")).unwrap(), "same");
}
