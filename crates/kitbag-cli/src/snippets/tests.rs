use super::*;

fn name() -> ServerName {
    ServerName::parse("kitbag").unwrap()
}

fn snippets(reach: &EndpointReach) -> Vec<HostSnippet> {
    let env = Env::new([("HOME".into(), "/nowhere".into())], "/nowhere");
    all(&env, &name(), reach)
}

const URL: &str = "http://127.0.0.1:8420/mcp";

#[test]
fn s2_24_every_program_is_told_by_its_command_or_its_file() {
    let reach = EndpointReach::Address(URL.to_owned());
    for snippet in snippets(&reach) {
        assert!(!snippet.is_here, "{}", snippet.title);
        let told = snippet.command.as_ref().unwrap_or(&snippet.text);
        // One that starts programs only gets a process instead.
        let says = told.contains(URL) || told.contains("\"stdio\"");
        assert!(says, "{}: {told}", snippet.title);
        assert!(snippet.file.starts_with("/nowhere"), "{}", snippet.file.display());
    }
    let commands: Vec<String> = snippets(&reach).into_iter().filter_map(|snippet| snippet.command).collect();
    assert!(commands.contains(&format!("claude mcp add -s user -t http kitbag {URL}")), "{commands:?}");
    assert!(commands.contains(&format!("codex mcp add kitbag --url {URL}")), "{commands:?}");
    assert_eq!(
        generic(&name(), &reach),
        format!(r#"{{"mcpServers":{{"kitbag":{{"type":"http","url":"{URL}"}}}}}}"#)
    );
}

#[test]
fn s2_24_a_token_is_taken_from_a_variable_and_never_written() {
    let reach = EndpointReach::AddressWithToken { url: URL.to_owned(), variable: TOKEN.to_owned() };
    for snippet in snippets(&reach) {
        let told = snippet.command.as_ref().unwrap_or(&snippet.text);
        assert!(told.contains(TOKEN) || told.contains("\"stdio\""), "{}: {told}", snippet.title);
    }
}

#[test]
fn s2_24_what_goes_into_a_file_reads_back_as_the_endpoint() {
    use kitbag::spec::ServerTarget;
    use kitbag_core::config::{Dialect, Reading, read};
    use kitbag_core::model::Defaults;
    let reach = EndpointReach::Address(URL.to_owned());
    for snippet in snippets(&reach) {
        let dialect = snippet.id.or(Some("goose")).and_then(Dialect::by_id);
        let limits = kitbag::Limits::default();
        let document =
            read(&snippet.file, &snippet.text, Reading { dialect, workspace: None, limits: &limits });
        let servers: Vec<_> = document.servers.iter().filter_map(|loaded| loaded.spec.as_ref()).collect();
        assert_eq!(servers.len(), 1, "{}: {}", snippet.title, snippet.text);
        match &servers[0].link {
            ServerTarget::Remote(endpoint) => {
                assert_eq!(endpoint.url.shown_as_url(Defaults::Masked), URL, "{}", snippet.title);
            }
            // Its file knows programs only.
            link => assert!(
                matches!(link, ServerTarget::Stdio(_)) && snippet.title == "Claude Desktop",
                "{}",
                snippet.title
            ),
        }
    }
}

#[test]
fn long_commands_are_folded_where_a_shell_puts_them_together_again() {
    let long =
        r#"code --add-mcp '{"name": "kitbag", "type": "http"}' -x "Authorization: Bearer $KITBAG_TOKEN""#;
    assert_eq!(folded(long, 200), long);
    let text = folded(long, 50);
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            r"code --add-mcp \",
            r#"  '{"name": "kitbag", "type": "http"}' -x \"#,
            r#"  "Authorization: Bearer $KITBAG_TOKEN""#
        ]
    );
    assert_eq!(spread("{\"a\":1}", 5), "{\n  \"a\": 1\n}");
    assert_eq!(spread("{\"a\":1}", 50), "{\"a\":1}");
}
