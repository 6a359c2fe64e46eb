use std::path::Path;
use std::time::Duration;

use crate::config::layers::{Layer, Layered, merge};
use crate::config::{Document, Reading, Source, read, tree};
use crate::model::*;

const SECRET: &str = "PLANTED-SECRET";

fn document(text: &str) -> Document {
    let limits = Limits::default();
    read(Path::new("x.json"), text, Reading { dialect: None, workspace: None, limits: &limits })
}

fn spec(entry: &str) -> ServerSpec {
    let mut document = document(&format!("{{\"mcpServers\": {{\"a\": {entry}}}}}"));
    let loaded = document.servers.remove(0);
    loaded.spec.unwrap_or_else(|| panic!("{:?}", loaded.faults))
}

struct Planted;

impl ValueSource for Planted {
    fn var(&self, _: &str) -> Option<String> {
        Some(SECRET.to_owned())
    }

    fn input(&self, _: &str) -> Option<Secret> {
        Some(Secret::new(SECRET))
    }

    fn folder(&self, _: ConfigFolder) -> Option<String> {
        Some(SECRET.to_owned())
    }

    fn env_file(&self, _: &str) -> Result<Vec<(String, Secret)>, String> {
        Ok(vec![("F".to_owned(), Secret::new(SECRET))])
    }
}

const STDIO: &str = r#"{"command": "${V}", "args": ["--token", "PLANTED-SECRET", "${V:-PLANTED-SECRET}"],
    "env": {"K": "PLANTED-SECRET"}, "envFile": "${V}", "cwd": "${V}", "apiKey": "PLANTED-SECRET",
    "inputs": [{"id": "k", "default": "PLANTED-SECRET"}]}"#;
const REMOTE: &str = r#"{"url": "https://a:PLANTED-SECRET@h/?token=PLANTED-SECRET", "headers": {"K": "PLANTED-SECRET"},
    "authToken": "PLANTED-SECRET"}"#;

#[test]
fn no_type_that_holds_a_secret_prints_it() {
    let text = format!("{{\"mcpServers\": {{\"a\": {STDIO}, \"b\": {REMOTE}}}}}");
    let document = document(&text);
    let source = Source::new(Path::new("x.json"), &text);
    let root = tree::parse(&source, tree::Format::Json, &Limits::default()).unwrap();
    let layered = Layered { layer: Layer::Shared, used: true, user: None, document: document.clone() };
    let (stdio, remote) = (spec(STDIO), spec(REMOTE));
    let secret = Secret::new(SECRET);
    let template = Template::literal(SECRET);
    let shown = [
        format!("{secret:?} {secret}"),
        format!("{template:?} {:?}", template.pieces()),
        format!(
            "{:?} {:?}",
            Piece::Text(SECRET.into()),
            Piece::Var { name: "A".into(), default: Some(SECRET.into()) }
        ),
        format!("{stdio:?} {:?} {:?} {:?}", stdio.link, stdio.extra, stdio.inputs),
        format!("{remote:?} {:?}", remote.link),
        format!("{:?} {:?}", stdio.resolve(&Planted), remote.resolve(&Planted)),
        format!("{:?} {:?}", stdio.shown(), remote.shown()),
        format!("{:?} {:?}", stdio.shown_args(Defaults::Masked), document),
        format!("{layered:?} {:?}", merge(vec![layered.clone()], &|_| true)),
        format!("{source:?} {root:?}"),
    ];
    for shown in shown {
        assert!(!shown.contains("PLANTED") && 3 < shown.len(), "{shown}");
    }
}

