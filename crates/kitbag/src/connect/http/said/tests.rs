use super::*;

#[track_caller]
fn check(challenge: &str, body: &str, said: &str) {
    assert_eq!(explanation(challenge, body.as_bytes(), &Redactor::default()), said);
}

#[test]
fn f59_a_refusal_is_told_in_its_own_words() {
    let full = r#"Bearer realm="x", error="invalid_token", error_description="No token was provided""#;
    check(full, "", "No token was provided; invalid_token");
    // The body says the same once more.
    check(full, r#"{"error": "invalid_token"}"#, "No token was provided; invalid_token");
    check("Bearer error=insufficient_scope, scope=\"tools:call\"", "", "insufficient_scope; tools:call");
    check("Bearer realm=\"x\"", r#"{"error": "unauthorized"}"#, "unauthorized");
    check("", r#"{"error": {"code": 7, "message": "not\nyet"}}"#, "not yet");
    check("", r#"{"code": 7}"#, r#"{"code": 7}"#);
    check("", "<h1>Gone</h1> fishing", "Gone fishing");
    check("", "", "");
    // What looks like a credential is one.
    check("", r#"{"message": "bad token sk-0123456789abcdef"}"#, "bad token ***");
}
