//! Patterns against servers that are known with their tools, known without, and not known.

use super::*;
use crate::config::settings;
use crate::model::Limits;

/// The findings about a `kitbag.toml`, as `message (hint)`, for the servers web (with tools) and new (without).
#[track_caller]
fn check(toml: &str, wanted: &[&str]) {
    let (settings, faults) = settings::read("kitbag.toml".as_ref(), toml, &Limits::default());
    assert!(faults.is_empty(), "{faults:?}");
    let mut known = KnownTools::default();
    let web = ServerName::parse("web").unwrap();
    known.add_tools(&web, ["get_page", "get_links", "search", "delete_page"].map(str::to_owned));
    known.add_server("new");
    let patterns: Vec<&Pattern> = settings.patterns.iter().collect();
    let told: Vec<String> = unmatched(&patterns, &known)
        .iter()
        .map(|fault| format!("{} ({})", fault.message, fault.hint.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(told, wanted, "{toml}");
}

#[test]
fn f55_a_pattern_that_matches_no_tool_is_found() {
    check("[servers.web]\ninclude = ['get_*', 'search']\nexclude = ['*']\napprove = ['delete_?age']", &[]);
    for key in ["include", "exclude", "approve", "idempotent", "read_only"] {
        let wanted = format!(
            "{key:?} in [servers.web]: it has no tool that matches \"gett_*\" (did you mean \"get_*\"?)"
        );
        check(&format!("[servers.web]\n{key} = ['gett_*']"), &[&wanted]);
    }
    check(
        "[servers.web]\nexclude = ['serch', 'xyz']",
        &[
            "\"exclude\" in [servers.web]: it has no tool called \"serch\" (did you mean \"search\"?)",
            "\"exclude\" in [servers.web]: it has no tool called \"xyz\" (correct it, or remove it: it has no effect)",
        ],
    );
    // What is not known may match.
    check("[servers.new]\ninclude = ['anything']\n[servers.new.tools.anything]\nname = 'x'", &[]);
}

#[test]
fn f55_a_section_for_no_tool_is_found() {
    check("[servers.web.tools.search]\nname = 'find'", &[]);
    check(
        "[servers.web.tools.serach]\nname = 'find'",
        &["[servers.web.tools.serach]: it has no tool called \"serach\" (did you mean \"search\"?)"],
    );
}

#[test]
fn f55_an_agents_slip_in_a_servers_name_is_found() {
    check("[agents.a]\nservers = ['web', 'n*']\nallow = ['web/get_*', 'new/any', '*/search', 'w*']", &[]);
    check(
        "[agents.a]\nservers = ['wep']\nallow = ['wep/*', 'web/gte_*']",
        &[
            "\"servers\" in [agents.a]: no server is called \"wep\" (did you mean \"web\"?)",
            "\"allow\" in [agents.a]: no server is called \"wep\" (did you mean \"web/*\"?)",
            "\"allow\" in [agents.a]: no tool matches \"web/gte_*\" (did you mean \"web/get_*\"?)",
        ],
    );
}

#[test]
fn f55_rules_say_which_tools_they_mean_before_their_conditions() {
    check(
        "[groups.g]\ndeny = ['web/* path == x']\n[servers.web]\napprove = ['search q != a*', 'risk:write']",
        &[],
    );
    check("[groups.g]\nallow = ['risk:write', 'new/any', '*/any', 'category:any']", &[]);
    check(
        "[groups.g]\ndeny = ['web/serch q == x', 'search', 'web', 'get_*']",
        &[
            "\"deny\" in [groups.g]: no tool is called \"web/serch\" (did you mean \"web/search\"?)",
            "\"deny\" in [groups.g]: no tool is called \"search\"; a rule here says server/tool \
             (did you mean \"web/search\"?)",
            "\"deny\" in [groups.g]: no tool is called \"web\"; a rule here says server/tool \
             (did you mean \"web/*\"?)",
            "\"deny\" in [groups.g]: no tool matches \"get_*\"; a rule here says server/tool \
             (did you mean \"*/get_*\"?)",
        ],
    );
    check(
        "[servers.web]\napprove = ['serch q == x']",
        &["\"approve\" in [servers.web]: it has no tool called \"serch\" (did you mean \"search\"?)"],
    );
}

#[test]
fn f55_a_category_is_missed_only_once_all_tools_are_known() {
    let toml = "[groups.g]\nallow = ['category:cod', 'category:c*']\n";
    let (settings, _) = settings::read("kitbag.toml".as_ref(), toml, &Limits::default());
    let patterns: Vec<&Pattern> = settings.patterns.iter().collect();
    let mut known = KnownTools::default();
    known.add_tools(&ServerName::parse("web").unwrap(), ["get_page".to_owned()]);
    known.add_category("code");
    let faults = unmatched(&patterns, &known);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].hint.as_deref(), Some("did you mean \"category:code\"?"));
    known.add_server("new");
    assert!(unmatched(&patterns, &known).is_empty());
}

#[test]
fn f55_a_finding_has_its_place() {
    let toml = "[servers.web]\ninclude = [\n  'get_*',\n  'nope',\n]\n";
    let (settings, _) = settings::read("kitbag.toml".as_ref(), toml, &Limits::default());
    let mut known = KnownTools::default();
    known.add_tools(&ServerName::parse("web").unwrap(), ["get_page".to_owned()]);
    let faults = unmatched(&settings.patterns.iter().collect::<Vec<_>>(), &known);
    let place = faults[0].place.as_ref().unwrap();
    assert_eq!((faults.len(), place.line, place.column), (1, 4, 3));
}
