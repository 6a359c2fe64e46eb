use super::{address, one, said, spec};
use crate::config::{Dialect, template};
use crate::model::{ConfigFolder, Secret, Template, ValueSource};

/// `A` is set to text that looks like a reference, `E` is set and empty.
struct Known;

impl ValueSource for Known {
    fn var(&self, name: &str) -> Option<String> {
        match name {
            "A" => Some("${B}$B%B%".to_owned()),
            "E" => Some(String::new()),
            _ => None,
        }
    }

    fn input(&self, id: &str) -> Option<Secret> {
        (id == "k").then(|| Secret::new("${A}"))
    }

    fn folder(&self, folder: ConfigFolder) -> Option<String> {
        (folder != ConfigFolder::Plugin).then(|| format!("/{}", folder.as_str()))
    }

    fn env_file(&self, path: &str) -> Result<Vec<(String, Secret)>, String> {
        Err(format!("{path} does not exist"))
    }
}

fn value(dialect: &str, text: &str) -> Result<String, String> {
    let template: Template = template(text, Dialect::by_id(dialect).unwrap());
    assert_eq!(template.written(), text);
    template.resolve(&Known).map_err(|missing| format!("{missing:?}"))
}

#[test]
fn every_form_is_expanded_once() {
    let check = |dialect: &str, text: &str, want: &str| {
        assert_eq!(value(dialect, text).as_deref(), Ok(want), "{dialect} {text}");
    };
    let a = "${B}$B%B%";
    for dialect in ["plain", "gemini", "librechat", "opencode"] {
        check(dialect, "${A}", a);
        check(dialect, "${env:A}", a);
        check(dialect, "x${A}y${A}", &format!("x{a}y{a}"));
        check(dialect, "${NO:-b c}", "b c");
        check(dialect, "${NO:-pa$$w}", "pa$$w");
        check(dialect, "${A:-b}", a);
        check(dialect, "${E:-b}", "b");
        check(dialect, "${E}", "");
        check(dialect, "${input:k}", "${A}");
        check(dialect, "${workspaceFolder}/x", "/workspaceFolder/x");
        check(dialect, "${workspaceFolder:api}/x", "/workspaceFolder/x");
        check(dialect, "${workspaceFolderBasename}", "/workspaceFolderBasename");
        check(dialect, "${userHome}", "/userHome");
        check(dialect, "$", "$");
        check(dialect, "${}", "${}");
        check(dialect, "${A", "${A");
        check(dialect, "a}b", "a}b");
    }
    check("gemini", "$A", a);
    check("gemini", "%A%", a);
    check("qwen", "$A/x", &format!("{a}/x"));
    check("gemini", "100% of %", "100% of %");
    check("gemini", "$1 and $-", "$1 and $-");
    check("opencode", "{env:A}", a);
    check("librechat", "{{A}}", a);
    check("librechat", "{{ A }}", a);
    // Others leave these alone.
    check("plain", "$A %A% {env:A} {{A}}", "$A %A% {env:A} {{A}}");
    check("opencode", "{{A}}", "{{A}}");
}

#[test]
fn what_is_missing_is_named() {
    let check = |text: &str, want: &str| assert_eq!(value("plain", text), Err(want.to_owned()), "{text}");
    check("${NO}", "[Var(\"NO\")]");
    check("${NO}${env:NEVER}", "[Var(\"NO\"), Var(\"NEVER\")]");
    check("${input:x}", "[Input(\"x\")]");
    check("${CLAUDE_PLUGIN_ROOT}", "[Folder(Plugin)]");
    check("${PLUGIN_ROOT}", "[Folder(Plugin)]");
    let spec = spec(
        "plain",
        "{\"mcpServers\": {\"a\": {\"command\": \"${NO}\",\n \"env\": {\"X\": \"${NO} ${input:x}\"}}}}",
    );
    let faults: Vec<String> = spec.resolve(&Known).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "x.json:1:23: a: variable NO is not set (set NO in the environment, or write ${NO:-default})",
            "x.json:2:2: a: no value for input \"x\" (set KITBAG_INPUT_X, or run `kitbag doctor` on a terminal to be asked once)",
        ]
    );
}

#[test]
fn stray_spellings_get_a_hint() {
    let check = |text: &str, want: &str| {
        let loaded = one("plain", &format!(r#"{{"mcpServers": {{"a": {{"command": "{text}"}}}}}}"#));
        let said = said(&loaded).join("");
        assert!(if want.is_empty() { said.is_empty() } else { said.contains(want) }, "{text}: {said}");
    };
    check("$HOME/x", "a reference to HOME in a spelling that is not expanded (write ${HOME})");
    check("{env:KEY}", "a reference to KEY in a spelling that is not expanded (write ${KEY})");
    check("{{KEY}}", "a reference to KEY in a spelling that is not expanded (write ${KEY})");
    check("${KEY", "a reference that is not closed (write ${NAME})");
    check("${A:-${B}}", "a reference that is not closed (write ${NAME})");
    check("${a b}", "a reference that nobody expands (write ${NAME})");
    check("$1", "");
    check("{{name}}", "");
    check("${KEY}", "");
    assert!(!address(&spec("gemini", r#"{"mcpServers": {"a": {"command": "$HOME/x"}}}"#)).is_literal());
}
