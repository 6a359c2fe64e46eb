use super::*;

#[test]
fn near_misses() {
    let keys = ["command", "args", "env", "url", "headers", "mcpServers", "timeout"];
    let check = |word: &str, want: Option<&str>| assert_eq!(nearest(word, keys), want, "{word}");
    check("comand", Some("command"));
    check("Command", Some("command"));
    check("arg", Some("args"));
    check("headres", Some("headers"));
    check("mcpServer", Some("mcpServers"));
    check("mcp_servers", Some("mcpServers"));
    check("description", None);
    check("uri", Some("url"));
    check("x", None);
    check("command", None);
}

#[test]
fn secrets_by_name() {
    for name in [
        "GITHUB_TOKEN",
        "api_key",
        "X-Api-Key",
        "Authorization",
        "OPENAI_API_KEY",
        "db-password",
        "key",
        "AWS_SECRET_ACCESS_KEY",
    ] {
        assert!(names_secret(name), "{name}");
    }
    for name in ["PATH", "DEBUG", "keyboard", "monkey", "region", "LOG_LEVEL"] {
        assert!(!names_secret(name), "{name}");
    }
}

#[test]
fn secrets_by_look() {
    for text in [
        "sk-abcdefghijkl",
        "ghp_abcdefghijkl",
        "Bearer ghp_abcdefghijkl",
        "a8f5f167f44f4964e6c998dee827110c",
        "eyJhbGciOiJIUzI1NiJ9.e30.x",
    ] {
        assert!(looks_secret(text), "{text}");
    }
    for text in [
        "--allow-write",
        "/home/ada/documents",
        "@modelcontextprotocol/server-filesystem",
        "npx",
        "sk-x",
        "internationalization",
    ] {
        assert!(!looks_secret(text), "{text}");
    }
}

#[test]
fn urls_lose_their_secrets() {
    let check = |text: &str, want: &str| assert_eq!(redact_url(text), want);
    check("https://ada:pw@x.org/mcp?api_key=1&page=2#frag", "https://***@x.org/mcp?api_key=***&page=2#***");
    check("https://x.org/mcp", "https://x.org/mcp");
    check("https://x.org/s/a8f5f167f44f4964e6c998dee827110c/mcp", "https://x.org/s/***/mcp");
    check("x.org/mcp", "x.org/mcp");
    check("ada:pw@x.org", "***@x.org");
    check("https://ada:pw", "https://ada:***");
    check("http://x.org:8080/mcp", "http://x.org:8080/mcp");
    check("http://[::1]:8080/mcp", "http://[::1]:8080/mcp");
}

#[test]
fn source_lines_keep_structure_and_lose_values() {
    let check = |text: &str, want: &str| assert_eq!(redact_line(text), want);
    check(r#"  "command": "npx" "args": ["-y", "package"],"#, r#"  "command": "npx" "args": ["-y", "***"],"#);
    check(r#"  "GITHUB_TOKEN": "ghp_123456789","#, r#"  "GITHUB_TOKEN": "***","#);
    check("  GITHUB_TOKEN: ghp_123456789", "  GITHUB_TOKEN: ***");
    check("timeout = 60000", "timeout = 60000");
    check(r#""url": "https://x/?k=v"#, r#""url": "***"#);
    check("password: abc", "password: ***");
    check("token = 'abc def'", "token = '***'");
}

#[test]
fn hidden_characters_become_visible() {
    assert_eq!(visible("a\u{1b}[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    assert_eq!(visible("plain ünïcode"), "plain ünïcode");
}
