use super::*;

/// Six values of a server after each other, of which four may be remembered.
#[test]
fn t42_eras_are_bounded_and_those_in_use_stay_longest() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Memory::load(folder.path().to_owned());
    let first = open();
    for value in ["a", "b", "c", "d"] {
        first.set(value, Some(Era::Modern), 4);
    }
    let second = open();
    assert_eq!(second.get("b"), Some(Era::Modern));
    second.set("e", Some(Era::Legacy), 4);
    let known = |memory: &Memory| ["a", "b", "c", "d", "e", "f"].map(|value| memory.get(value).is_some());
    assert_eq!(known(&open()), [false, true, false, false, true, false]);
    // With all of them in use it begins anew: it is a cache.
    for value in ["a", "c", "d", "f"] {
        second.set(value, Some(Era::Legacy), 4);
        assert!(second.eras.lock().unwrap().known.len() <= 4);
    }
    assert!(open().get("f").is_some());
}

#[test]
fn t42_a_file_of_eras_beyond_its_bound_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eras.json");
    let of = |size: usize| format!("{{\"a\": \"modern\"{}}}", " ".repeat(size));
    std::fs::write(&file, of(10)).unwrap();
    assert!(Memory::load(folder.path().to_owned()).get("a").is_some());
    std::fs::write(&file, of(LARGEST)).unwrap();
    assert!(Memory::load(folder.path().to_owned()).get("a").is_none());
}