#[test]
fn arguments_and_addresses_lose_their_secrets_and_keep_their_references() {
    let args = |args: &[&str], want: &[&str]| {
        let spec = spec(&serde_json::json!({"command": "c", "args": args}).to_string());
        assert_eq!(spec.shown_args(Defaults::Masked), want);
    };
    args(&["--token", SECRET, "-y"], &["--token", "***", "-y"]);
    args(&["--token", "${T}"], &["--token", "${T}"]);
    args(&["--token", "PLANTED-SECRET${T}"], &["--token", "***${T}"]);
    args(&["--api-key=PLANTED-SECRET"], &["--api-key=***"]);
    args(&["--api-key=${T}"], &["--api-key=${T}"]);
    args(&["--env=API_KEY=x", "-e", "TOKEN=x"], &["--env=API_KEY=***", "-e", "TOKEN=***"]);
    args(&["--header", "Authorization: Bearer x"], &["--header", "Authorization:***"]);
    args(&["--header", "X-Any:${T}"], &["--header", "X-Any:${T}"]);
    args(&["Authorization: Bearer x y"], &["Authorization: ***"]);
    args(&["npx \"--token\" - \"x\"", "-y"], &["npx \"--token\" - ***", "-y"]);
    args(&["npx '--token'", "x"], &["npx '--token'", "***"]);
    args(&["npx  --token  x a=1"], &["npx  --token  *** a=1"]);
    args(&["image/secrets:1", "C:\\x", "a=b"], &["image/secrets:1", "C:\\x", "a=b"]);
    args(&["https://u:p@h/?token=x&y=1"], &["https://***@h/?token=***&y=1"]);
    let url = |url: &str, want: &str| {
        let template = crate::config::template(url, &crate::config::dialect::ALL[0]);
        assert_eq!(template.shown_as_url(Defaults::Masked), want);
    };
    url(
        "https://a:PLANTED${B}@h/${P}?token=${T}&key=x&y=${Y}",
        "https://***${B}@h/${P}?token=${T}&key=***&y=${Y}",
    );
    url("https://${H}/?a=${A}&api_key=x", "https://${H}/?a=${A}&api_key=***");
    url("${URL:-https://a:b@h/}", "${URL:-***}");
    url("https://h/\u{f0000}x", "https://h/\u{fffd}x");
}

#[test]
fn an_approval_is_bound_to_all_that_decides_what_runs() {
    let stdio = r#"{"command": "c", "args": ["a"], "env": {"E": "1"}, "env_vars": ["P"], "cwd": "/w", "envFile": "f", "description": "d"}"#;
    let remote = r#"{"type": "http", "url": "https://h/", "headers": {"K": "v"}, "authToken": "t"}"#;
    let check = |base: &str, from: &str, to: &str, same: bool| {
        let (before, after) = (spec(base), spec(&base.replacen(from, to, 1)));
        assert_eq!(
            before.trust_hash(&Seen::default()) == after.trust_hash(&Seen::default()),
            same,
            "{from} → {to}"
        );
        assert_eq!(before.fingerprint() == after.fingerprint(), same, "{from} → {to}");
    };
    check(stdio, "\"c\"", "\"d\"", false);
    check(stdio, "[\"a\"]", "[\"b\"]", false);
    check(stdio, "[\"a\"]", "[\"a\", \"\"]", false);
    check(stdio, "\"1\"", "\"2\"", false);
    check(stdio, "\"E\"", "\"F\"", false);
    check(stdio, "\"P\"", "\"Q\"", false);
    check(stdio, "/w", "/v", false);
    check(stdio, "\"f\"", "\"g\"", false);
    check(remote, "https://h/", "https://i/", false);
    check(remote, "\"http\"", "\"sse\"", false);
    check(remote, "\"v\"", "\"w\"", false);
    check(remote, "\"K\"", "\"L\"", false);
    check(remote, "\"t\"", "\"u\"", false);
    check(remote, "\"authToken\"", "\"x-none\"", false);
    check(stdio, "\"d\"", "\"e\"", true);
    check(stdio, "{", "{\"enabled\": false, \"timeout\": 5, \"lazy\": true, ", true);
    check(remote, "{", "{\"disabled\": true, \"timeout\": 5, \"trust\": true, ", true);
    let base = spec(stdio);
    let mut moved = base.clone();
    moved.origin.place.file = Path::new("y.json").into();
    assert_ne!(base.trust_hash(&Seen::default()), moved.trust_hash(&Seen::default()));
    assert_eq!(base.fingerprint(), moved.fingerprint());
    assert_ne!(base.trust_hash(&Seen::default()), base.trust_hash(&seen("V")));
    let filed = |text: &str| Seen { env_file: Some(text.to_owned()), ..Seen::default() };
    assert_ne!(base.trust_hash(&Seen::default()), base.trust_hash(&filed("A=1")));
    assert_ne!(base.trust_hash(&filed("A=2")), base.trust_hash(&filed("A=1")), "f15: what it holds counts");
}

