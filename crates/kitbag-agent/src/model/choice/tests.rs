use super::*;
use crate::model::Model as _;

fn env(vars: &[(&str, &str)]) -> Env {
    vars.iter().fold(Env::default(), |env, (name, value)| env.with(name, value))
}

fn chosen(flag: &str, vars: &[(&str, &str)]) -> Result<String, ModelError> {
    let choice = ModelChoice { flag: Some(flag.to_owned()), agent: None };
    choose(&choice, &env(vars), &Limits::default()).map(|model| model.id().to_string())
}

#[track_caller]
fn check(flag: &str, vars: &[(&str, &str)], expected: &str) {
    let got = chosen(flag, vars).unwrap_or_else(|error| error.to_string());
    assert!(got.contains(expected), "{flag:?} {vars:?}: {got}");
}

#[test]
fn s4_20_models_are_named_by_the_usual_variables() {
    check("", &[("OPENAI_API_KEY", "k")], "openai/gpt-5-mini");
    check("", &[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m/x")], "openai/m/x");
    check("", &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("OPENAI_MODEL", "local")], "openai/local");
    check("", &[("ANTHROPIC_API_KEY", "k")], "anthropic/claude-sonnet-4-5");
    check("", &[("GEMINI_API_KEY", "k"), ("GEMINI_MODEL", "gemini-x")], "gemini/gemini-x");
    check("", &[("OLLAMA_MODEL", "qwen3")], "ollama/qwen3");
    check("", &[("OLLAMA_BASE_URL", "http://127.0.0.1:1"), ("OLLAMA_MODEL", "qwen3")], "ollama/qwen3");
    // The flag, then the variable, then whatever is set.
    check("ollama/a", &[("KITBAG_MODEL", "gemini/b"), ("GEMINI_API_KEY", "k")], "ollama/a");
    check("", &[("KITBAG_MODEL", "gemini/b"), ("GEMINI_API_KEY", "k"), ("OPENAI_API_KEY", "k")], "gemini/b");
    check("openai-responses/gpt-x", &[("OPENAI_API_KEY", "k")], "openai-responses/gpt-x");
    check("anthropic", &[("ANTHROPIC_API_KEY", "k")], "anthropic/claude-sonnet-4-5");
}

#[test]
fn what_is_missing_is_said_with_the_variable_to_set() {
    check("", &[], "set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY");
    check("", &[("OPENAI_API_KEY", " ")], "for a local one set OLLAMA_MODEL");
    check("", &[("OLLAMA_BASE_URL", "http://127.0.0.1:1")], "set OLLAMA_MODEL");
    check("", &[("OPENAI_BASE_URL", "http://127.0.0.1:1")], "set OPENAI_MODEL");
    check("gemini/x", &[], "needs a key: set GEMINI_API_KEY");
    check("antropic/x", &[], "did you mean anthropic/x?");
    check("gpt-5", &[], "write <provider>/<name>");
    check(
        "openai/x",
        &[("OPENAI_BASE_URL", "ftp://user:pw@h"), ("OPENAI_API_KEY", "k")],
        "correct OPENAI_BASE_URL",
    );
}

#[test]
fn nothing_of_a_model_prints_its_key() {
    let vars = [
        ("OPENAI_API_KEY", "sk-geheim-1234567890"),
        ("OPENAI_BASE_URL", "http://u:pw9876543210@127.0.0.1:1/v1?api_key=geheim2-12345"),
    ];
    let choice = ModelChoice { flag: Some("openai/m".into()), agent: None };
    let model = choose(&choice, &env(&vars), &Limits::default()).unwrap();
    let shown = format!("{model:?} {}", model.host());
    for secret in ["geheim", "pw9876543210"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
