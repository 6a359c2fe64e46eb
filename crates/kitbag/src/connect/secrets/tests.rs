use kitbag_core::text::MASK;

use super::*;

#[track_caller]
fn shows(secrets: Vec<Secret>, text: &str, want: &str) {
    assert_eq!(Redactor::new(&secrets).mask(text), want, "{text}");
}

#[test]
fn f71_what_is_secret_of_a_variable() {
    let check = |name: &str, value: &str, text: &str, want: &str| shows(of_variable(name, value), text, want);
    check("API_KEY", "swordfish", "no swordfish", "no ***");
    check("MODE", "swordfish", "no swordfish", "no swordfish");
    check("MODE", "ghp_0123456789abcdef", "no ghp_0123456789abcdef", "no ***");
    // A password in an address, also as it is behind the percent signs; the address itself stays.
    check(
        "DATABASE_URL",
        "postgres://ada:p%40ssword@db/x",
        "at db as ada with p@ssword",
        "at db as ada with ***",
    );
    check(
        "AUTH_URL",
        "https://auth.example.com/v1",
        "at https://auth.example.com/v1",
        "at https://auth.example.com/v1",
    );
    check("TOKEN_FILE", "/run/secrets/token-1", "no /run/secrets/token-1", "no /run/secrets/token-1");
    // A file of credentials, of which only some are secret.
    let json = r#"{"type": "service_account", "private_key": "-----BEGIN KEY-----\nabcdefghijklmnop\n", "uri": "https://x.example.com/token"}"#;
    check(
        "CREDENTIALS",
        json,
        "service_account https://x.example.com/token abcdefghijklmnop",
        "service_account https://x.example.com/token ***",
    );
    check("CONNECTION", "Host=db;Password=swordfish", "swordfish", MASK);
}

#[test]
fn f71_what_is_secret_of_a_header() {
    let check = |name: &str, value: &str, text: &str, want: &str| shows(of_header(name, value), text, want);
    check("Authorization", "Bearer swordfish", "Bearer swordfish and swordfish", "*** and ***");
    check("Authorization", "Basic YWRhOnN3b3JkZmlzaA==", "swordfish", MASK);
    check("X-Any", "swordfish", "swordfish", MASK);
    check("Accept", "application/json", "application/json", "application/json");
}

#[test]
fn f71_what_came_from_a_reference_to_a_secret() {
    let written = Template::new(
        "a-${GITHUB_TOKEN}-${MODE}",
        vec![
            Piece::Text("a-".into()),
            Piece::Var { name: "GITHUB_TOKEN".into(), default: None },
            Piece::Text("-".into()),
            Piece::Var { name: "MODE".into(), default: None },
        ],
    );
    shows(referred(&written, "a-swordfish-ordinary"), "swordfish ordinary", "*** ordinary");
}
