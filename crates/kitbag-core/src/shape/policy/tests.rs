use serde_json::{Map, Value, json};

use super::*;
use crate::catalog::ToolAnnotations;
use crate::model::RiskWord;
use crate::shape::tests::tool;

fn rule(text: &str) -> PolicyRule {
    PolicyRule::parse(text, None).unwrap()
}

fn rules(texts: &[&str]) -> Vec<PolicyRule> {
    texts.iter().map(|text| rule(text)).collect()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// What becomes of a call of `fs/write_file` under one approve rule.
#[track_caller]
fn check(text: &str, arguments: Value, asks: bool) {
    let set = RuleSet::new("[groups.x]", None, Vec::new(), rules(&[text]));
    let access =
        set.access(&tool(json!({"name": "write_file", "inputSchema": {}})), Risk::default()).unwrap();
    let decided = access.decide(&object(arguments.clone()));
    assert_eq!(matches!(decided, CallDecision::Ask(_)), asks, "{text} {arguments}: {decided:?}");
}

#[test]
fn s3_19_rules_look_at_arguments() {
    let outside = "*/write_file path != /srv/data/**";
    check(outside, json!({"path": "/srv/data/a/b"}), false);
    check(outside, json!({"path": "/etc/passwd"}), true);
    // Where a path leads counts, not how it begins.
    check(outside, json!({"path": "/srv/data/../../etc/passwd"}), true);
    check(outside, json!({"path": "/srv/data/./x//y"}), false);
    check(outside, json!({"path": "data/a"}), true);
    check(outside, json!({"path": ["/srv/data/a", "/etc"]}), true);
    check(outside, json!({"path": {"odd": 1}}), true);
    check(outside, json!({}), true);
    let inside = "*/write_file path == /etc/**";
    check(inside, json!({"path": "/tmp/../etc/passwd"}), true);
    check(inside, json!({"path": "/tmp/x"}), false);
    check(inside, json!({}), false);
    let amount = "*/* amount > 100";
    check(amount, json!({"amount": 101}), true);
    check(amount, json!({"amount": "1e3"}), true);
    check(amount, json!({"amount": 100}), false);
    check(amount, json!({"amount": "many"}), true);
    check(amount, json!({}), true);
    let both = "*/* options.force == true and to != *@example.com";
    check(both, json!({"options": {"force": true}, "to": "a@elsewhere.com"}), true);
    check(both, json!({"options": {"force": false}, "to": "a@elsewhere.com"}), false);
    check(both, json!({"options": {"force": true}, "to": "a@example.com"}), false);
}

#[test]
fn s3_19_what_permits_by_arguments_permits_nothing_else() {
    let set = RuleSet::new("[groups.x]", Some(rules(&["*/read path == /srv/**"])), Vec::new(), Vec::new());
    let access = set.access(&tool(json!({"name": "read", "inputSchema": {}})), Risk::default()).unwrap();
    let denied = |arguments: Value| matches!(access.decide(&object(arguments)), CallDecision::Deny { .. });
    assert!(!denied(json!({"path": "/srv/a"})));
    assert!(!denied(json!({"path": ["/srv/a", "/srv/b"]})));
    assert!(denied(json!({"path": "/srv/../etc"})));
    assert!(denied(json!({"path": ["/srv/a", "/etc"]})));
    assert!(denied(json!({"path": []})));
    assert!(denied(json!({})));
}

#[test]
fn deny_beats_approve_beats_allow() {
    let set = RuleSet::new(
        "[groups.x]",
        Some(rules(&["*/get_*", "*/put_*"])),
        rules(&["*/put_all"]),
        rules(&["*/put_*"]),
    );
    let access = |name: &str| set.access(&tool(json!({"name": name, "inputSchema": {}})), Risk::default());
    assert!(access("get_a").unwrap().is_free());
    assert!(access("put_a").unwrap().asks().is_some());
    assert_eq!(access("put_all").unwrap_err(), "denied by \"*/put_all\" of [groups.x]");
    assert_eq!(access("other").unwrap_err(), "not in the allow list of [groups.x]");
}

#[test]
fn t23_a_risk_nobody_vouched_for_is_the_worst_where_it_restricts_and_none_where_it_permits() {
    let tool = tool(json!({"name": "x", "inputSchema": {}}));
    let denied = |word: &str, risk| {
        RuleSet::new("g", None, rules(&[&format!("risk:{word}")]), Vec::new()).access(&tool, risk).is_err()
    };
    let allowed = |word: &str, risk| {
        let allow = Some(rules(&[&format!("risk:{word}")]));
        RuleSet::new("g", allow, Vec::new(), Vec::new()).access(&tool, risk).is_ok()
    };
    let words = RiskWord::WORDS;
    let of = |f: &dyn Fn(&str) -> bool| words.iter().filter(|word| f(word)).copied().collect::<Vec<_>>();
    let unknown = Risk::default();
    assert_eq!(of(&|word| denied(word, unknown)), ["write", "destructive", "open"]);
    assert_eq!(of(&|word| allowed(word, unknown)), [""; 0]);
    let reads = Risk::of_words(["read"]);
    assert_eq!(of(&|word| denied(word, reads)), ["read"]);
    assert_eq!(of(&|word| allowed(word, reads)), ["read"]);
    let destroys = ToolAnnotations::default().risk();
    assert_eq!(of(&|word| denied(word, destroys)), ["write", "destructive", "open"]);
    assert_eq!(of(&|word| allowed(word, destroys)), ["destructive", "open"]);
    let writes = Risk::of_words(["write", "open"]);
    assert_eq!(of(&|word| denied(word, writes)), ["write", "open"]);
    assert_eq!(of(&|word| allowed(word, writes)), ["write", "open"]);
}

#[track_caller]
fn check_bad(text: &str, why: &str) {
    let bad = PolicyRule::parse(text, None).unwrap_err();
    assert!(bad.why.contains(why), "{bad}");
}

#[test]
fn rules_that_cannot_be_read_say_why() {
    check_bad("risk:destructiv", "did you mean risk:destructive?");
    check_bad("fs/[a", "unclosed");
    check_bad("path == x", "a condition needs a pattern before it");
    check_bad("fs/* amount > much", "\"much\" is not a number");
    check_bad("fs/* path == ", "is not a pattern of tools");
}

#[test]
fn names_with_blanks_are_names() {
    let set = RuleSet::new("g", None, rules(&["Crypto Price/get x == 1"]), Vec::new());
    let (_, rule) = set.rules().next().unwrap();
    assert!(rule.is_conditional() && rule.may_mean_some_of(&ServerName::parse("Crypto Price").unwrap()));
}

#[test]
fn servers_of_which_nothing_is_left_are_known() {
    let server = ServerName::parse("github").unwrap();
    let shows = |allow: Option<&[&str]>, deny: &[&str]| {
        RuleSet::new("g", allow.map(rules), rules(deny), Vec::new()).may_show(&server)
    };
    assert!(shows(None, &[]) && shows(None, &["github/delete_*"]) && shows(None, &["github/* x == 1"]));
    assert!(
        !shows(None, &["github/*"])
            && !shows(None, &["*"])
            && !shows(None, &["*/*"])
            && !shows(None, &["git*/**"])
    );
    assert!(shows(Some(&["git*"]), &[]) && shows(Some(&["category:x"]), &[]) && !shows(Some(&["fs/*"]), &[]));
    assert!(!shows(Some(&[]), &[]));
}

#[test]
fn s2_18_where_a_risk_is_not_known_the_refusal_says_what_to_do() {
    let tool = tool(json!({"name": "read", "inputSchema": {}}));
    for rules in [
        RuleTexts {
            deny: vec![RuleText { text: "risk:destructive".into(), place: None }],
            ..RuleTexts::default()
        },
        RuleTexts {
            allow: Some(vec![RuleText { text: "risk:read".into(), place: None }]),
            ..RuleTexts::default()
        },
    ] {
        let (set, _) = RuleSet::read("[groups.g]", &rules);
        let refusal = |risk| set.access(&tool, risk).err();
        let unknown = refusal(Risk::default()).unwrap();
        assert!(unknown.contains("kitbag pins approve "), "{unknown}");
        let known = refusal(Risk::of_words(["destructive"])).unwrap();
        assert!(!known.contains("pins"), "{known}");
        assert_eq!(refusal(Risk::of_words(["read"])), None);
    }
}
