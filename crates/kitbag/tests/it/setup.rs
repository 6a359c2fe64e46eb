//! Everything put together, as a library caller asks for it.

use kitbag::{DiscoverOptions, Setup, SetupError};

use crate::{House, states, user};

#[test]
fn s2_5_layers_in_their_order() {
    let house = House::new();
    let server = |command: &str| format!(r#"{{"mcpServers": {{"x": {{"command": "{command}"}}}}}}"#);
    let used = |request: &DiscoverOptions| {
        Setup::discover(request).unwrap().used().next().unwrap().origin.place.file.to_path_buf()
    };
    let host = house.put("home/.cursor/mcp.json", server("host"));
    let mut request = DiscoverOptions { hosts: vec!["cursor".into()], ..house.request() };
    assert_eq!(used(&request), host);
    let shared = house.put("kit/config/mcp.json", server("shared"));
    assert_eq!(used(&request), shared);
    house.put("project/.mcp.json", server("project"));
    assert_eq!(used(&request), shared, "held");
    let own = house.put("kit/config/servers/user_ada/x.json", r#"{"name": "x", "command": "ada"}"#);
    request.user = Some(user("ada"));
    assert_eq!(used(&request), own);
    let flag = house.put("flag.json", server("flag"));
    request.configs = vec![flag.clone()];
    request.user = None;
    assert_eq!(used(&request), flag);
}

#[test]
fn s4_16_equal_servers_are_one_with_several_origins() {
    let house = House::new();
    let text = r#"{"mcpServers": {"x": {"command": "x", "args": ["a"]}}}"#;
    house.put("kit/config/mcp.json", text);
    house.put("home/.cursor/mcp.json", text);
    house.put("home/.gemini/settings.json", text);
    let setup = house.setup();
    assert_eq!(states(&setup), "x=used");
    assert_eq!(setup.merged.servers[0].also.len(), 2);
}

#[test]
fn what_cannot_be_looked_at_is_an_error_with_a_name() {
    let house = House::new();
    let missing =
        Setup::discover(&DiscoverOptions { configs: vec!["nowhere.json".into()], ..house.request() })
            .unwrap_err();
    assert!(matches!(&missing, SetupError::NoSuchFile(file) if file.ends_with("nowhere.json")), "{missing}");
    let unknown =
        Setup::discover(&DiscoverOptions { hosts: vec!["curser".into()], ..house.request() }).unwrap_err();
    assert_eq!(unknown.to_string(), "unknown program \"curser\"; did you mean cursor?");
    let nobody =
        Setup::discover(&DiscoverOptions { user: Some(user("eve")), ..house.request() }).unwrap_err();
    assert!(
        matches!(&nobody, SetupError::UnknownUser { folder, .. } if folder.ends_with("servers/user_eve")),
        "{nobody}"
    );
}

#[test]
fn s4_16_nothing_of_a_setup_prints_a_secret() {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"x": {"url": "https://u:PLANTED@h/mcp?token=PLANTED", "headers": {"K": "PLANTED"}}, "y": {"command": "PLANTED-no", "args": ["--token", "PLANTED"], "env": {"K": "PLANTED"}}}}"#.replace("PLANTED-no", "y"));
    house.put("project/.env", "KEY=PLANTED\n");
    let env = house
        .env()
        .with("MCP_URL", "https://one.example.com")
        .with("MCP_TOKEN", "PLANTED")
        .with("MCP_HEADERS", "X-Key: PLANTED");
    let setup = Setup::discover(&DiscoverOptions { env, ..DiscoverOptions::default() }).unwrap();
    assert_eq!(setup.used().count(), 3);
    let printed = format!("{setup:?} {:?} {:?}", setup.merged, setup.env());
    assert!(!printed.contains("PLANTED"), "{printed}");
}