fn seen(name: &str) -> Seen {
    Seen { variables: vec![(name.to_owned(), "c".to_owned())], env_file: None }
}

#[test]
fn no_two_kinds_of_value_look_alike_to_an_approval() {
    let differ = |one: &str, other: &str| {
        assert_ne!(
            spec(one).trust_hash(&Seen::default()),
            spec(other).trust_hash(&Seen::default()),
            "{one} {other}"
        );
    };
    differ(r#"{"command": "c", "env": {"arg": "x"}}"#, r#"{"command": "c", "args": ["x"]}"#);
    differ(r#"{"command": "c", "env": {"cwd": "x"}}"#, r#"{"command": "c", "cwd": "x"}"#);
    differ(r#"{"command": "c", "env": {"pass": "x"}}"#, r#"{"command": "c", "env_vars": ["x"]}"#);
    differ(r#"{"command": "c", "env": {"env_file": "x"}}"#, r#"{"command": "c", "envFile": "x"}"#);
    differ(
        r#"{"url": "http://h/", "headers": {"bearer": "x"}}"#,
        r#"{"url": "http://h/", "authToken": "x"}"#,
    );
    let one = spec(r#"{"command": "c", "env": {"command": "d"}}"#);
    assert_ne!(one.trust_hash(&Seen::default()), spec(r#"{"command": "d"}"#).trust_hash(&seen("command")));
}

#[test]
fn settings_override_what_a_file_says() {
    let mut spec = spec(r#"{"command": "c", "include": ["a"], "exclude": ["b"], "required": true}"#);
    spec.apply(&Overrides::default());
    assert!(spec.required && spec.enabled && spec.filter.include == ["a"]);
    spec.apply(&Overrides {
        enabled: Some(false),
        include: Some(vec![]),
        concurrency: Some(2),
        call: Some(Duration::from_secs(3)),
        per_user: Some(true),
        ..Overrides::default()
    });
    assert_eq!((spec.waits.call, spec.waits.connect), (Some(Duration::from_secs(3)), None));
    assert!(spec.per_user);
    spec.apply(&Overrides { connect: Some(Duration::from_secs(4)), ..Overrides::default() });
    assert_eq!(
        spec.waits.call.zip(spec.waits.connect),
        Some((Duration::from_secs(3), Duration::from_secs(4)))
    );
    assert!(!spec.enabled && spec.filter.include.is_empty() && spec.filter.exclude == ["b"]);
    assert_eq!(spec.concurrency, Some(2));
    spec.apply(&Overrides { exclude: Some(vec!["c".to_owned()]), ..Overrides::default() });
    assert_eq!(spec.filter.exclude, ["b", "c"], "f3: what a file excludes no other brings back");
}

#[test]
fn the_variable_of_an_input() {
    assert_eq!(input_variable("github-token 2é"), "KITBAG_INPUT_GITHUB_TOKEN_2_");
}

#[test]
fn per_user_is_read_and_written() {
    for key in ["per_user", "perUser"] {
        let spec = spec(&format!(r#"{{"command": "c", "{key}": true}}"#));
        assert!(spec.per_user && crate::config::own::entry(&spec)["per_user"] == true, "{key}");
    }
    assert!(!spec(r#"{"command": "c"}"#).per_user);
    let broken = super::one("kitbag", r#"{"mcpServers": {"a": {"command": "c", "per_user": 1}}}"#);
    assert!(broken.spec.is_none());
}

#[test]
fn mask_results_is_read_and_written() {
    for key in ["mask_results", "maskResults"] {
        let spec = spec(&format!(r#"{{"command": "c", "{key}": true}}"#));
        assert!(spec.mask_results && crate::config::own::entry(&spec)["mask_results"] == true, "{key}");
    }
    let mut spec = spec(r#"{"command": "c"}"#);
    assert!(!spec.mask_results);
    spec.apply(&Overrides { mask_results: Some(true), ..Overrides::default() });
    assert!(spec.mask_results && spec.shown()["mask_results"] == true);
    let broken = super::one("kitbag", r#"{"mcpServers": {"a": {"command": "c", "mask_results": "no way"}}}"#);
    assert!(broken.spec.is_none());
}
