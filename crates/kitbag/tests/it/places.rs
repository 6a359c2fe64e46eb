//! Where things are looked for, and what is done with what lies there.

use kitbag::files::{FolderOwner, Folders, host_files, project_files, read_folder, user_folders};
use kitbag::{Env, Limits};

use crate::House;

#[test]
fn t32_without_a_home_nothing_of_the_working_folder_is_ours() {
    let house = House::new();
    let env = Env::new([], house.path("project"));
    let folders = Folders::of(&env);
    for folder in [&folders.config, &folders.state, &folders.cache] {
        assert!(!folder.starts_with(house.path("project")), "{folder:?}");
    }
    assert!(host_files(&env).is_empty());
    house.put("project/.config/kitbag/mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#);
    let request = kitbag::DiscoverOptions { env, ..kitbag::DiscoverOptions::default() };
    assert_eq!(crate::states(&kitbag::Setup::discover(&request).unwrap()), "");
}

#[test]
fn every_place_has_a_dialect_that_knows_its_file() {
    let house = House::new();
    for found in host_files(&house.env()) {
        let dialect = found.dialect.unwrap_or_else(|| panic!("no dialect for {:?}", found.file));
        assert!(found.file.starts_with(house.path("home")), "{:?}", found.file);
        assert!(!dialect.title.is_empty());
    }
    assert!(project_files(&house.env()).iter().all(|found| found.file.starts_with(house.path("project"))));
}

#[test]
fn s2_12_a_folder_is_read_in_order_of_name_and_without_its_links() {
    let house = House::new();
    for name in ["b.json", "a.yaml", "c.toml", "d.jsonc"] {
        house.put(&format!("data/{name}"), "");
    }
    house.put("data/kitbag.toml", "");
    house.put("data/notes.txt", "");
    std::os::unix::fs::symlink(house.path("data/b.json"), house.path("data/z.json")).unwrap();
    let names = |kind: FolderOwner| -> Vec<String> {
        let (documents, _) = read_folder(&house.path("data"), kind, None, &Limits::default());
        documents
            .iter()
            .map(|document| document.file.file_name().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(FolderOwner::Shared), ["a.yaml", "b.json", "c.toml", "d.jsonc", "z.json"]);
    assert_eq!(names(FolderOwner::User), ["a.yaml", "b.json", "c.toml", "d.jsonc"]);
}

#[test]
fn a_folder_of_too_many_files_is_cut_with_a_fault() {
    let house = House::new();
    for n in 0..5 {
        house.put(&format!("data/{n}.json"), "{}");
    }
    let mut limits = Limits::default();
    limits.config_files = 3;
    let (documents, faults) = read_folder(&house.path("data"), FolderOwner::Shared, None, &limits);
    assert_eq!((documents.len(), faults.len()), (3, 1));
}

#[test]
fn a_file_larger_than_the_bound_is_a_fault_of_that_file() {
    let house = House::new();
    house.put("data/a.json", "{\"mcpServers\": {}}");
    house.put("data/b.json", " ".repeat(200));
    let mut limits = Limits::default();
    limits.config_file = 100;
    let (documents, _) = read_folder(&house.path("data"), FolderOwner::Shared, None, &limits);
    let faults: Vec<&str> =
        documents.iter().flat_map(|document| &document.faults).map(|fault| fault.kind.as_str()).collect();
    assert_eq!(faults, ["too_large"]);
}

#[test]
fn t33_only_real_folders_of_valid_ids_are_users() {
    let house = House::new();
    for name in ["user_ada", "user_Ada", "user_", "user_a.b", "user_a b", "USER_x", "other", "user_ä"] {
        std::fs::create_dir_all(house.path("data").join(name)).unwrap();
    }
    house.put("data/user_file", "");
    std::os::unix::fs::symlink(house.path("data/user_ada"), house.path("data/user_link")).unwrap();
    let users: Vec<String> =
        user_folders(&house.path("data")).into_iter().map(|(user, _)| user.to_string()).collect();
    assert_eq!(users, ["Ada", "ada"]);
}

#[test]
fn f16_programs_are_looked_for_in_absolute_folders_alone() {
    let house = House::new();
    house.put("bin/tool", "");
    let path = format!("{}:{}", house.path("nowhere").display(), house.path("bin").display());
    let env = house.env().with("PATH", &path);
    assert_eq!(env.program("tool", &house.path("")), None, "not to be executed");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(house.path("bin/tool"), all).unwrap();
    assert_eq!(env.program("tool", &house.path("")), Some(house.path("bin/tool")));
    assert_eq!(env.program("./bin/tool", &house.path("")).map(|path| path.is_file()), Some(true));
    assert_eq!(env.program("bin", &house.path("")), None);
    // Whoever writes into the folder somebody works in decides nothing.
    for path in ["bin", "", ":", ".:bin", "/nowhere::"] {
        let env = house.env().with("PATH", path);
        assert_eq!(env.program("tool", &house.path("")), None, "{path:?}");
        assert_eq!(env.program("tool", &house.path("bin")), None, "{path:?}");
    }
}
