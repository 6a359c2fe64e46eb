//! What a shell is told while somebody types, and the manual pages.

use super::Farm;
use crate::house::Runs as _;

/// What may follow these words, as the script for fish asks.
fn offered(farm: &Farm, words: &[&str]) -> Vec<String> {
    let asked: Vec<&str> = ["--", "kitbag"].iter().chain(words).copied().collect();
    let ran = farm.house.ask(&asked).env("KITBAG_COMPLETE", "fish").run().exits(0);
    ran.out.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn f64_completions_know_servers_tools_and_arguments_without_starting_one() {
    let farm = Farm::of("calc", &[]);
    farm.add("other", &["--tools", "1"]);
    assert!(offered(&farm, &["logs", ""]).starts_with(&["calc".to_owned(), "other".to_owned()]));
    // Nothing is remembered yet, and nobody is asked.
    assert!(!offered(&farm, &["call", "mcp_calc_"]).contains(&"mcp_calc_add".to_owned()));
    farm.house.run(&["tools"]).exits(0);
    let log = farm.log("calc");
    assert!(offered(&farm, &["call", "mcp_calc_a"]).contains(&"mcp_calc_add".to_owned()));
    assert!(offered(&farm, &["show", "calc/a"]).contains(&"calc/add".to_owned()));
    assert_eq!(offered(&farm, &["call", "calc/add", "a"]), ["a="]);
    assert!(offered(&farm, &["servers", "remove", "c"]).contains(&"calc".to_owned()));
    assert_eq!(farm.log("calc"), log);
    farm.is_empty();
}

#[test]
fn f64_there_is_a_manual_page_for_every_command() {
    let farm = Farm::new();
    let page = farm.house.run(&["man"]).exits(0).out;
    assert!(page.contains(".TH kitbag 1") && page.contains("Exit codes"), "{page}");
    let folder = farm.house.path("pages");
    farm.house.run(&["man", folder.to_str().unwrap()]).exits(0);
    for name in ["kitbag", "kitbag-call", "kitbag-servers-add"] {
        assert!(folder.join(format!("{name}.1")).exists(), "{name}");
    }
    let hidden = std::fs::read_dir(&folder).unwrap().map(|page| page.unwrap().file_name());
    assert!(hidden.into_iter().all(|name| !name.to_string_lossy().contains("conformance")));
    let file = farm.house.path("a-file");
    std::fs::write(&file, "").unwrap();
    farm.house.run(&["man", file.to_str().unwrap()]).fails(2, "a-file");
}
