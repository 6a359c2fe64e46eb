use super::*;

#[test]
fn f59_line_ends_in_messages_are_blanks() {
    assert_eq!(one_line("no:\r\n\tnot\nyet\u{1b}[m\r"), "no:  not yet\\u{1b}[m ");
}

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
    assert_eq!(all_nearest("db-3", ["db-1", "other", "db-2", "db-34"]), ["db-1", "db-2", "db-34"]);
    assert_eq!(all_nearest("servres", ["server", "servers", "serves"]), ["servers", "serves"]);
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
        "X-Auth",
        "basicAuth",
        "author_auth",
    ] {
        assert!(names_secret(name), "{name}");
    }
    for name in ["PATH", "DEBUG", "keyboard", "monkey", "region", "LOG_LEVEL", "author", "Unauthorized"] {
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
    check("https://ada:pw@x.org/mcp?api_key=1&page=2#frag", "https://***@x.org/mcp?api_key=***&page=2#frag");
    check("https://x.org/mcp", "https://x.org/mcp");
    check("https://x.org/s/a8f5f167f44f4964e6c998dee827110c/mcp", "https://x.org/s/***/mcp");
    check("https://x.org/page#section-2", "https://x.org/page#section-2");
    check("https://x.org/cb#access_token=abc&state=1", "https://x.org/cb#access_token=***&state=1");
    check("https://x.org/cb#ghp_abcdefghijkl", "https://x.org/cb#***");
    check("x.org/mcp", "x.org/mcp");
    check("ada:pw@x.org", "***@x.org");
    check("https://ada:pw", "https://ada:***");
    check("http://x.org:8080/mcp", "http://x.org:8080/mcp");
    check("http://[::1]:8080/mcp", "http://[::1]:8080/mcp");
}

