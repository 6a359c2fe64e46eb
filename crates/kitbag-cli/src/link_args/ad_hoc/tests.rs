use super::*;

fn named(text: &str) -> Option<String> {
    let env = Env::new(std::iter::empty(), "/");
    spec(text, &env, &[]).ok()?.map(|spec| spec.name.to_string())
}

#[test]
fn f65_servers_are_named_after_what_they_are() {
    for (text, expected) in [
        ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
        ("npx -y @acme/mcp@1.2.3 --port 3", "mcp"),
        ("uvx mcp-server-time==1.0", "mcp-server-time"),
        ("docker run -i --rm host:5000/mcp/time:latest", "time"),
        ("/opt/a/my-server.sh --flag", "my-server"),
        ("node server.js", "node"),
        ("https://me:secret@mcp.example.com:8443/mcp?x=1", "mcp.example.com"),
        ("HTTP://127.0.0.1/mcp", "127.0.0.1"),
        ("./local", "server"),
        ("https:///mcp", "server"),
    ] {
        assert_eq!(named(text).as_deref(), Some(expected), "{text}");
    }
    // A name with a slip in it starts nothing.
    assert_eq!(named("githbu"), None);
    assert_eq!(named("npx 'a"), None);
}

#[test]
fn f65_two_of_the_same_name_are_told_apart() {
    let taken = [ServerName::parse("a").unwrap(), ServerName::parse("a-2").unwrap()];
    assert_eq!(name("a", &taken).unwrap().as_str(), "a-3");
}