#[test]
fn f21_source_lines_keep_structure_and_what_is_no_secret() {
    let check = |text: &str, want: &str| assert_eq!(redact_line(text), want, "{text}");
    let same = |text: &str| check(text, text);
    same(r#"  "command": "npx" "args": ["-y", "package"],"#);
    check(r#"  "GITHUB_TOKEN": "ghp_123456789","#, r#"  "GITHUB_TOKEN": "***","#);
    check("  GITHUB_TOKEN: ghp_123456789", "  GITHUB_TOKEN: ***");
    same("timeout = 60000");
    same("timeout = \"ten seconds\"");
    same(r#""url": "https://x/?k=v"#);
    check(r#""url": "https://ada:pw@x/?token=v&k=v#part""#, r#""url": "https://***@x/?token=***&k=v#part""#);
    check("password: abc", "password: ***");
    check("token = 'abc def'", "token = '***'");
    check("pasword_x = 'swordfish'", "pasword_x = 'swordfish'");
    // The mistake itself.
    same("names = \"fulll\"");
    same("include = [\"get_*\", \"list_*\"]");
    same("[mcp_servers.good-neighbour]");
    same("[[mcp_servers]]");
    same("url: ws://board.example.com/mcp");
    same("initTimeout: ten seconds");
    same(r#"{ "url": "localhost:8080" }"#);
    check("args: -y pkg --token abcdef", "args: -y pkg --token ***");
    check(r#"args = "-y pkg --api-key=abcdef""#, r#"args = "-y pkg --api-key=***""#);
    // Variables and headers, whatever they are called.
    check(
        r#""env": {"mode": "abc-DEF-1", "PORT": 8080}, "type": "stdio""#,
        r#""env": {"mode": "***", "PORT": ***}, "type": "stdio""#,
    );
    check(r#""env": ["MAIL_PASSWORD=abc"]"#, r#""env": ["MAIL_PASSWORD=***"]"#);
    check(r#""headers": ["X-Key: abc"]"#, r#""headers": ["X-Key: ***"]"#);
    check(
        r#""headers": {"Authorization": "Bearer ${TOKEN}", "X-A": "b"}"#,
        r#""headers": {"Authorization": "Bearer ${TOKEN}", "X-A": "***"}"#,
    );
    check(r#""auth": {"type": "barer", "token": "x"}"#, r#""auth": {"type": "barer", "token": "***"}"#);
    check("api_key_env = \"wk-SECRET-65\"", "api_key_env = \"***\"");
    same("api_key_env = \"WIKI_KEY\"");
    // A command line where a file was expected.
    same("claude mcp add time -- uvx mcp-server-time");
    check(
        "claude mcp add gh --env GITHUB_TOKEN=abc --token swordfish XyZ123 -- npx",
        "claude mcp add gh --env GITHUB_TOKEN=*** --token *** *** -- npx",
    );
    check("curl --header Authorization: Bearer swordfish", "curl --header Authorization: ***");
    // A key nobody knows may hold anything.
    check("requierd = \"ABC-1234-XYZ\"", "requierd = \"***\"");
    same("\"not-an-object\": \"just a text\"");
    check(r#"{ "Authorization": Bearer abc" }"#, r#"{ "Authorization": *** }"#);
}

#[test]
fn f21_a_line_is_read_with_those_before_it() {
    let check = |before: &str, text: &str, want: &str| {
        assert_eq!(redact_line_in(before, text, 0, Grammar::Kept).0, want, "{before}{text}");
    };
    check("\"env\": {\n", "  \"mode\": \"plain words\"", "  \"mode\": \"***\"");
    check("\"env\": {\n  \"a\": \"b\"\n},\n", "  \"mode\": \"plain words\"", "  \"mode\": \"plain words\"");
    check("\"args\": [\n  \"--token\",\n", "  \"swordfish\"", "  \"***\"");
    check("\"args\": [\n  \"-y\",\n", "  \"Server-42-pkg\"", "  \"Server-42-pkg\"");
    check("x:\n  env:\n    A: b\n", "    mode: plain words", "    mode: ***");
    check("x:\n  env:\n    A: b\n", "  mode: plain words", "  mode: plain words");
    check("x:\n  args:\n  - a\n", "  - Server-42-pkg", "  - Server-42-pkg");
    check("x:\n  envs:\n", "    - NAME=value", "    - NAME=***");
    check("x:\n  env:\n    KEY: |\n", "      MIIEvQIBADANBgkqhkiG9w0BAQ", "      ***");
    check("[servers.x.env]\n", "mode = \"plain words\"", "mode = \"***\"");
    check("[servers.x.env]\na = 1\n[servers.y]\n", "mode = \"plain words\"", "mode = \"plain words\"");
    let (shown, at) = redact_line_in("", "\"TOKEN_A\": \"abcdef\" \"b\": 1", 20, Grammar::Kept);
    assert_eq!(&shown[at..], "\"b\": 1");
}

#[test]
fn f21_prose_about_secrets_stays() {
    let check = |text: &str, want: &str| assert_eq!(redact_log(text), want, "{text}");
    check("answered 401 Unauthorized: invalid_token", "answered 401 Unauthorized: invalid_token");
    let same = |text: &str| check(text, text);
    same("no token: run claude mcp add first");
    same("bearer token is missing, see basic usage");
    same("max_tokens=4096 tokens: 12 auth=none token=missing");
    same("see https://x.org/docs#auth and http://localhost:8080/mcp?page=2");
    check("token: abc123", "token: ***");
    check("password: swordfish", "password: ***");
    check("Authorization: Bearer swordfish", "Authorization: Bearer ***");
    check("sent Bearer abc.DEF", "sent Bearer ***");
    check("password=hunter2, retrying", "password=***, retrying");
    check(r#"{"token":"abc","names":"full"}"#, r#"{"token":"***","names":"full"}"#);
    check(r#"{"a":"b","token":"abc","c":"d"}"#, r#"{"a":"b","token":"***","c":"d"}"#);
    check("postgres://ada:pw@db/x refused", "postgres://***@db/x refused");
    check("at http://x/mcp?api_key=abc&v=1", "at http://x/mcp?api_key=***&v=1");
    check(r#"{"url":"http://u:pw@x","token":"abc","b":1}"#, r#"{"url":"http://***@x","token":"***","b":1}"#);
}

#[test]
fn hidden_characters_become_visible() {
    assert_eq!(visible("a\u{1b}[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    assert_eq!(visible("plain ünïcode"), "plain ünïcode");
}

/// Unicode 16: the general categories Cf, Zl, Zp and Co, the property Default_Ignorable_Code_Point, and the
/// noncharacters. Written down here once more, apart from the code, so that both would have to be wrong.
const UNSEEN: &[(u32, u32)] = &[
    // Cf
    (0xad, 0xad),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x2064),
    (0x2066, 0x206f),
    (0xfeff, 0xfeff),
    (0xfff9, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0001, 0xe0001),
    (0xe0020, 0xe007f),
    // Zl, Zp
    (0x2028, 0x2029),
    // Default_Ignorable_Code_Point beyond those
    (0x34f, 0x34f),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2065, 0x2065),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfff8),
    (0xe0000, 0xe0fff),
    // Co
    (0xe000, 0xf8ff),
    (0xf0000, 0xffffd),
    (0x100000, 0x10fffd),
    // Noncharacters within planes
    (0xfdd0, 0xfdef),
];

#[test]
fn t20_all_of_unicode() {
    for c in (0..=0x10_ffff).filter_map(char::from_u32) {
        let code = c as u32;
        let unseen =
            UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&code)) || 0xfffe <= code & 0xffff;
        assert_eq!(is_hidden(c), unseen, "U+{code:04X}");
        let text = format!("a{c}b");
        let want = match c {
            '\r' => "a\nb".to_owned(),
            '\n' | '\t' => text.clone(),
            c if c.is_control() || unseen => "ab".to_owned(),
            _ => text.clone(),
        };
        assert_eq!(neutral(&text), want, "U+{code:04X}");
        let unseen = |c: char| c.is_control() || is_hidden(c);
        assert!(!visible(&text).chars().any(unseen), "U+{code:04X}");
    }
}

#[test]
fn t20_lines_end_alike() {
    let check = |text: &str, want: &str| assert_eq!(neutral(text), want, "{text:?}");
    check("a\r\nb\rc\n\r\nd\r", "a\nb\nc\n\nd\n");
    check("plain ünïcode 漢字 🙂", "plain ünïcode 漢字 🙂");
    check("\u{1b}]8;;http://x\u{7}link", "]8;;http://xlink");
    assert!(matches!(neutral("a\tb\n"), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn f39_times_are_written_as_before() {
    let check = |seconds: u64, text: &str| assert_eq!(rfc3339(seconds), text, "{seconds}");
    check(0, "1970-01-01T00:00:00Z");
    check(951_782_399, "2000-02-28T23:59:59Z");
    check(951_868_800, "2000-03-01T00:00:00Z");
    check(1_709_210_096, "2024-02-29T12:34:56Z");
    check(4_107_542_400, "2100-03-01T00:00:00Z");
    check(253_402_300_799, "9999-12-31T23:59:59Z");
    // Later ones cannot be written; a damaged file must not end the program.
    check(u64::MAX, "9999-12-31T23:59:59Z");
}
